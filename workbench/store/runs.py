"""A run folder and its one owner: made or resumed under a lock, written, closed.

What is acknowledged by `append_sample` survives the death of the process, and 50 ms later that of the
machine. Reading is `RunView`'s, which an owner can do as well.
"""

from __future__ import annotations

import hashlib
import secrets
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from workbench.errors import LockHeld, StoreError
from workbench.model.ids import RUN_ID, run_id
from workbench.model.run import Fingerprint, Manifest, Owner, RunEvent, RunState, Sample
from workbench.store.atomic import is_temporary, replace_file, sweep
from workbench.store.blobs import belongs_in_blob, write_blob
from workbench.store.disk import REAL_OS, Os, refusal, sync_folder
from workbench.store.documents import encode_fingerprint, encode_manifest, read_manifest
from workbench.store.journal import BLOBS_FOLDER, EVENTS_FILE, digest_shards, next_shard, shard_paths
from workbench.store.jsonl import LineWriter, mend
from workbench.store.lines import encode_event, encode_sample
from workbench.store.lock import LOCK_FILE, RunLock, current_owner, elsewhere, held_by
from workbench.store.names import check_arm_name
from workbench.store.private import Gate
from workbench.store.view import MANIFEST_FILE, RunView, require_folder

# how code differed from its commit; of a second one, the beginning of its digest is in the name
PATCH_FILE = "dirty.patch"


@dataclass(frozen=True, kw_only=True, slots=True)
class Writing:
    """How a run is written; the defaults are right for everything but tests and known secrets.

    Attributes:
        secrets: Values to keep off the disk, None for those of this process's secret-like variables.
        sync_every: Greatest age in seconds of a sample that is not on the disk yet; 0: none is.
        disk: System calls.
    """

    secrets: tuple[str, ...] | None = None
    sync_every: float = 0.05
    disk: Os = REAL_OS

    def gate(self) -> Gate:
        """Give the gate that records pass on their way to the disk."""
        return Gate.of_process() if self.secrets is None else Gate.of(self.secrets)


def new_run_id(at: datetime) -> str:
    """Give a fresh run id for `at` (aware)."""
    return run_id(at, secrets.randbits(40))


