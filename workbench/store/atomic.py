"""Whole files, made or replaced in one step: a reader, a crash or a power cut sees old or new.

The order is what makes it true on file systems that keep none of their own: write beside the target,
wait for the bytes, rename, wait for the name.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from pathlib import Path

from workbench.errors import StoreError
from workbench.store.disk import CREATE, REAL_OS, Os, refusal, sync_folder, write_all


def replace_file(path: Path, data: bytes, *, disk: Os = REAL_OS) -> None:
    """Give `path` the content `data`, durably, or leave it as it was.

    Raises:
        StorageFull: The disk refused; the old content stands.
        StoreError: The folder is gone or cannot be written.
    """
    temporary = _beside(path)
    try:
        _write(temporary, data, disk)
        disk.rename(str(temporary), str(path))
        sync_folder(disk, path.parent)
    except OSError as error:
        with suppress(OSError):  # it may be gone already, by our own rename
            disk.unlink(str(temporary))
        raise refusal(path, error) from error


def create_file(path: Path, data: bytes, *, disk: Os = REAL_OS, mode: int = 0o644) -> None:
    """Make a file that nobody has yet, whole and durably, or not at all.

    Args:
        path: The file.
        data: Its bytes.
        disk: System calls.
        mode: Its permissions.

    Raises:
        StoreError: A file of that name is there.
        StorageFull: The disk refused.
    """
    temporary = _beside(path)
    made = [temporary]
    try:
        _write(temporary, data, disk, mode)
        disk.link(str(temporary), str(path))  # unlike a rename, it never replaces what is there
        made.append(path)
        sync_folder(disk, path.parent)
        disk.unlink(str(temporary))
    except OSError as error:
        for each in made:
            with suppress(OSError):
                disk.unlink(str(each))
        if isinstance(error, FileExistsError):
            raise StoreError(f"{path}: is there already", hint="try again") from error
        raise refusal(path, error) from error


def own_folder(
    folder: Path, hint: str, *, disk: Os = REAL_OS, lasting: bool = False, mode: int = 0o755
) -> Path:
    """Give a folder of a campaign, made when it is not there.

    Args:
        folder: The folder; what it lies in is there.
        hint: What to say of one that leads elsewhere.
        disk: System calls.
        lasting: Its name must survive a power cut.
        mode: Its permissions, should it be made.

    Raises:
        StoreError: It is a symbolic link, or cannot be made.
    """
    if folder.is_symlink():
        raise StoreError(f"{folder}: is a symbolic link", hint=hint)
    try:
        if not folder.is_dir():
            with suppress(FileExistsError):
                disk.mkdir(str(folder), mode)
            if lasting:
                sync_folder(disk, folder.parent)
    except OSError as error:
        raise refusal(folder, error) from error
    return folder


def is_temporary(name: str) -> bool:
    """Whether a file of this name is one that `replace_file` had not finished."""
    return name.startswith(".") and name.endswith(".tmp")


def sweep(folder: Path, *, disk: Os = REAL_OS) -> None:
    """Remove what killed writers left beside their targets; only the owner of `folder` may."""
    for entry in folder.iterdir():
        if is_temporary(entry.name):
            with suppress(OSError):
                disk.unlink(str(entry))


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")


def _write(temporary: Path, data: bytes, disk: Os, mode: int = 0o644) -> None:
    fd = disk.open(str(temporary), CREATE, mode)
    try:
        write_all(disk, fd, data)
        disk.fsync(fd)
    finally:
        disk.close(fd)
