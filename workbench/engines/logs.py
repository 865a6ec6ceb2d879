"""The end of a log: what a component said before it died, as it may be told to people."""

from __future__ import annotations

from pathlib import Path

from workbench.store.plainfile import printable

_LOOKED_AT = 8192  # bytes


def size(path: Path) -> int:
    """Give the size of a log in bytes; 0 where there is none yet."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def last_lines(path: Path, since: int, most: int) -> list[str]:
    """Give the last lines of a log that hold anything, without control characters.

    Args:
        path: The log; of one that cannot be read there are no lines.
        since: Byte at which to begin.
        most: Number of lines.
    """
    try:
        with path.open("rb") as file:
            file.seek(max(since, size(path) - _LOOKED_AT))
            data = file.read(_LOOKED_AT)
    except OSError:
        return []
    lines = (line.strip() for line in data.decode("utf-8", "replace").split("\n"))
    return [printable(line) for line in lines if line][-most:]
