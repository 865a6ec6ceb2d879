"""The outer seam: the few system calls by which the store writes, as one small object.

Every writer takes an `Os`. The real one hands straight through; `faults.FaultyOs` refuses the n-th
call, so that a test can fail each system call of a run in turn without patching anything.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Protocol

from workbench.errors import StorageFull, StoreError

APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
MODIFY = os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC

# The disk, not the request, is at fault: nothing more can be promised until space or hardware is back.
_DISK_IS_OUT = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS})


class Os(Protocol):
    """System calls of the writers; each raises OSError as the kernel reports it."""

    def open(self, path: str, flags: int, mode: int, /) -> int:
        """Open a file and give its descriptor."""
        ...

    def write(self, fd: int, data: bytes | memoryview, /) -> int:
        """Write once and give how many bytes were taken, which may be fewer than asked."""
        ...

    def fdatasync(self, fd: int, /) -> None:
        """Wait until the bytes of a file are on the disk."""
        ...

    def fsync(self, fd: int, /) -> None:
        """Wait until the bytes and the metadata of a file or folder are on the disk."""
        ...

    def ftruncate(self, fd: int, length: int, /) -> None:
        """Cut a file to `length` bytes."""
        ...

    def fchmod(self, fd: int, mode: int, /) -> None:
        """Give a file its permissions."""
        ...

    def fchown(self, fd: int, user: int, group: int, /) -> None:
        """Give a file its owner."""
        ...

    def rename(self, source: str, target: str, /) -> None:
        """Put `source` in the place of `target` in one step."""
        ...

    def link(self, source: str, target: str, /) -> None:
        """Give a file a second name; FileExistsError when something has that name."""
        ...

    def mkdir(self, path: str, mode: int, /) -> None:
        """Make a folder; FileExistsError decides who was first."""
        ...

    def unlink(self, path: str, /) -> None:
        """Remove a file."""
        ...

    def close(self, fd: int, /) -> None:
        """Give a descriptor back."""
        ...


class RealOs:
    """The operating system itself, at no cost per call."""

    open = staticmethod(os.open)
    write = staticmethod(os.write)
    fdatasync = staticmethod(getattr(os, "fdatasync", os.fsync))  # not every system has the cheap one
    fsync = staticmethod(os.fsync)
    ftruncate = staticmethod(os.ftruncate)
    fchmod = staticmethod(os.fchmod)
    fchown = staticmethod(os.fchown)
    rename = staticmethod(os.replace)
    link = staticmethod(os.link)
    mkdir = staticmethod(os.mkdir)
    unlink = staticmethod(os.unlink)
    close = staticmethod(os.close)


REAL_OS: Os = RealOs()


def refusal(
    path: Path, error: OSError, *, missing: str = "was the folder removed while it was in use?"
) -> StoreError:
    """Say in our words what the system refused; StorageFull when the disk is to blame.

    Args:
        path: What it was about.
        error: What the system said.
        missing: What to say of something that is not there.
    """
    cause = error.strerror or str(error)
    if error.errno in _DISK_IS_OUT:
        return StorageFull(
            f"{path}: {cause}", hint="make room, then resume; all that was saved before is whole"
        )
    if error.errno == errno.ELOOP:
        return StoreError(f"{path}: is a symbolic link", hint="run folders hold plain files only")
    if isinstance(error, FileNotFoundError):
        return StoreError(f"{path}: {cause}", hint=missing)
    if isinstance(error, FileExistsError | NotADirectoryError):
        return StoreError(f"{path}: a file stands where a folder is due", hint="name another folder")
    return StoreError(f"{path}: {cause}")


def write_all(disk: Os, fd: int, data: bytes) -> None:
    """Write all of `data`, in as many calls as it takes; raises OSError."""
    rest = memoryview(data)
    while rest:
        taken = disk.write(fd, rest)
        if taken == 0:  # a disk that takes nothing and says nothing would keep us here for ever
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        rest = rest[taken:]


def sync_folder(disk: Os, folder: Path) -> None:
    """Make names that appeared in or left `folder` survive a power cut; raises OSError."""
    fd = disk.open(str(folder), FOLDER, 0)
    try:
        disk.fsync(fd)
    finally:
        disk.close(fd)
