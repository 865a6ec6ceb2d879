"""Lines that were added between two states, each with its file and number: `git diff` read as it comes.

The parser counts lines by the heads of hunks, so no line of a file can pose as a head. Paths that git
quotes are unquoted, and may hold any byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from workbench.vcs.git import as_path, checked, is_binary
from workbench.vcs.repository import Repository

_DIFF = (
    *("--no-renames", "--no-color", "--no-relative", "-O/dev/null", "--ignore-submodules=all"),
    *("--src-prefix=a/", "--dst-prefix=b/", "--inter-hunk-context=0", "-U0"),
)
_HUNK = re.compile(rb"@@ -[0-9]+(?:,([0-9]+))? \+([0-9]+)(?:,([0-9]+))? @@")
_QUOTED = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPES = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_LONGEST = 4000  # bytes of a line that are looked at
_GREATEST = 1 << 20  # bytes of a file that git does not know and that is read


@dataclass(frozen=True, slots=True)
class Added:
    """A line that was added: its file, its number there from 1, and its bytes, cut if it is long."""

    path: str
    line: int
    text: bytes


def between(repository: Repository, since: str, at: str) -> Iterator[Added]:
    """Yield lines that were added from one commit or tree to another, as `at` numbers them.

    Raises:
        GitError: One is not there.
    """
    with repository.objects.reading(
        "diff-tree", "-r", "-p", *_DIFF, checked(since), checked(at), "--"
    ) as stream:
        yield from _parsed(stream)


def in_work_tree(repository: Repository, since: str) -> Iterator[Added]:
    """Yield lines that were added from a commit or tree to the work tree, untracked files included.

    Raises:
        GitError: It is not there.
    """
    with repository.git.reading("diff", *_DIFF, checked(since), "--") as stream:
        yield from _parsed(stream)
    for path in untracked(repository):
        yield from _whole(repository, path)


def untracked(repository: Repository) -> tuple[str, ...]:
    """Name the files that git neither knows nor ignores."""
    named = repository.git.fields("ls-files", "-z", "--others", "--exclude-standard", "--full-name")
    return tuple(map(as_path, named))


def _whole(repository: Repository, path: str) -> Iterator[Added]:
    """Yield all lines of a file, if it is one of text and no monster."""
    assert repository.top is not None
    file = repository.top / path
    try:
        if file.is_symlink() or not file.is_file() or file.stat().st_size > _GREATEST:
            return
        content = file.read_bytes()
    except OSError:  # it has gone, or is not ours to read
        return
    if is_binary(content):
        return
    for number, line in enumerate(content.split(b"\n"), 1):
        yield Added(path, number, line[:_LONGEST].rstrip(b"\r"))


def _parsed(stream: IO[bytes]) -> Iterator[Added]:
    path = ""
    removed = added = number = 0
    while line := stream.readline():
        if removed and line.startswith(b"-"):
            removed -= 1
        elif added and line.startswith(b"+"):
            yield Added(path, number, line[1 : _LONGEST + 1].rstrip(b"\r\n"))
            added, number = added - 1, number + 1
        elif head := _HUNK.match(line):
            removed, number, added = (int(each or b"1") for each in (head[1], head[2], head[3]))
        elif line.startswith(b"+++ "):
            path = _path(line[4:].rstrip(b"\n"))


def _path(shown: bytes) -> str:
    """Give the path that a head shows: `b/PATH`, perhaps in quotes, perhaps with a tab behind it."""
    if shown.startswith(b'"'):
        shown = _QUOTED.sub(_unescaped, shown.rstrip(b"\t")[1:-1])
    else:
        shown = shown.removesuffix(b"\t")
    return as_path(shown.removeprefix(b"b/"))


def _unescaped(found: re.Match[bytes]) -> bytes:
    escape = found[1]
    return bytes([int(escape, 8)]) if len(escape) == 3 else _ESCAPES.get(escape, escape)
