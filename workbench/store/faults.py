"""A public test double for `disk.Os`: the real system calls, of which the n-th goes wrong.

A test counts the calls of a scenario once, then repeats the scenario with a fault at every index:

    calls = FaultyOs()                      # no fault; `calls.log` lists what was called
    broken = FaultyOs(at=7, fault=Fault.NO_SPACE)

After `KILL` the process counts as dead: every later call raises `Killed` as well, so that no clean-up
code reaches the disk, and only closing works, which the kernel does for the dead. `cut_power` then
takes away what a power cut may take: bytes and names that were not synced.
"""

from __future__ import annotations

import errno
import os
import shutil
import threading
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

from workbench.store.disk import REAL_OS


class Fault(StrEnum):
    """What goes wrong."""

    SHORT_WRITE = "short write"  # the disk takes half of the bytes and says so; not a write: no fault
    NO_SPACE = "no space"  # ENOSPC; a write takes half of the bytes first, as a full disk does
    IO_ERROR = "I/O error"  # EIO, and nothing happens
    KILL = "kill"  # the process dies before the call; in a write, after half of the bytes
    KILL_AFTER = "kill after"  # the process dies once the call has been done


class Killed(BaseException):
    """The process is dead; not an Exception, so that nothing handles it by accident."""


class FaultyOs:
    """The system calls of a writer, counted, with one fault.

    Args:
        at: Index of the call that goes wrong, from 0; None for none.
        fault: What goes wrong there.
        sticky: NO_SPACE and IO_ERROR stay: all later writes, syncs and openings fail in the same way.

    Attributes:
        log: Name and path or descriptor of every call so far.
        dead: Whether the process counts as killed.
    """

    def __init__(
        self, at: int | None = None, fault: Fault = Fault.IO_ERROR, *, sticky: bool = False
    ) -> None:
        self.log: list[tuple[str, str]] = []
        self.dead = False
        self._at = at
        self._fault = fault
        self._sticky = sticky
        self._guard = threading.Lock()
        self._paths: dict[int, str] = {}
        self._synced: dict[str, int] = {}  # path to how many of its bytes are surely on the disk
        # Names not synced yet: path to what was there before, None for nothing.
        self._names: dict[str, bytes | None] = {}

    def open(self, path: str, flags: int, mode: int, /) -> int:
        """Open a file."""
        self._step("open", path)
        new = not Path(path).exists()
        fd = REAL_OS.open(path, flags, mode)
        self._paths[fd] = path
        if new:
            self._names.setdefault(path, None)
        if not Path(path).is_dir():
            self._synced.setdefault(path, os.fstat(fd).st_size)  # what was there before is safe
        self._after()
        return fd

    def write(self, fd: int, data: bytes | memoryview, /) -> int:
        """Write, perhaps less than asked."""
        hit = self._is_due("write", self._paths[fd])
        half = memoryview(data)[: len(data) // 2]
        if hit and self._fault is Fault.SHORT_WRITE:
            return REAL_OS.write(fd, half)
        if hit and self._fault in (Fault.NO_SPACE, Fault.KILL):
            REAL_OS.write(fd, half)
        self._raise_if(hit)
        taken = REAL_OS.write(fd, data)
        self._after()
        return taken

    def fdatasync(self, fd: int, /) -> None:
        """Sync the bytes of a file."""
        self._step("fdatasync", self._paths[fd])
        self._note_sync(fd)
        self._after()

    def fsync(self, fd: int, /) -> None:
        """Sync a file, or the names in a folder."""
        self._step("fsync", self._paths[fd])
        self._note_sync(fd)
        self._after()

    def ftruncate(self, fd: int, length: int, /) -> None:
        """Cut a file."""
        self._step("ftruncate", self._paths[fd])
        REAL_OS.ftruncate(fd, length)
        path = self._paths[fd]
        self._synced[path] = min(self._synced.get(path, 0), length)
        self._after()

    def fchmod(self, fd: int, mode: int, /) -> None:
        """Give a file its permissions."""
        self._step("fchmod", self._paths[fd])
        REAL_OS.fchmod(fd, mode)
        self._after()

    def fchown(self, fd: int, user: int, group: int, /) -> None:
        """Give a file its owner."""
        self._step("fchown", self._paths[fd])
        REAL_OS.fchown(fd, user, group)
        self._after()

    def rename(self, source: str, target: str, /) -> None:
        """Rename a file over another."""
        self._step("rename", target)
        old = Path(target)
        self._names.setdefault(target, old.read_bytes() if old.exists() else None)
        self._names.pop(source, None)
        REAL_OS.rename(source, target)
        self._synced[target] = self._synced.pop(source, 0)
        self._after()

    def link(self, source: str, target: str, /) -> None:
        """Give a file a second name."""
        self._step("link", target)
        REAL_OS.link(source, target)
        self._names.setdefault(target, None)
        self._synced[target] = self._synced.get(source, 0)
        self._after()

    def mkdir(self, path: str, mode: int, /) -> None:
        """Make a folder."""
        self._step("mkdir", path)
        REAL_OS.mkdir(path, mode)
        self._names.setdefault(path, None)
        self._after()

    def unlink(self, path: str, /) -> None:
        """Remove a file."""
        self._step("unlink", path)
        REAL_OS.unlink(path)
        self._synced.pop(path, None)
        self._after()

    def close(self, fd: int, /) -> None:
        """Close a file; not counted, because a sync before it has told all there is to know."""
        self._paths.pop(fd, None)
        REAL_OS.close(fd)

    def cut_power(self) -> None:
        """Take away all that was not synced: tails of files, renames, new files and new folders."""
        for target, before in self._names.items():
            path = Path(target)
            if before is not None:
                path.write_bytes(before)
            elif path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
            self._synced.pop(target, None)
        for name, size in self._synced.items():
            with suppress(FileNotFoundError):
                os.truncate(name, min(size, Path(name).stat().st_size))

    def _step(self, call: str, what: str) -> None:
        self._raise_if(self._is_due(call, what))

    def _is_due(self, call: str, what: str) -> bool:
        if self.dead:
            raise Killed
        with self._guard:
            index = len(self.log)
            self.log.append((call, what))
        later = self._sticky and self._at is not None and index > self._at
        return index == self._at or (later and call in ("open", "write", "fsync", "fdatasync", "mkdir"))

    def _raise_if(self, hit: bool) -> None:
        if not hit:
            return
        match self._fault:
            case Fault.NO_SPACE:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            case Fault.IO_ERROR:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            case Fault.KILL:
                self.dead = True
                raise Killed

    def _after(self) -> None:
        if self._fault is Fault.KILL_AFTER and self._at == len(self.log) - 1:
            self.dead = True
            raise Killed

    def _note_sync(self, fd: int) -> None:
        path = self._paths[fd]
        if Path(path).is_dir():
            self._names = {
                name: old for name, old in self._names.items() if str(Path(name).parent) != path
            }
        else:
            self._synced[path] = os.fstat(fd).st_size
