"""One owner a run: a kernel lock, freed by the kernel when its holder dies, however it dies.

The lock decides; what the manifest says of the owner is for people, and for the one case that the lock
cannot see: a folder copied from, or shared with, another host.
"""

from __future__ import annotations

import getpass
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from workbench.errors import LockHeld, StoreError
from workbench.model.run import Owner
from workbench.store.kernellock import FOR_EVER, take

LOCK_FILE = "owner.lock"
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class RunLock:
    """The kernel lock of a run folder, held from construction to `release` or the end of the process.

    Raises:
        LockHeld: Another process, or another part of this one, has it.
        StoreError: The folder is a symbolic link or cannot be locked.
    """

    def __init__(self, folder: Path) -> None:
        if folder.is_symlink():
            raise StoreError(f"{folder}: is a symbolic link", hint="name the run folder itself")
        lock = take(folder / LOCK_FILE, wait=0)
        if lock is None:
            raise LockHeld(f"{folder}: another process has this run")
        self._lock = lock

    def release(self) -> None:
        """Let others have the run; does nothing the second time."""
        self._lock.release(force=True)


def is_held(folder: Path) -> bool:
    """Whether a living process of this host has a run; takes the lock for a moment to tell."""
    try:
        RunLock(folder).release()
    except LockHeld:
        return True
    return False


@contextmanager
def one_at_a_time(path: Path) -> Iterator[None]:
    """Let one process at a time through; others wait. For what takes moments.

    Args:
        path: The file that carries the kernel lock; made when it is not there.

    Raises:
        StoreError: It cannot be made or locked.
    """
    lock = take(path, wait=FOR_EVER)
    try:
        yield
    finally:
        if lock is not None:
            lock.release(force=True)


def held_by(folder: Path, owner: Owner | None) -> LockHeld:
    """Say who has a run, as far as its manifest tells."""
    if owner is None:
        return LockHeld(f"{folder}: another process has this run", hint="wait for it to end")
    since = datetime.fromtimestamp(owner.started, UTC)
    holder = f"{owner.who} on {owner.host}, process {owner.pid} since {since:%Y-%m-%d %H:%M:%S} UTC"
    return LockHeld(f"{folder}: in use by {holder}", hint="wait for it to end, or stop that process")


def current_owner() -> Owner:
    """Describe this process."""
    import psutil

    try:
        who = getpass.getuser()
    except (OSError, KeyError):  # a container may run under a user id that has no name
        who = f"uid {os.getuid()}"
    return Owner(
        who=who,
        host=platform.node(),
        boot_id=_boot_id(),
        pid=os.getpid(),
        started=psutil.Process().create_time(),
    )


def elsewhere(owner: Owner, here: Owner) -> bool:
    """Whether an owner lived, or lives, where our kernel's lock says nothing about it.

    The same boot is the same kernel, whatever a container calls its host; another boot of the same host
    has ended every process of the earlier one.
    """
    return owner.boot_id != here.boot_id and owner.host != here.host


def is_alive(owner: Owner) -> bool:
    """Whether the process that owned a run is still there; False also for one of another boot.

    For lists and progress only; who may write is decided by the lock.
    """
    import psutil

    if owner.boot_id != _boot_id():
        return False
    try:
        # A pid is used again; the start time tells the two processes apart (clock ticks are coarse).
        started: float = psutil.Process(owner.pid).create_time()
    except psutil.Error:
        return False
    return abs(started - owner.started) < 1


def _boot_id() -> str:
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        import psutil

        return f"{psutil.boot_time():.0f}"
