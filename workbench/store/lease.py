"""One run at a time on one engine: a kernel lock that all campaigns and worktrees of a user share.

The lock is freed by the kernel when its holder dies, however it dies. Beside it lies who has it, for
people; that decides nothing.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec

from workbench.errors import EngineBusy, StoreError
from workbench.store.atomic import replace_file
from workbench.store.disk import REAL_OS, refusal
from workbench.store.kernellock import take
from workbench.store.redact import redact_text

if TYPE_CHECKING:
    from filelock import BaseFileLock

_EVERY = 1.0  # seconds between two looks at who has it, for somebody who waits


@dataclass(frozen=True, kw_only=True, slots=True)
class Holder:
    """Who has a lease.

    Attributes:
        lease: What is held, as the engine names it; without its secrets once it is on disk.
        who: The person or program.
        campaign: Folder of the campaign.
        pid: The process.
        since: From when on, UTC.
        run: Id of the run, once it has one.
    """

    lease: str
    who: str
    campaign: str
    pid: int
    since: datetime
    run: str = ""

    def __str__(self) -> str:
        run = f"run {self.run}" if self.run else "a run"
        since = self.since.astimezone().strftime("%H:%M")
        return f"{run} of {self.who} since {since} (pid {self.pid}, {self.campaign})"


class Lease:
    """A lease, held from `take` to `release` or the end of the process.

    Args:
        lock: The kernel's lock.
        path: Where it is said who has it.
        holder: Who.
    """

    def __init__(self, lock: BaseFileLock, path: Path, holder: Holder) -> None:
        self._lock = lock
        self._path = path
        self._holder = holder

    @classmethod
    def take(
        cls, holder: Holder, *, wait: bool = False, tell: Callable[[str], None] = lambda _: None
    ) -> Self:
        """Take a lease, at once or when it is free.

        Args:
            holder: Who takes it, and what.
            wait: Queue behind whoever has it.
            tell: Told for whom one waits.

        Raises:
            EngineBusy: Somebody has it, and `wait` is false.
            StoreError: The folder of leases is not one's own, or has no locks.
        """
        name = hashlib.sha256(holder.lease.encode(errors="surrogateescape")).hexdigest()[:32]
        folder = leases_folder()
        path, lock_file = folder / f"{name}.json", folder / f"{name}.lock"
        lock, told = take(lock_file, wait=0), ""
        while lock is None:
            by, what = str(_read(path) or "another run"), redact_text(holder.lease)
            if not wait:
                raise EngineBusy(
                    f"{what} is held by {by}", hint="--wait queues behind it; nothing was run"
                )
            if by != told:
                tell(f"waiting for {what}, which is held by {by}")
                told = by
            lock = take(lock_file, wait=_EVERY)
        lease = cls(lock, path, holder)
        lease.say(holder.run)
        return lease

    def say(self, run: str) -> None:
        """Say for which run it is held; for people only, so a full disk changes nothing."""
        shown = replace(self._holder, run=run, lease=redact_text(self._holder.lease))
        with suppress(StoreError):
            replace_file(self._path, msgspec.json.encode(shown))

    def release(self) -> None:
        """Let others have it; does nothing the second time."""
        if self._lock.is_locked:
            with suppress(OSError):
                REAL_OS.unlink(str(self._path))
            self._lock.release(force=True)


def holder(lease: str, who: str, campaign: Path) -> Holder:
    """Describe this process as one that takes a lease."""
    return Holder(
        lease=lease, who=who, campaign=str(campaign), pid=os.getpid(), since=datetime.now(UTC)
    )


def leases_folder() -> Path:
    """Give the folder of leases of this user, made when it is not there.

    Raises:
        StoreError: It is somebody else's, open to others, or no folder.
    """
    folder = Path(tempfile.gettempdir()) / f"bisection-workbench-{os.geteuid()}" / "leases"
    for each in (folder.parent, folder):
        try:
            with suppress(FileExistsError):
                REAL_OS.mkdir(str(each), 0o700)
            found = each.lstat()
        except OSError as error:
            raise refusal(each, error) from error
        wrong = _wrong(found)
        if wrong:
            raise StoreError(
                f"{each}: {wrong}", hint="remove it, or set TMPDIR to a folder of your own"
            )
    return folder


def _wrong(found: os.stat_result) -> str:
    if not stat.S_ISDIR(found.st_mode):
        return "is no folder"
    if found.st_uid != os.geteuid():
        return f"belongs to user {found.st_uid}"
    return "is open to others" if found.st_mode & 0o077 else ""


def _read(path: Path) -> Holder | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Holder)
    except (OSError, msgspec.MsgspecError):
        return None