class RunFolder(RunView):
    """A run that this process owns. Made by `create`, `create_at` or `resume`, never directly.

    As a context manager it lets go of the run when the block ends, closed or not.
    """

    def __init__(self, path: Path, manifest: Manifest, lock: RunLock, writing: Writing) -> None:
        super().__init__(path, manifest)
        self._lock: RunLock | None = lock
        self._disk = writing.disk
        self._sync_every = writing.sync_every
        self._gate = writing.gate()
        self._samples: LineWriter | None = None
        self._events: LineWriter | None = None

    # --- becoming the owner -------------------------------------------------------------------------

    @classmethod
    def create(cls, parent: Path, manifest: Manifest, writing: Writing | None = None) -> Self:
        """Make a run folder under `parent`, named by the manifest's id.

        Should another process have that id, a fresh one is used; `manifest.id` of the result tells.

        Args:
            parent: Where run folders live; made when it is not there.
            manifest: The run as planned; its owner and openings are filled in here.
            writing: How to write it.

        Raises:
            StoreError: The folder cannot be made or written.
        """
        writing = writing or Writing()
        _check_names(manifest)
        try:
            parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise refusal(parent, error) from error
        while True:
            path = parent / manifest.id
            if _make_folder(path, writing.disk):
                try:
                    return cls._begin(path, manifest, writing)
                except StoreError:
                    _unmake(path)
                    raise
            manifest = replace(manifest, id=new_run_id(manifest.created))

    @classmethod
    def create_at(cls, path: Path, manifest: Manifest, writing: Writing | None = None) -> Self:
        """Make `path` itself the run folder; it must not exist, or be an empty folder.

        Raises:
            LockHeld: Another process is making a run of the same folder.
            StoreError: The folder holds something, is no folder, or cannot be written.
        """
        writing = writing or Writing()
        _check_names(manifest)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise refusal(path.parent, error) from error
        _make_folder(path, writing.disk)
        require_folder(path)
        _refuse_content(path)  # before the lock, which leaves a file
        return cls._begin(path, manifest, writing)

    @classmethod
    def resume(cls, path: Path, writing: Writing | None = None, *, take_over: bool = False) -> Self:
        """Become the owner of a run that stands still, to go on with it.

        A manifest that says `running` while nobody holds the lock becomes `crashed`; torn tails of
        earlier openings are moved aside; new samples go to a shard of their own.

        Args:
            path: The run folder.
            writing: How to write it.
            take_over: Also take a running run whose owner is on another host, where no lock can tell.

        Raises:
            LockHeld: Another process has the run.
            VersionTooNew: A newer workbench wrote it.
            StoreError: It is no run folder, or its manifest is damaged.
        """
        writing = writing or Writing()
        require_folder(path)
        read_manifest(path / MANIFEST_FILE)  # what is no run of ours shall not get a lock file
        lock = _lock(path)
        try:
            manifest, here = read_manifest(path / MANIFEST_FILE), current_owner()
            died = manifest.state is RunState.RUNNING
            if died and not take_over:
                _refuse_other_host(path, manifest.owner, here)
            _tidy(path, writing.disk)
            folder = cls(path, manifest, lock, writing)
            folder.replace_manifest(
                state=RunState.CRASHED if died else manifest.state,
                owner=here,
                openings=manifest.openings + 1,
            )
        except BaseException:
            lock.release()
            raise
        return folder

    @classmethod
    def _begin(cls, path: Path, manifest: Manifest, writing: Writing) -> Self:
        lock = _lock(path)
        try:
            _refuse_content(path)  # another maker may have been here between the look and the lock
            folder = cls(path, replace(manifest, owner=current_owner(), openings=1), lock, writing)
            folder.replace_manifest()
        except BaseException:
            lock.release()
            raise
        return folder

    # --- writing ------------------------------------------------------------------------------------

    def append_sample(self, sample: Sample) -> None:
        """Put a sample on record; when this returns, it survives the death of the process.

        Raises:
            StorageFull: The disk refused; everything acknowledged before is whole.
            StoreError: The run is not ours any more.
        """
        self._require_owner()
        if self._samples is None:
            path = next_shard(self.path)
            self._samples = LineWriter(path, sync_every=self._sync_every, disk=self._disk)
        sample = self._gate.sample(sample)
        text = sample.exchange.text
        blob = (
            write_blob(self.path / BLOBS_FOLDER, text, disk=self._disk) if belongs_in_blob(text) else ""
        )
        self._samples.append(encode_sample(sample, blob))

    def append_event(self, event: RunEvent) -> None:
        """Put an event on record; when this returns, it is on the disk.

        Raises:
            StorageFull: The disk refused.
            StoreError: The run is not ours any more.
            TypeError: The facts are no JSON values.
        """
        self._require_owner()
        line = encode_event(self._gate.event(event))
        if self._events is None:
            self._events = LineWriter(self.path / EVENTS_FILE, sync_every=0, disk=self._disk)
        self._events.append(line)

    def replace_manifest(self, **changes: Any) -> None:
        """Put a new manifest in the place of the old one, with `changes` to its fields.

        Raises:
            StorageFull: The disk refused; the old manifest stands.
            StoreError: The run is not ours any more.
        """
        self._require_owner()
        changed = replace(self.manifest, **changes)
        # before it is redacted: a command may repeat in its output what it was given
        self._gate = self._gate.knowing(changed.plan)
        manifest = self._gate.manifest(changed)
        replace_file(self.path / MANIFEST_FILE, encode_manifest(manifest), disk=self._disk)
        self.manifest = manifest

    def write_fingerprint(self, fingerprint: Fingerprint, block: int) -> None:
        """Put on record what an arm was really running in a block.

        Raises:
            StorageFull: The disk refused.
            StoreError: The run is not ours any more, or the arm has an impossible name.
        """
        self._require_owner()
        data = encode_fingerprint(self._gate.fingerprint(fingerprint))
        path = self._fingerprint_path(fingerprint.arm, block, fingerprint.start)
        replace_file(path, data, disk=self._disk)

    def write_patch(self, patch: bytes) -> None:
        """Keep how the code of an arm differs from its commit, secrets taken out; each once.

        Raises:
            StorageFull: The disk refused.
            StoreError: The run is not ours any more.
        """
        self._require_owner()
        path = self.path / PATCH_FILE
        if path.exists() and path.read_bytes() != patch:
            path = path.with_stem(f"{path.stem}-{hashlib.sha256(patch).hexdigest()[:12]}")
        if not path.exists():
            replace_file(path, patch, disk=self._disk)

    def as_recorded(self, fingerprint: Fingerprint) -> Fingerprint:
        """Give a fingerprint as it would stand on record: what a later one must be compared with."""
        return self._gate.fingerprint(fingerprint)

    def flush(self) -> None:
        """Return once everything appended is on the disk. Raises StorageFull."""
        if self._samples is not None:
            self._samples.flush()

    # --- letting go ---------------------------------------------------------------------------------

    def close(self, state: RunState, **changes: Any) -> None:
        """End this opening in `state`: samples first, then the manifest that vouches for them.

        The manifest gets counts and digests taken from the files as they are. Whatever happens, the run
        is free for the next opener afterwards; if even the manifest could not be written, that one will
        find the run crashed.

        Args:
            state: What the run ends as.
            changes: Further fields of the manifest, such as `ended` and `why`.

        Raises:
            StorageFull: The disk refused.
            StoreError: The run is not ours any more.
        """
        self._require_owner()
        try:
            self._close_journal(forgiving=state is RunState.STORAGE_ERROR)
            shards = digest_shards(self.path)
            self.replace_manifest(**changes, state=state, counts=self.counts(), shards=shards)
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Let go of the run as a dying process would: nothing is flushed, the manifest stays."""
        for writer in (self._samples, self._events):
            if writer is not None:
                writer.abandon()
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.abandon()

    def _close_journal(self, *, forgiving: bool) -> None:
        for writer in (self._samples, self._events):
            try:
                if writer is not None:
                    writer.close()
            except StoreError:
                if not forgiving:  # a run that ends for want of disk has said so already
                    raise

    def _require_owner(self) -> None:
        if self._lock is None:
            raise StoreError(f"{self.path}: is closed", hint="resume the run to write to it again")


def _check_names(manifest: Manifest) -> None:
    """Refuse names that become part of a path, before anything is made."""
    if not RUN_ID.fullmatch(manifest.id):
        raise StoreError(f"{manifest.id!r} is not a run id")
    for arm in manifest.plan.arms:
        check_arm_name(arm.name)


def _make_folder(path: Path, disk: Os) -> bool:
    """Make a folder durably; False when something of that name is there."""
    try:
        disk.mkdir(str(path), 0o755)
        sync_folder(disk, path.parent)
    except FileExistsError:
        return False
    except OSError as error:
        raise refusal(path, error) from error
    return True


def _unmake(path: Path) -> None:
    """Take a folder away again that we made and could not put a manifest into."""
    with suppress(OSError):
        (path / LOCK_FILE).unlink(missing_ok=True)
        path.rmdir()


def _refuse_content(path: Path) -> None:
    """Accept what a maker leaves that was killed before its first manifest, and nothing else."""
    try:
        names = [entry.name for entry in path.iterdir()]
    except OSError as error:
        raise refusal(path, error) from error
    if any(name != LOCK_FILE and not is_temporary(name) for name in names):
        raise StoreError(f"{path}: is not empty", hint="name a new or an empty folder")


def _lock(path: Path) -> RunLock:
    try:
        return RunLock(path)
    except LockHeld as error:
        owner = None  # unless the manifest, which is being replaced perhaps for the first time, tells
        with suppress(StoreError):
            owner = read_manifest(path / MANIFEST_FILE, newer=True).owner
        raise held_by(path, owner) from error


def _refuse_other_host(path: Path, owner: Owner, here: Owner) -> None:
    if elsewhere(owner, here):
        raise LockHeld(
            f"{held_by(path, owner).what}, which is another host",
            hint="make sure that it has ended there, then take the run over",
        )


def _tidy(path: Path, disk: Os) -> None:
    """Clear away what killed writers left, so that every file ends with a whole line."""
    sweep(path, disk=disk)
    for file in (*shard_paths(path), path / EVENTS_FILE):
        if file.exists():
            mend(file, disk=disk)
