"""A file of the system under test as it is, if it can be replaced and stay the same file."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from workbench.errors import StoreError
from workbench.model.hypothesis import Problem
from workbench.store.disk import refusal
from workbench.store.plainfile import read_file


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
    return Target(
        path=real,
        data=data,
        mode=stat.S_IMODE(found.st_mode),
        user=found.st_uid,
        group=found.st_gid,
    )
