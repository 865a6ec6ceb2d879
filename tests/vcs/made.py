"""Repositories of a few commits, made by real git for one test each; the user's own git has no say."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from workbench.vcs.index import Index
from workbench.vcs.repository import Repository
from workbench.vcs.reverts import Reverts

Content = str | bytes | None
_FIRST = 1_700_000_000


def lines(*names: str) -> str:
    """Give a file of some lines."""
    return "".join(f"{name}\n" for name in names)


def numbered(count: int, **changed: str) -> str:
    """Give lines that all differ; `l7="x"` makes the seventh another one, and "" leaves it out."""
    found = (changed.get(f"l{n}", f"line number {n} of the file") for n in range(1, count + 1))
    return lines(*(line for line in found if line))


class Made:
    """A repository with a work tree.

    Args:
        folder: Where; made if it is not there.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._clock = _FIRST
        if not (folder / ".git").exists():
            folder.mkdir(parents=True, exist_ok=True)
            self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str, input: str | bytes = b"", check: bool = True) -> str:
        """Run git and give what it prints."""
        self._clock += 60
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        moment = f"{self._clock} +0000"
        done = subprocess.run(
            [
                *("git", "-c", "user.name=ana", "-c", "user.email=ana@example.org"),
                *("-c", "protocol.file.allow=always", "-c", "commit.gpgSign=false", *arguments),
            ],
            cwd=self.folder,
            env={
                **kept,
                "GIT_CONFIG_GLOBAL": "/dev/null",
                "GIT_CONFIG_SYSTEM": "/dev/null",
                "GIT_AUTHOR_DATE": moment,
                "GIT_COMMITTER_DATE": moment,
            },
            input=input.encode() if isinstance(input, str) else input,
            capture_output=True,
            check=False,
        )
        assert not check or done.returncode == 0, done.stderr.decode(errors="replace")
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def write(self, files: Mapping[str, Content]) -> None:
        """Write files; None deletes one."""
        for name, content in files.items():
            path = self.folder / name
            if content is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    def commit(self, message: str = "change", files: Mapping[str, Content] | None = None) -> str:
        """Commit all that is in the work tree, some files written first; give its id."""
        self.write(files or {})
        self.git("add", "-A")
        return self.staged(message)

    def staged(self, message: str) -> str:
        """Commit what is staged; give its id."""
        self.git("commit", "-q", "--allow-empty", "--allow-empty-message", "-F", "-", input=message)
        return self.head

    @property
    def head(self) -> str:
        """Id of what is checked out."""
        return self.git("rev-parse", "HEAD")

    def revert(self, sha: str, message: str) -> str:
        """Take back one commit's diff, whatever came after it, under a message of one's own."""
        self.git("revert", "--no-commit", sha)
        return self.staged(message)

    def open(self) -> Repository:
        """Open it as the workbench does."""
        return Repository(self.folder)


def reverts_of(repository: Repository, cache: Path) -> Reverts:
    """Give what tells who took back what."""
    return Reverts(repository, Index.open(repository, cache))
