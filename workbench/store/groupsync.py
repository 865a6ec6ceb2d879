"""Group sync: many lines, one `fdatasync`, at most so long after the first of them was written.

It waits on a thread of its own, because a sync takes milliseconds and the caller is an event loop that
is timing replies. The thread also makes the promise hold when no further line ever comes.
"""

from __future__ import annotations

import threading

from workbench.store.disk import Os


class GroupSync:
    """Keeps the unsynced tail of one open file younger than `every` seconds, plus one sync.

    Args:
        disk: Where to sync.
        fd: The file; must stay open until `stop` has returned.
        every: Greatest age of an unsynced line; 0 syncs each line before `touched` returns.
    """

    def __init__(self, disk: Os, fd: int, every: float) -> None:
        self._disk = disk
        self._fd = fd
        self._every = every
        self._dirty = False
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._error: OSError | None = None
        self._thread: threading.Thread | None = None

    def touched(self) -> None:
        """Note that a line was written. Raises the OSError of a sync that failed, now or before."""
        if self._error is not None:
            raise self._error
        if self._dirty:
            return
        self._dirty = True
        if self._every == 0:
            self._sync()
            self.raise_if_failed()
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="group-sync", daemon=True)
            self._thread.start()
        self._wake.set()

    def flush(self) -> None:
        """Return once every line written so far is on the disk; raises OSError."""
        self._sync()
        self.raise_if_failed()

    def stop(self) -> None:
        """End the thread without a further sync; does nothing the second time."""
        self._stopping.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def raise_if_failed(self) -> None:
        """Raise the OSError of a sync that failed: the kernel reports it once and drops the pages."""
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._wake.wait()
            self._wake.clear()
            if self._stopping.wait(self._every):
                return
            self._sync()

    def _sync(self) -> None:
        # Cleared first: a line written during the sync may have missed it and must be synced again.
        self._dirty = False
        try:
            self._disk.fdatasync(self._fd)
        except OSError as error:
            self._error = error
