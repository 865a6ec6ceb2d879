"""The end of a file that another process writes to: its last lines, each with where it begins."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from workbench.errors import StoreError
from workbench.store.disk import refusal


@dataclass(frozen=True, kw_only=True, slots=True)
class Tail:
    """The last lines of a file.

    Attributes:
        lines: Byte at which each begins, and its text; undecodable bytes replaced.
        left: Bytes before the first of them.
        changed: When the file was last written to, UTC.
    """

    lines: tuple[tuple[int, str], ...]
    left: int
    changed: datetime


def read_tail(path: Path, most: int) -> Tail:
    """Read the last lines of a plain file, without waiting for anything; blank ones are left out.

    What lies further back than `most` bytes is left out, and so is the rest of the line that it ends
    with, unless there is no other line.

    Raises:
        StoreError: It is no plain file, or cannot be read.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            found = os.fstat(fd)
            if not stat.S_ISREG(found.st_mode):
                raise StoreError(f"{path}: is no plain file")
            start = max(found.st_size - most, 0)
            data = _read(fd, start, found.st_size - start)
        finally:
            os.close(fd)
    except OSError as error:
        raise refusal(path, error) from error
    if start and b"\n" in data[:-1]:
        cut = data.index(b"\n") + 1
        start, data = start + cut, data[cut:]
    changed = datetime.fromtimestamp(found.st_mtime, UTC)
    return Tail(lines=tuple(_lines(data, start)), left=start, changed=changed)


def _read(fd: int, at: int, size: int) -> bytes:
    data = bytearray()
    while size > len(data) and (piece := os.pread(fd, size - len(data), at + len(data))):
        data += piece
    return bytes(data)


def _lines(data: bytes, at: int) -> list[tuple[int, str]]:
    found = []
    for line in data.split(b"\n"):
        if line.strip():
            found.append((at, line.decode("utf-8", "replace").rstrip("\r")))
        at += len(line) + 1
    return found
