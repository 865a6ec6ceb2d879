"""The short lock of a campaign's log, in the folder that git does not see.

Held for as long as it takes to read what others appended and to append a line: whoever wants it waits a
bounded time. The kernel frees it with its holder, so a dead process never blocks anybody.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workbench.errors import LockHeld
from workbench.store.disk import REAL_OS, Os
from workbench.store.kernellock import take
from workbench.store.layout import work_folder

LOCK_FILE = "log.lock"
_POLL = 0.002  # an append takes a few milliseconds; the default of 50 would leave the disk idle


class LogLock:
    """The lock of one campaign's log; may be taken again by the thread that has it.

    Args:
        root: The campaign's folder.
        wait: Seconds to wait for others at most.
        disk: System calls.
    """

    def __init__(self, root: Path, *, wait: float, disk: Os = REAL_OS) -> None:
        self._root = root
        self._wait = wait
        self._disk = disk
        self._mutex = threading.RLock()  # threads of one process share the kernel's lock
        self._depth = 0

    @contextmanager
    def __call__(self, *, wait: float | None = None) -> Iterator[None]:
        """Hold the lock.

        Args:
            wait: Seconds to wait at most, None for the usual.

        Raises:
            LockHeld: Another process had it all the time.
            StoreError: The campaign's folder cannot be locked.
        """
        seconds = self._wait if wait is None else wait
        if not self._mutex.acquire(timeout=seconds):
            raise self._held(seconds)
        try:
            if self._depth:
                yield
                return
            with self._kernel(seconds):
                self._depth += 1
                try:
                    yield
                finally:
                    self._depth -= 1
        finally:
            self._mutex.release()

    @contextmanager
    def _kernel(self, seconds: float) -> Iterator[None]:
        path = work_folder(self._root, disk=self._disk) / LOCK_FILE
        lock = take(path, wait=seconds, poll=_POLL)
        if lock is None:
            raise self._held(seconds)
        try:
            yield
        finally:
            lock.release(force=True)

    def _held(self, seconds: float) -> LockHeld:
        return LockHeld(
            f"{self._root}: another process has been writing to the log for {seconds:g} s",
            hint="try again; if that goes on, look for a stopped process of this campaign",
        )
