"""A campaign, followed: read again when a person, an agent or a run has changed one of its files."""

from __future__ import annotations

from pathlib import Path

from workbench.campaign.registry import Campaign
from workbench.model.registry import Registry
from workbench.model.run import RunState
from workbench.store.stamps import Stamp, stamp

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
