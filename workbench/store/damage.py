"""What could not be read of a run's files, by file and line: reported, never hidden, never fatal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class Damage:
    """Collects damage while files are read.

    Attributes:
        torn: File name to bytes of its torn last line; a killed writer leaves one at most.
        bad: File name and line number, from 1, to what is wrong with that line.
        files: File name to why the file as a whole, or a blob, could not be read.
        duplicates: Lines whose key an earlier line had; the first counts.
    """

    torn: dict[str, int] = field(default_factory=dict)
    bad: dict[tuple[str, int], str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    duplicates: int = 0

    def torn_tail(self, file: str, length: int) -> None:
        """Note a last line without its newline."""
        self.torn[file] = length

    def bad_line(self, file: str, line: int, why: str) -> None:
        """Note a line that is not what was written."""
        self.bad[file, line] = why

    def unreadable(self, file: str, why: str) -> None:
        """Note a file that cannot be read."""
        self.files[file] = why

    def __bool__(self) -> bool:
        return bool(self.torn or self.bad or self.files or self.duplicates)

    def __iter__(self) -> Iterator[str]:
        """Say it for people, one line each."""
        for file, why in sorted(self.files.items()):
            yield f"{file}: {why}"
        for (file, line), why in sorted(self.bad.items()):
            yield f"{file}:{line}: {why}; the line is left out"
        for file, length in sorted(self.torn.items()):
            yield f"{file}: the last line is torn ({length} bytes); it is left out"
        if self.duplicates:
            yield f"{self.duplicates} lines repeat the key of an earlier line; the first of each counts"
