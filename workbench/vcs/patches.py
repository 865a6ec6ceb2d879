"""What `git diff-tree` prints of many commits, read as it comes; what it means is for `changes`.

For each commit: its id, then for each file what it was and is, ended with NUL, then the patches of
these files in the same order. Patches are read by the counts in the headers of their hunks, since a
line of a file may look like anything at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BufferedReader

MOST_LINES = 200_000  # of one file in one change; a change with more is no one's handiwork
MOST_BYTES = 16 << 20
_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


@dataclass(kw_only=True, slots=True)
class Patch:
    """One section of a patch, as git prints it."""

    removed: list[bytes] = field(default_factory=list)
    added: list[bytes] = field(default_factory=list)
    size: int = 0
    binary: bool = False

    def take(self, line: bytes) -> None:
        """Keep one line of a hunk, unless there are too many."""
        self.size += len(line)
        if self.too_large:
            return
        if line.startswith(b"-"):
            self.removed.append(line[1:].removesuffix(b"\n"))
        elif line.startswith(b"+"):
            self.added.append(line[1:].removesuffix(b"\n"))

    @property
    def too_large(self) -> bool:
        """Whether there was more than is kept."""
        return self.size > MOST_BYTES or len(self.removed) + len(self.added) > MOST_LINES


Record = tuple[str, list[bytes], list[Patch]]


def records(answer: BufferedReader) -> Iterator[Record]:
    """Give, for each commit that is printed: its id, what it does to which files, and its patches.

    What is cut short is left out: git says by its exit code that it was.
    """
    line = answer.readline()
    while line:
        while b"\0\0" not in line:  # paths may hold line ends
            if not (more := answer.readline()):
                return
            line += more
        head, _, line = line.partition(b"\0\0")
        sha, *entries = head.split(b"\0")
        patches: list[Patch] = []
        while line.startswith(b"diff --git "):
            patches.append(Patch())
            line = _section(answer, patches[-1])
        yield sha.decode("ascii"), entries, patches


def _section(answer: BufferedReader, patch: Patch) -> bytes:
    """Read one section of a patch, and give the line after it; empty at the end."""
    while line := answer.readline():
        if hunk := _HUNK.match(line):
            due = sum(1 if count is None else int(count) for count in hunk.groups())
            while due and (line := answer.readline()):
                due -= not line.startswith(b"\\")
                patch.take(line)
        elif line.startswith(b"Binary files "):
            patch.binary = True
        elif line.startswith(b"diff --git ") or b"\0" in line:
            return line
    return b""
