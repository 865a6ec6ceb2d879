"""Real repositories for tests: whole histories by one `git fast-import`, and git as people use it.

Dates and names are fixed, so the ids of commits are the same at each run. What is configured for the
user or the machine is not seen, unless a test says so.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from workbench.vcs.repository import Repository

BEGINNING = 1_700_000_000  # seconds since 1970
NAME, MAIL = "Ana", "ana@example.org"
FILE, EXECUTABLE, SYMLINK, SUBMODULE = "100644", "100755", "120000", "160000"
_IDENTITY = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", NAME), ("EMAIL", MAIL), ("DATE", f"{BEGINNING} +0000"))
}


@dataclass(frozen=True)
class Content:
    """What a file of a commit is.

    Attributes:
        data: Its bytes; for a submodule, the id of the other repository's commit.
        mode: Its kind and permissions, as git writes them.
    """

    data: bytes
    mode: str = FILE


Files = Mapping[str, bytes | str | Content | None] | Mapping[bytes, bytes | str | Content | None]


@dataclass
class Entry:
    """A commit that is to be written."""

    message: bytes
    tree: dict[bytes, Content]
    changed: dict[bytes, Content | None]
    parents: tuple[int, ...]
    branch: str
    at: int
    encoding: str = ""
    author: bytes = NAME.encode()


@dataclass
class Story:
    """A history as it is told: commits by their numbers, each with all its files."""

    entries: list[Entry] = field(default_factory=list)

    def commit(
        self,
        message: str | bytes,
        files: Files | None = None,
        *,
        parents: Sequence[int] | None = None,
        branch: str = "main",
        at: int | None = None,
        encoding: str = "",
        author: bytes = NAME.encode(),
    ) -> int:
        """Add a commit on top of the last one, or of others, and give its number.

        Files that are not given stay as they are in the first parent; None takes one away.
        """
        number = len(self.entries)
        if parents is None:
            parents = [number - 1] if number else []
        changed = {_name(path): _content(content) for path, content in (files or {}).items()}
        tree = dict(self.entries[parents[0]].tree) if parents else {}
        for path, content in changed.items():
            if content is None:
                del tree[path]
            else:
                tree[path] = content
        self.entries.append(
            Entry(
                message=message.encode() if isinstance(message, str) else message,
                tree=tree,
                changed=changed,
                parents=tuple(parents),
                branch=branch,
                at=BEGINNING + 60 * number if at is None else at,
                encoding=encoding,
                author=author,
            )
        )
        return number

    def text(self, path: str, at: int = -1) -> str:
        """Give the text of a file in a commit."""
        return self.entries[at].tree[_name(path)].data.decode()

    def write(self, folder: Path, *, bare: bool = True) -> Made:
        """Write it as a repository, with its branches at their last commits."""
        folder.mkdir(parents=True, exist_ok=True)
        git(folder, "init", "-q", "-b", "main", *(["--bare"] if bare else []))
        marks = folder / "marks"
        git(folder, "fast-import", "--quiet", f"--export-marks={marks}", input=b"".join(self._stream()))
        shas = dict(line.split(" ") for line in marks.read_text().splitlines())
        marks.unlink()
        made = Made(folder, [shas[f":{number + 1}"] for number in range(len(self.entries))])
        if not bare:
            git(folder, "reset", "-q", "--hard")
        return made

    def _stream(self) -> list[bytes]:
        parts: list[bytes] = []
        for number, entry in enumerate(self.entries):
            who = entry.author + f" <{MAIL}> {entry.at} +0000\n".encode()
            parts += [f"commit refs/heads/{entry.branch}\nmark :{number + 1}\n".encode()]
            parts += [b"author ", who, b"committer ", who]
            if entry.encoding:
                parts += [f"encoding {entry.encoding}\n".encode()]
            parts += [_data(entry.message)]
            for verb, parent in zip(
                ("from", *["merge"] * len(entry.parents)), entry.parents, strict=False
            ):
                parts += [f"{verb} :{parent + 1}\n".encode()]
            if not entry.parents:  # else a root would go on from the branch's last commit
                parts += [b"from 0000000000000000000000000000000000000000\n"] if number else []
            for path, content in entry.changed.items():
                if content is None:
                    parts += [b"D ", _quoted(path), b"\n"]
                elif content.mode == SUBMODULE:
                    parts += [b"M 160000 ", content.data, b" ", _quoted(path), b"\n"]
                else:
                    parts += [f"M {content.mode} inline ".encode(), _quoted(path), b"\n"]
                    parts += [_data(content.data)]
        return parts


@dataclass(frozen=True)
class Made:
    """A repository that was written.

    Attributes:
        folder: Where it is.
        shas: Ids of its commits, by their numbers.
    """

    folder: Path
    shas: Sequence[str]

    def __getitem__(self, number: int) -> str:
        return self.shas[number]

    def number(self, sha: str) -> int:
        """Give the number of a commit."""
        return self.shas.index(sha)

    @property
    def repository(self) -> Repository:
        """It, as the workbench sees it."""
        return Repository(self.folder)

    def git(self, *arguments: str, input: bytes = b"") -> str:
        """Run git there, as a person would."""
        return git(self.folder, *arguments, input=input)


def git(folder: Path, *arguments: str, input: bytes = b"") -> str:
    """Run git in a folder, and give what it prints."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    nobody = {
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ALLOW_PROTOCOL": "file",
    }
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env={**kept, **nobody, **_IDENTITY},
        input=input,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def sentences(topic: str, count: int, first: int = 1) -> list[str]:
    """Give lines that nobody else would write, numbered."""
    return [f"the {topic} of step {number} is measured twice" for number in range(first, first + count)]


def joined(lines: Sequence[str]) -> str:
    """Give a text of lines."""
    return "".join(f"{line}\n" for line in lines)


def _name(path: bytes | str) -> bytes:
    return path.encode("utf-8", "surrogateescape") if isinstance(path, str) else path


def _content(content: bytes | str | Content | None) -> Content | None:
    if isinstance(content, str):
        return Content(content.encode())
    return Content(content) if isinstance(content, bytes) else content


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def _quoted(path: bytes) -> bytes:
    return b'"%s"' % re.sub(rb'["\\\n]', lambda found: b"\\%03o" % found[0][0], path)
