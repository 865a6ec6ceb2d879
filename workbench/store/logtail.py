"""A log read as it grows: what was added since the last look, or all of it when it was replaced.

Appending to a long log and following it on a screen would otherwise read it whole each time. A file of
another inode, a shorter one, one whose last known bytes differ, or one that changed without growing is
read from its beginning: git puts a new file in the place of the old one when it merges.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from workbench.model.hypothesis import Problem
from workbench.store.disk import refusal
from workbench.store.eventorder import Chain
from workbench.store.jsonl import BadLine, unseal

_OVERLAP = 512  # bytes before what was read last that must be unchanged for the rest to be trusted


class LogTail:
    """What one log file holds, as far as it was read.

    Args:
        path: The file.
        file: Its path as a person would type it.

    Attributes:
        chain: Its whole lines.
        tail: What follows the last newline.
    """

    def __init__(self, path: Path, file: str) -> None:
        self._path = path
        self._file = file
        self.chain = Chain(file)
        self.tail = b""
        self._identity = (-1, -1)
        self._looked = (-1, -1)  # size and time of the file at the last look
        self._readings = 0  # times that it was read from its beginning
        self._offset = 0  # bytes of whole lines taken in
        self._lines = 0
        self._seen = b""  # the last of these bytes

    def catch_up(self) -> Problem | None:
        """Read what was added since the last time; say what keeps the file from being read."""
        try:
            fd = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            self._forget()
            return None
        except OSError as error:
            self._forget()
            return self._problem(refusal(self._path, error).what.removeprefix(f"{self._path}: "))
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                self._forget()
                return self._problem("is no plain file")
            self._read_on(fd)
        except OSError as error:
            self._forget()
            return self._problem(error.strerror or str(error))
        finally:
            os.close(fd)
        return None

    @property
    def state(self) -> object:
        """Equal as long as nothing was added, replaced or cut."""
        return self._readings, self._offset, self.tail, len(self.chain.events)

    @property
    def whole(self) -> bool:
        """Whether the tail lacks nothing but its newline."""
        try:
            unseal(self.tail)
        except BadLine:
            return False
        return True

    def take_tail(self) -> None:
        """Count a whole tail as the line that it is; seen again with its newline, it counts once."""
        self.chain.add(self._lines + 1, self.tail)

    def tail_problem(self, what: str, hint: str) -> Problem:
        """Say what is wrong with the tail."""
        return self._problem(f"{what} ({len(self.tail)} bytes)", hint)

    def _read_on(self, fd: int) -> None:
        found = os.fstat(fd)
        identity = (found.st_dev, found.st_ino)
        before = os.pread(fd, len(self._seen), self._offset - len(self._seen))
        looked = (found.st_size, found.st_mtime_ns)
        edited = (
            looked[0] == self._looked[0] and looked != self._looked
        )  # changed, and not by an append
        if identity != self._identity or looked[0] < self._offset or before != self._seen or edited:
            self._forget()
            self._identity = identity
        self._looked = looked
        data = _read_from(fd, self._offset)
        end = data.rfind(b"\n") + 1
        for line in data[:end].split(b"\n")[:-1]:
            self._lines += 1
            self.chain.add(self._lines, line)
        self._offset += end
        self._seen = (self._seen + data[max(0, end - _OVERLAP) : end])[-_OVERLAP:]
        self.tail = data[end:]

    def _forget(self) -> None:
        self.chain = Chain(self._file)
        self.tail = self._seen = b""
        self._identity = self._looked = (-1, -1)
        self._readings += 1
        self._offset = self._lines = 0

    def _problem(self, what: str, hint: str = "") -> Problem:
        return Problem(file=self._file, line=self._lines + 1, column=1, what=what, hint=hint)


def _read_from(fd: int, offset: int) -> bytes:
    chunks = []
    while chunk := os.pread(fd, 1 << 20, offset):
        chunks.append(chunk)
        offset += len(chunk)
    return b"".join(chunks)
