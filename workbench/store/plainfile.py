"""Files that people write, as bytes: plain ones, not too large, never waited for, safe to speak of."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from workbench.model.hypothesis import Problem

LARGEST = 1024 * 1024  # bytes of a file
_LONGEST = 400  # characters of what is told of a problem


def read_file(path: Path, file: str) -> bytes | Problem:
    """Read a plain file of at most 1 MiB; gives the problem where there is none such. Never raises."""
    try:
        # Without waiting: a pipe that nobody writes to must not stop the reading of a campaign.
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if path.is_symlink():
            return _whole(file, "is a symbolic link", "put the file itself here")
        return _whole(file, f"cannot be read: {error.strerror or error}", "")
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            kind = "a folder" if stat.S_ISDIR(found.st_mode) else "no plain file"
            return _whole(file, f"is {kind}", "a text file is due here")
        data = bytearray()
        while len(data) <= LARGEST and (piece := os.read(fd, LARGEST + 1 - len(data))):
            data += piece
    except OSError as error:
        return _whole(file, f"cannot be read: {error.strerror or error}", "")
    finally:
        os.close(fd)
    return bytes(data)


def _whole(file: str, what: str, hint: str) -> Problem:
    return Problem(file=file, line=1, column=1, what=what, hint=hint)


def printable(text: str) -> str:
    """Give a text for a problem: one line, no control characters, and not longer than anybody reads."""
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST - 3]}..."
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else f"\\x{ord(each):02x}" for each in text)
