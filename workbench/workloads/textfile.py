"""A file of the user's, read whole: a plain one, not too large, and never waited for."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from workbench.errors import UsageError


def read_whole(path: Path, largest: int) -> bytes:
    """Read a file.

    Args:
        path: The file.
        largest: Most bytes that it may have.

    Raises:
        UsageError: It cannot be read, is no plain file, or is too large.
    """
    try:
        # without waiting: a pipe that nobody writes to must not stop a run
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise UsageError(f"{path}: is no plain file")
            data = bytearray()
            while len(data) <= largest and (piece := os.read(fd, largest + 1 - len(data))):
                data += piece
        finally:
            os.close(fd)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    if len(data) > largest:
        raise UsageError(f"{path}: is larger than {largest >> 20} MiB", hint="split it")
    return bytes(data)
