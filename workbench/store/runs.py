"""A run folder: made, written by its one owner, read by anybody.

`create` and `resume` take the folder's lock and may write; `read` takes none and never does. What is
acknowledged by `append_sample` survives the death of the process, and 50 ms later that of the machine.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from workbench.errors import LockHeld, StoreError
from workbench.model.ids import RUN_ID, run_id
from workbench.model.outcome import Counts
from workbench.model.run import Fingerprint, Manifest, RunEvent, RunState, Sample
from workbench.store.atomic import replace_file, sweep
from workbench.store.blobs import belongs_in_blob, write_blob
from workbench.store.damage import Damage
from workbench.store.disk import REAL_OS, Os, refusal, sync_folder
from workbench.store.documents import (
    encode_fingerprint,
    encode_manifest,
    read_fingerprint,
    read_manifest,
)
from workbench.store.journal import (
    BLOBS_FOLDER,
    EVENTS_FILE,
    digest_shards,
    next_shard,
    read_events,
    read_samples,
    recount,
    shard_paths,
)
from workbench.store.jsonl import LineWriter, mend
from workbench.store.lines import encode_event, encode_sample
from workbench.store.lock import LOCK_FILE, RunLock, current_owner, elsewhere, held_by
from workbench.store.names import check_arm_name
from workbench.store.private import Gate

MANIFEST_FILE = "manifest.json"
SYNC_EVERY = 0.05


def new_run_id(at: datetime) -> str:
    """Give a fresh run id for `at` (aware)."""
    return run_id(at, secrets.randbits(40))


class RunFolder:
    """One run on disk. Made by `create`, `create_at`, `resume` or `read`, never directly.

    Attributes:
        path: The folder.
        manifest: The manifest as last read or written.
    """

    def __init__(
        self,
        path: Path,
        manifest: Manifest,
        *,
        lock: RunLock | None,
        gate: Gate,
        sync_every: float,
        disk: Os,
    ) -> None:
        self.path = path
        self.manifest = manifest
        self._lock = lock
        self._gate = gate
        self._sync_every = sync_every
        self._disk = disk
        self._samples: LineWriter | None = None
        self._events: LineWriter | None = None

    @classmethod
    def create(
        cls,
        parent: Path,
        manifest: Manifest,
        *,
        secret_values: Sequence[str] | None = None,
        sync_every: float = SYNC_EVERY,
        disk: Os = REAL_OS,
    ) -> Self:
        """Make a run folder under `parent`, named by the manifest's id, and become its owner.

        Should another process have taken that id, a fresh one is used; `manifest.id` of the result tells.

        Args:
            parent: Where run folders live; made when it is not there.
            manifest: The run as planned; its owner and openings are filled in here.
            secret_values: Values to keep off the disk; by default those of secret-like variables.
            sync_every: Greatest age in seconds of a sample that is not on the disk yet.
            disk: System calls.

        Raises:
            StoreError: The folder cannot be made or written.
        """
        try:
            parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise refusal(parent, error) from error
        while True:
            if not RUN_ID.fullmatch(manifest.id):  # it becomes the name of a folder
                raise StoreError(f"{manifest.id!r} is not a run id")
            path = parent / manifest.id
            try:
                disk.mkdir(str(path), 0o755)
                sync_folder(disk, parent)
                break
            except FileExistsError:
                manifest = replace(manifest, id=new_run_id(manifest.created))
            except OSError as error:
                raise refusal(path, error) from error
        return cls._begin(path, manifest, secret_values, sync_every, disk)

    @classmethod
    def create_at(
        cls,
        path: Path,
        manifest: Manifest,
        *,
        secret_values: Sequence[str] | None = None,
        sync_every: float = SYNC_EVERY,
        disk: Os = REAL_OS,
    ) -> Self:
        """Make `path` itself the run folder; it must not exist, or be an empty folder.

        Arguments as for `create`.

        Raises:
            LockHeld: Another process is making a run of the same folder.
            StoreError: The folder holds something, is no folder, or cannot be written.
        """
        if path.is_symlink():
            raise StoreError(f"{path}: is a symbolic link", hint="name the folder itself")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):
                disk.mkdir(str(path), 0o755)
                sync_folder(disk, path.parent)
            _refuse_content(path)
        except OSError as error:
            raise refusal(path, error) from error
        return cls._begin(path, manifest, secret_values, sync_every, disk)

    @classmethod
    def resume(
        cls,
        path: Path,
        *,
        take_over: bool = False,
        secret_values: Sequence[str] | None = None,
        sync_every: float = SYNC_EVERY,
        disk: Os = REAL_OS,
    ) -> Self:
        """Become the owner of a run that stands still, to go on with it.

        A manifest that says `running` while nobody holds the lock becomes `crashed`; torn tails of
        earlier openings are moved aside; new samples go to a shard of their own.

        Args:
            path: The run folder.
            take_over: Also take a running run whose owner is on another host, where no lock can tell.
            secret_values: As for `create`.
            sync_every: As for `create`.
            disk: System calls.

        Raises:
            LockHeld: Another process has the run.
            VersionTooNew: A newer workbench wrote it.
            StoreError: It is no run folder, or its manifest is damaged.
        """
        _require_folder(path)
        manifest = read_manifest(path / MANIFEST_FILE)  # before the lock, which leaves a file
        lock = _lock(path)
        try:
            manifest = read_manifest(path / MANIFEST_FILE)
            here = current_owner()
            running = manifest.state is RunState.RUNNING
            if running and elsewhere(manifest.owner, here) and not take_over:
                raise LockHeld(
                    f"{held_by(path, manifest.owner).what}, which is another host",
                    hint="make sure that it has ended there, then take the run over",
                )
            sweep(path, disk=disk)
            for file in [*shard_paths(path), path / EVENTS_FILE]:
                if file.exists():
                    mend(file, disk=disk)
            folder = cls(
                path, manifest, lock=lock, gate=_gate(secret_values), sync_every=sync_every, disk=disk
            )
            folder.replace_manifest(
                state=RunState.CRASHED if running else manifest.state,
                owner=here,
                openings=manifest.openings + 1,
            )
        except BaseException:
            lock.release()
            raise
        return folder

    @classmethod
    def read(cls, path: Path) -> Self:
        """Open a run for reading only, whoever owns it; one of a newer workbench as far as understood.

        Raises:
            StoreError: It is no run folder, or its manifest is damaged.
        """
        _require_folder(path)
        manifest = read_manifest(path / MANIFEST_FILE, newer=True)
        return cls(path, manifest, lock=None, gate=Gate(), sync_every=SYNC_EVERY, disk=REAL_OS)

    @classmethod
    def _begin(
        cls,
        path: Path,
        manifest: Manifest,
        secret_values: Sequence[str] | None,
        sync_every: float,
        disk: Os,
    ) -> Self:
        for arm in manifest.plan.arms:
            check_arm_name(arm.name)
        lock = _lock(path)
        try:
            _refuse_content(path)  # another maker may have been here between the look and the lock
            manifest = replace(manifest, owner=current_owner(), openings=1)
            folder = cls(
                path, manifest, lock=lock, gate=_gate(secret_values), sync_every=sync_every, disk=disk
            )
            folder.replace_manifest()
        except BaseException:
            lock.release()
            raise
        return folder

    # --- writing, for the owner ------------------------------------------------------------------------

    def append_sample(self, sample: Sample) -> None:
        """Put a sample on record; when this returns, it survives the death of the process.

        Raises:
            StorageFull: The disk refused; everything acknowledged before is whole.
            StoreError: The folder is open for reading only, or closed.
        """
        self._require_owner()
        if self._samples is None:
            self._samples = LineWriter(
                next_shard(self.path), sync_every=self._sync_every, disk=self._disk
            )
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
            StoreError: The folder is open for reading only, or closed.
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
            StoreError: The folder is open for reading only, or closed.
        """
        self._require_owner()
        manifest = self._gate.manifest(replace(self.manifest, **changes))
        replace_file(self.path / MANIFEST_FILE, encode_manifest(manifest), disk=self._disk)
        self.manifest = manifest

    def write_fingerprint(self, fingerprint: Fingerprint, block: int) -> None:
        """Put on record what an arm was really running in a block.

        Raises:
            StorageFull: The disk refused.
            StoreError: The arm's name cannot be part of a file name, or the folder is not ours.
        """
        self._require_owner()
        path = self._fingerprint_path(fingerprint.arm, block)
        replace_file(path, encode_fingerprint(self._gate.fingerprint(fingerprint)), disk=self._disk)

    def flush(self) -> None:
        """Return once everything appended is on the disk. Raises StorageFull."""
        if self._samples is not None:
            self._samples.flush()

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
            StoreError: The folder is open for reading only, or closed.
        """
        self._require_owner()
        try:
            self._close_journal(forgiving=state is RunState.STORAGE_ERROR)
            try:
                shards = digest_shards(self.path)
            except OSError as error:
                raise refusal(self.path, error) from error
            self.replace_manifest(**{"counts": self.counts(), "shards": shards} | changes, state=state)
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

    # --- reading, for everybody ------------------------------------------------------------------------

    def samples(self) -> Iterator[Sample]:
        """Yield all samples that are whole, in the order written; the first line of a key counts."""
        return read_samples(self.path, Damage())

    def events(self) -> Iterator[RunEvent]:
        """Yield all events that are whole, in the order written."""
        return read_events(self.path, Damage())

    def counts(self) -> dict[str, Counts]:
        """Count sessions by `arm/block` from the samples, in assignment order."""
        return recount(self.samples())

    def damage(self) -> Damage:
        """Read everything and say what could not be read."""
        damage = Damage()
        for _ in read_samples(self.path, damage):
            pass
        for _ in read_events(self.path, damage):
            pass
        return damage

    def altered(self) -> tuple[str, ...]:
        """Say how the samples differ from what the manifest of a closed run vouches for; empty if not."""
        if self.manifest.state in (RunState.PLANNED, RunState.RUNNING, RunState.CRASHED):
            return ()  # nobody has vouched yet
        try:
            now = {shard.file: shard for shard in digest_shards(self.path)}
        except OSError as error:
            raise refusal(self.path, error) from error
        then = {shard.file: shard for shard in self.manifest.shards}
        wrong = [f"{file}: is missing" for file in sorted(then.keys() - now.keys())]
        wrong += [f"{file}: is not in the manifest" for file in sorted(now.keys() - then.keys())]
        wrong += [
            f"{file}: differs from its digest"
            for file in sorted(then)
            if now.get(file, then[file]) != then[file]
        ]
        counts, recorded = self.counts(), self.manifest.counts
        if counts != recorded or any(counts[key].order != recorded[key].order for key in counts):
            wrong.append("the counts in the manifest are not those of the samples")
        return tuple(wrong)

    def fingerprint(self, arm: str, block: int) -> Fingerprint:
        """Read back what an arm was running in a block. Raises StoreError when it is not on record."""
        return read_fingerprint(self._fingerprint_path(arm, block), newer=self._lock is None)

    # --- inside ----------------------------------------------------------------------------------------

    def _fingerprint_path(self, arm: str, block: int) -> Path:
        return self.path / f"fingerprint-{check_arm_name(arm)}-{block}.json"

    def _require_owner(self) -> None:
        if self._lock is None:
            raise StoreError(f"{self.path}: is open for reading only, or closed")

    def _close_journal(self, *, forgiving: bool) -> None:
        for writer in (self._samples, self._events):
            if writer is None:
                continue
            try:
                writer.close()
            except StoreError:
                if not forgiving:  # a run that ends for want of disk has said so already
                    raise


def _gate(secret_values: Sequence[str] | None) -> Gate:
    if secret_values is None:
        return Gate.of_process()
    return Gate(tuple(sorted(secret_values, key=lambda value: -len(value))))


def _lock(path: Path) -> RunLock:
    try:
        return RunLock(path)
    except LockHeld as error:
        try:
            owner = read_manifest(path / MANIFEST_FILE, newer=True).owner
        except StoreError:
            owner = None
        raise held_by(path, owner) from error


def _require_folder(path: Path) -> None:
    if path.is_symlink():
        raise StoreError(f"{path}: is a symbolic link", hint="name the run folder itself")
    if not path.is_dir():
        raise StoreError(f"{path}: is no folder" if path.exists() else f"{path}: there is no such run")


def _refuse_content(path: Path) -> None:
    """Accept what a maker leaves that was killed before its first manifest, and nothing else."""
    for entry in path.iterdir():
        leftover = entry.name == LOCK_FILE or (entry.name.startswith(".") and entry.suffix == ".tmp")
        if not leftover:
            raise StoreError(f"{path}: is not empty", hint="name a new or an empty folder")
