"""The kernel's lock on a file: freed by the kernel when its holder dies, however it dies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import StoreError
from workbench.store.disk import refusal

if TYPE_CHECKING:
    from filelock import BaseFileLock

FOR_EVER = -1.0


def take(path: Path, *, wait: float, poll: float = 0.05) -> BaseFileLock | None:
    """Take the lock that a file carries; the file is made when it is not there.

    A soft lock outlives its holder, so none is better than that. Every taking is one of its own: a
    second one within one process is refused, too.

    Args:
        path: The file.
        wait: Seconds to wait for others at most; FOR_EVER for as long as it takes.
        poll: Seconds between two tries.

    Returns:
        The lock, to be let go by `release(force=True)`; None when others had it all the time.

    Raises:
        StoreError: The file system has no such locks, or the file cannot be made.
    """
    from filelock import FileLock, Timeout  # slow to import, and who only reads never locks

    lock = FileLock(
        path, thread_local=False, is_singleton=False, fallback_to_soft=False, poll_interval=poll
    )
    try:
        lock.acquire(timeout=wait)
    except Timeout:
        return None
    except NotImplementedError as error:  # what filelock raises where the system offers none
        raise StoreError(f"{path}: this file system has no locks", hint="use a local disk") from error
    except OSError as error:
        raise refusal(path, error) from error
    return lock
