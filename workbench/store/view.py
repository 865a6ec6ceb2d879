"""A run as anybody may read it, whoever owns it: no lock is taken and nothing is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from workbench.errors import StoreError
from workbench.model.outcome import Counts
from workbench.model.run import Fingerprint, Manifest, RunEvent, RunState, Sample
from workbench.model.start import Start
from workbench.store.damage import Damage
from workbench.store.documents import read_fingerprint, read_manifest
from workbench.store.journal import digest_shards, read_events, read_samples, recount
from workbench.store.names import check_arm_name

MANIFEST_FILE = "manifest.json"
_UNVOUCHED = (RunState.PLANNED, RunState.RUNNING, RunState.CRASHED)


class RunView:
    """The records of one run.

    Attributes:
        path: The run folder.
        manifest: The manifest as last read or written.
    """

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest

    @staticmethod
    def read(path: Path) -> RunView:
        """Open a run for reading only; one of a newer workbench as far as it is understood.

        Raises:
            VersionTooNew: A newer workbench wrote it and too little is understood.
            StoreError: It is no run folder, or its manifest is damaged.
        """
        require_folder(path)
        return RunView(path, read_manifest(path / MANIFEST_FILE, newer=True))

    def samples(self) -> Iterator[Sample]:
        """Yield the samples that count, session by session; those of sessions under way come last."""
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
        """Say how the samples differ from what the manifest vouches for; nothing while it does not."""
        if self.manifest.state in _UNVOUCHED:
            return ()
        now = {shard.file: shard for shard in digest_shards(self.path)}
        then = {shard.file: shard for shard in self.manifest.shards}
        wrong = [f"{file}: is missing" for file in sorted(then.keys() - now.keys())]
        wrong += [f"{file}: is not in the manifest" for file in sorted(now.keys() - then.keys())]
        both = sorted(then.keys() & now.keys())
        wrong += [f"{file}: differs from its digest" for file in both if now[file] != then[file]]
        if _spelled_out(self.counts()) != _spelled_out(self.manifest.counts):
            wrong.append("the counts in the manifest are not those of the samples")
        return tuple(wrong)

    def fingerprint(self, arm: str, block: int) -> Fingerprint:
        """Give what an arm was running in a block. Raises StoreError when it is not on record."""
        return read_fingerprint(self._fingerprint_path(arm, block), newer=True)

    def fingerprints(self) -> Iterator[Fingerprint]:
        """Yield what was read back of every start, ordered by block; unreadable ones are left out."""
        found = []
        for path in self.path.glob("fingerprint-*.json"):
            with suppress(StoreError):
                found.append(read_fingerprint(path, newer=True))
        started = [(each.start, each) for each in found if each.start is not None]
        for _, each in sorted(
            started, key=lambda pair: (pair[0].opening, pair[0].block, pair[0].number)
        ):
            yield each

    def _fingerprint_path(self, arm: str, block: int, start: Start | None = None) -> Path:
        """Name the file; a further start of an arm in a block has opening and number beside it."""
        again = start is not None and (start.opening, start.number) != (1, 1)
        more = f".{start.opening}.{start.number}" if start is not None and again else ""
        return self.path / f"fingerprint-{check_arm_name(arm)}-{block}{more}.json"


def require_folder(path: Path) -> None:
    """Raise StoreError unless `path` is a folder, and not by way of a symbolic link."""
    if path.is_symlink():
        raise StoreError(f"{path}: is a symbolic link", hint="name the run folder itself")
    if not path.is_dir():
        raise StoreError(f"{path}: is no folder" if path.exists() else f"{path}: there is no such run")


def _spelled_out(counts: Mapping[str, Counts]) -> dict[str, tuple[Counts, str]]:
    """Counts with their order, which their equality leaves out."""
    return {place: (count, count.order) for place, count in counts.items()}
