"""A file of the system under test: looked at, if it can be replaced and stay the same, and replaced."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from workbench.errors import StoreError
from workbench.model.hypothesis import Problem
from workbench.store.disk import CREATE, REAL_OS, Os, refusal, sync_folder, write_all
from workbench.store.plainfile import LARGEST, read_file


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """A file.

    Attributes:
        path: Itself, absolute, with no symbolic link on the way.
        data: Its bytes.
        mode: Its permissions.
        user: Its owner, by number.
        group: Its group, by number.
    """

    path: Path
    data: bytes
    mode: int
    user: int
    group: int


def look_at(path: Path) -> Target:
    """Read a file that is to be replaced; of a symbolic link, what it leads to.

    Raises:
        StoreError: It is not there, no plain file, has other names, is larger than 1 MiB, or belongs to
            somebody whose it would not be any more.
    """
    try:
        real = path.resolve(strict=True)
        found = real.lstat()
    except OSError as error:
        raise refusal(path, error, missing="check the path, and the folder that it is from") from error
    except RuntimeError as error:  # links in a circle
        raise StoreError(f"{path}: its links lead in a circle") from error
    if stat.S_ISREG(found.st_mode) and found.st_nlink > 1:
        raise StoreError(
            f"{path}: has {found.st_nlink} names (hard links), and only one of them would be changed",
            hint="make it a file of its own: cp it, and mv the copy over it",
        )
    if os.geteuid() not in (0, found.st_uid):
        raise StoreError(
            f"{path}: belongs to user {found.st_uid}, and would not any more if it were changed",
            hint="run the workbench as that user, or change the file by a script of your own",
        )
    data = read_file(real, str(path))
    if isinstance(data, Problem):
        raise StoreError(f"{path}: {data.what}", hint=data.hint)
    if len(data) > LARGEST:
        raise StoreError(f"{path}: is larger than 1 MiB", hint="change a smaller file that it includes")
    return Target(
        path=real,
        data=data,
        mode=stat.S_IMODE(found.st_mode),
        user=found.st_uid,
        group=found.st_gid,
    )


def replace_target(target: Target, data: bytes, *, disk: Os = REAL_OS) -> None:
    """Give a file other bytes in one step; its mode and owner stay.

    Raises:
        StoreError: The folder or the disk refused; the file is as it was.
    """
    temporary = _beside(target.path)
    try:
        sweep_beside(target.path, disk)
        fd = disk.open(str(temporary), CREATE, 0o600)
        try:
            write_all(disk, fd, data)
            there = os.fstat(fd)
            if (there.st_uid, there.st_gid) != (target.user, target.group):
                disk.fchown(fd, target.user, target.group)
            disk.fchmod(fd, target.mode)  # after the owner, who loses set-uid bits otherwise
            disk.fsync(fd)
        finally:
            disk.close(fd)
        disk.rename(str(temporary), str(target.path))
        sync_folder(disk, target.path.parent)
    except OSError as error:
        with suppress(OSError):
            disk.unlink(str(temporary))
        raise refusal(target.path, error) from error


def _beside(path: Path) -> Path:
    """Give the file in which new bytes are got ready: always the same, so that none is left behind."""
    return path.with_name(f".{path.name}.workbench.tmp")


def sweep_beside(path: Path, disk: Os) -> None:
    """Remove what somebody who was killed had got ready for a file; raises OSError."""
    if os.path.lexists(_beside(path)):
        disk.unlink(str(_beside(path)))
