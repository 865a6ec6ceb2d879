"""A campaign or one of its runs, followed: read again when one of the files has changed."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from workbench.campaign import running
from workbench.campaign.registry import Campaign
from workbench.model.ids import SessionKey
from workbench.model.outcome import Status
from workbench.model.progress import Snapshot
from workbench.model.registry import Failure, Registry
from workbench.model.run import RunState
from workbench.store import RunView
from workbench.store.stamps import Stamp, run_stamp, stamp

_GOING_ON = (RunState.PLANNED, RunState.RUNNING)


class Follower:
    """Tells of changes; not to be shared between threads.

    Args:
        root: The campaign's folder.
        registry: As it was read last, None to read it at the first look.
    """

    def __init__(self, root: Path, registry: Registry | None = None) -> None:
        self._root = root
        self._running = _running(registry) if registry else ()
        self._seen: Stamp | None = stamp(root, self._running) if registry else None

    def look(self) -> Registry | None:
        """Give the campaign if anything in it has changed since the last look, else None.

        A change that comes while the files are read shows at the next look: the stamp is older.
        """
        now = stamp(self._root, self._running)
        if now == self._seen:
            return None
        registry = Campaign(self._root).registry
        running = _running(registry)
        self._seen = now if running == self._running else None  # other files count from now on
        self._running = running
        return registry


def _running(registry: Registry) -> tuple[str, ...]:
    return tuple(run.path for run in registry.runs if run.state in _GOING_ON)


class RunFollower:
    """Tells of changes of one run; not to be shared between threads.

    Args:
        root: The campaign's folder.
        run: Its id.
    """

    def __init__(self, root: Path, run: str) -> None:
        self._path = Campaign(root).run_folder(run)
        self._seen: Stamp | None = None

    def look(self) -> Snapshot | None:
        """Give the run judged anew from its record if that has grown, else None.

        Raises:
            StoreError: It cannot be read.
        """
        now = run_stamp(self._path)
        if now == self._seen:
            return None
        self._seen = now
        view = RunView.read(self._path)
        found = running.look(view)
        if view.manifest.state is not RunState.RUNNING:
            return found
        since = datetime.now(UTC) - view.manifest.created
        return replace(found, in_flight=_under_way(view), seconds=since.total_seconds())


def _under_way(view: RunView) -> int:
    """Count the sessions that have begun and not ended, as far as the journal tells.

    One that has not got its first reply yet is not in it.
    """
    last: dict[SessionKey, bool] = {}
    for sample in view.samples():
        last[sample.exchange.key.session] = sample.exchange.last
    return sum(not ended for ended in last.values())


def last_failures(root: Path, run: str, most: int) -> tuple[Failure, ...]:
    """Give the newest exchanges of a run that were not clean, each by itself, the newest first."""
    view = RunView.read(Campaign(root).run_folder(run))
    found: deque[Failure] = deque(maxlen=most)
    for sample in sorted(view.samples(), key=lambda sample: sample.at):
        if sample.status is not Status.CLEAN:
            key = sample.exchange.key
            found.append(
                Failure(
                    run=view.manifest.id,
                    arm=key.session.arm,
                    label=f"{sample.label.word} ({sample.label.rule})",
                    signature=sample.label.signature,
                    times=1,
                    key=str(key),
                    text=sample.exchange.text,
                )
            )
    return tuple(reversed(found))
