"""Whole files, replaced in one step: a reader, a crash or a power cut sees old or new.

The order is what makes it true on file systems that keep none of their own: write beside the target,
wait for the bytes, rename, wait for the name.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from pathlib import Path

from workbench.store.disk import CREATE, REAL_OS, Os, refusal, sync_folder, write_all


def replace_file(path: Path, data: bytes, *, disk: Os = REAL_OS) -> None:
    """Give `path` the content `data`, durably, or leave it as it was.

    Raises:
        StorageFull: The disk refused; the old content stands.
        StoreError: The folder is gone or cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        fd = disk.open(str(temporary), CREATE, 0o644)
        try:
            write_all(disk, fd, data)
            disk.fsync(fd)
        finally:
            disk.close(fd)
        disk.rename(str(temporary), str(path))
        sync_folder(disk, path.parent)
    except OSError as error:
        with suppress(OSError):  # it may be gone already, by our own rename
            disk.unlink(str(temporary))
        raise refusal(path, error) from error


def is_temporary(name: str) -> bool:
    """Whether a file of this name is one that `replace_file` had not finished."""
    return name.startswith(".") and name.endswith(".tmp")


def sweep(folder: Path, *, disk: Os = REAL_OS) -> None:
    """Remove what killed writers left beside their targets; only the owner of `folder` may."""
    for entry in folder.iterdir():
        if is_temporary(entry.name):
            with suppress(OSError):
                disk.unlink(str(entry))
