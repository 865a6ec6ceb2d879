"""Texts too long for one line: files named by the sha256 of their content, written before the line.

A killed writer tears a line of 200 KB more often than not, so a text over 64 KiB stands in a file of
its own. Written first, it is there when a line names it; left without a line it harms nothing.
"""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from pathlib import Path

from workbench.store.atomic import replace_file
from workbench.store.disk import REAL_OS, Os, refusal, sync_folder

INLINE_BYTES = 64 * 1024
_DIGEST = re.compile(r"^[0-9a-f]{64}$")


def belongs_in_blob(text: str) -> bool:
    """Whether a text is over the limit; few are, so the size in characters is asked first."""
    if len(text) * 4 <= INLINE_BYTES:  # no character takes more than four bytes
        return False
    return len(text.encode("utf-8", "surrogatepass")) > INLINE_BYTES


def write_blob(folder: Path, text: str, *, disk: Os = REAL_OS) -> str:
    """Store a text under `folder` durably and give its digest.

    Raises:
        StorageFull: The disk refused.
    """
    data = text.encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(data).hexdigest()
    path = _path(folder, digest)
    if not path.exists():
        _make(path.parent.parent, disk)
        _make(path.parent, disk)
        replace_file(path, data, disk=disk)
    return digest


def read_blob(folder: Path, digest: str) -> str:
    """Read a text back.

    Raises:
        ValueError: The digest is not one, or the content is not what was written.
        OSError: The file cannot be read.
    """
    if not _DIGEST.match(digest):  # it comes from a file, and it becomes a path
        raise ValueError(f"{digest!r} is not a digest")
    data = _path(folder, digest).read_bytes()
    if hashlib.sha256(data).hexdigest() != digest:
        raise ValueError("the content is not what its name says")
    return data.decode("utf-8", "surrogatepass")


def _path(folder: Path, digest: str) -> Path:
    return folder / digest[:2] / digest


def _make(folder: Path, disk: Os) -> None:
    try:
        with suppress(FileExistsError):
            disk.mkdir(str(folder), 0o755)
            sync_folder(disk, folder.parent)
    except OSError as error:
        raise refusal(folder, error) from error
