"""Files of the system under test that are changed for an arm, and put back as they were.

Before a file is changed, its bytes and what becomes of them are on record, durably, in the campaign's
`.workbench/putback/`: a folder that nobody else can read, since a serve script may hold keys. For each
file there are two: `ID.original`, its bytes, and `ID.json`, which says whose they are and vouches for
them. The file itself is replaced in one step, with its mode and its owner.

A file that is neither what it was nor what was made of it has been changed by somebody. It is left
alone, its record stays, and that is told: nothing of anybody's work is lost.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from workbench.errors import StoreError
from workbench.model.run import Owner
from workbench.store.atomic import create_file, own_folder, sweep
from workbench.store.disk import REAL_OS, Os, refusal, sync_folder
from workbench.store.layout import WORK, work_folder
from workbench.store.lock import current_owner, elsewhere, is_alive, one_at_a_time
from workbench.store.targets import Target, look_at, replace_target, sweep_beside

PUTBACK, LOCK = "putback", "putback.lock"
SCHEMA = "workbench/putback@1"
_ORIGINAL, _RECORD = ".original", ".json"


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """A file that was, or was about to be, changed.

    Attributes:
        path: The file itself, absolute, with no symbolic link on the way.
        mode: Its permissions.
        user: Its owner, by number.
        group: Its group, by number.
        was: Digest of its bytes.
        made: Digest of what was made of them.
        run: The run, or whatever else it was changed for.
        owner: The process that did it.
        at: When, UTC.
        schema: The format.
    """

    path: str
    mode: int
    user: int
    group: int
    was: str
    made: str
    run: str
    owner: Owner
    at: datetime
    schema: str = SCHEMA


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """A record as it lies in a campaign's folder.

    Attributes:
        record: What it says; None for one that cannot be read.
        file: Where it lies.
        original: Where the bytes of the file lie.
    """

    record: Record | None
    file: Path
    original: Path

    @property
    def live(self) -> bool:
        """Whether the process that changed the file is still there, and so will put it back."""
        return self.record is not None and is_alive(self.record.owner)

    @property
    def left(self) -> bool:
        """Whether nobody will put the file back but who finds this; one of another host is not here."""
        if self.record is None:
            return True
        return not self.live and not elsewhere(self.record.owner, current_owner())


@dataclass(frozen=True, kw_only=True, slots=True)
class Restored:
    """What became of a record.

    Attributes:
        path: The file, or the record of one that cannot be read.
        ok: It is as it was.
        what: What was found or done, for people; names file and original where they are both needed.
    """

    path: str
    ok: bool
    what: str


def change(
    root: Path, path: Path, made_of: Callable[[bytes], bytes], run: str, *, disk: Os = REAL_OS
) -> None:
    """Change a file, so that `restore` can put it back whatever happens from here on.

    Args:
        root: The campaign's folder.
        path: The file; of a symbolic link, what it leads to.
        made_of: Its bytes to what they are to become; a ValueError of it is raised as it is.
        run: For whom.
        disk: System calls.

    Raises:
        StoreError: It is no plain file of one name, could not keep its owner, or is changed already.
        StorageFull: The disk refused; the file is as it was, or `restore` makes it so.
    """
    found = look_at(path)
    new = made_of(found.data)
    if new == found.data:
        return
    record = Record(
        path=str(found.path),
        mode=found.mode,
        user=found.user,
        group=found.group,
        was=_digest(found.data),
        made=_digest(new),
        run=run,
        owner=current_owner(),
        at=datetime.now(UTC),
    )
    folder = _folder(root, disk)
    with one_at_a_time(root / WORK / LOCK):  # or others might take its original for a stray one
        _put_on_record(folder, record, found.data, disk)
    replace_target(found, new, disk=disk)


def kept(root: Path) -> Iterator[Kept]:
    """Give the records that a campaign holds, in order of their names."""
    folder = root / WORK / PUTBACK
    try:
        names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(_RECORD))
    except FileNotFoundError:
        return
    except OSError as error:
        raise refusal(folder, error) from error
    for name in names:
        file = folder / name
        yield Kept(record=_read(file), file=file, original=file.with_suffix(_ORIGINAL))


def restore(
    root: Path, which: Callable[[Kept], bool] = lambda each: each.left, *, disk: Os = REAL_OS
) -> list[Restored]:
    """Put files back as they were, and forget the records of those that are.

    Args:
        root: The campaign's folder.
        which: Those meant; those that dead processes of this host left, unless told otherwise.
        disk: System calls.

    Returns:
        What became of each. It never raises for one of them: the next may still be put back.
    """
    done = []
    for each in kept(root):
        if which(each):
            try:
                done.append(_restore(each, disk))
            except (StoreError, OSError) as error:
                where = each.record.path if each.record else str(each.file)
                what = f"{where}: could not be put back: {error}; its original is {each.original}"
                done.append(Restored(path=where, ok=False, what=what))
    if (root / WORK / PUTBACK).is_dir():
        with one_at_a_time(root / WORK / LOCK):
            _tidy(root / WORK / PUTBACK, disk)
    return done


def _folder(root: Path, disk: Os) -> Path:
    """Give the folder of records, which only its owner may read."""
    work = work_folder(root, disk=disk)
    folder = own_folder(work / PUTBACK, "originals stay in the campaign", disk=disk, mode=0o700)
    try:
        for each in (root, work):  # their names must survive a power cut, or the records would not
            sync_folder(disk, each)
    except OSError as error:
        raise refusal(folder, error) from error
    return folder


def _put_on_record(folder: Path, record: Record, data: bytes, disk: Os) -> None:
    name = _digest(record.path.encode(errors="surrogateescape"))[:24]
    file, original = folder / f"{name}{_RECORD}", folder / f"{name}{_ORIGINAL}"
    if file.exists():
        earlier = _read(file)
        whose = f"run {earlier.run}" if earlier else "something"
        raise StoreError(
            f"{record.path}: is changed for {whose}, and has not been put back",
            hint="wait for that run to end, or `workbench doctor --restore`",
        )
    try:
        if original.exists():  # of a change that did not get as far as its record
            disk.unlink(str(original))
    except OSError as error:
        raise refusal(original, error) from error
    create_file(original, data, disk=disk, mode=0o600)
    create_file(file, msgspec.json.encode(record), disk=disk, mode=0o600)


def _read(file: Path) -> Record | None:
    """Read a record; None for one that is damaged, or of a workbench that this one does not know."""
    try:
        found = msgspec.json.decode(file.read_bytes(), type=Record)
    except (OSError, msgspec.MsgspecError):
        return None
    return found if found.schema == SCHEMA else None


def _restore(each: Kept, disk: Os) -> Restored:
    """Put one file back, if it is what was made of it."""
    record = each.record
    if record is None:
        what = f"{each.file}: cannot be read; {each.original} may be the original of a file"
        return Restored(path=str(each.file), ok=False, what=what)
    original = each.original.read_bytes()
    if _digest(original) != record.was:
        what = f"{record.path}: its original in {each.original} is damaged; the file is left as it is"
        return Restored(path=record.path, ok=False, what=what)
    found = look_at(Path(record.path))
    now = _digest(found.data)
    if str(found.path) != record.path or now not in (record.was, record.made):
        what = (
            f"{record.path}: was changed by somebody while it was changed for run {record.run}, and is"
            f" left as it is; its original is {each.original} (to do without it, remove {each.file})"
        )
        return Restored(path=record.path, ok=False, what=what)
    due = Target(path=found.path, data=original, mode=record.mode, user=record.user, group=record.group)
    if found != due:
        replace_target(due, original, disk=disk)
    sweep_beside(found.path, disk)
    _forget(each, disk)
    done = "is as it was before" if now == record.was else "has been put back as it was before"
    return Restored(path=record.path, ok=True, what=f"{record.path}: {done} run {record.run}")


def _forget(each: Kept, disk: Os) -> None:
    """Remove a record, first what vouches for it."""
    disk.unlink(str(each.file))
    sync_folder(disk, each.file.parent)
    with suppress(FileNotFoundError):
        disk.unlink(str(each.original))


def _tidy(folder: Path, disk: Os) -> None:
    """Remove originals without a record, of changes that were never made, or were put back."""
    with suppress(OSError):
        sweep(folder, disk=disk)
        for original in folder.glob(f"*{_ORIGINAL}"):
            if not original.with_suffix(_RECORD).exists():
                disk.unlink(str(original))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
