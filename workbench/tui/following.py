"""A thread that reads the campaign again when a file changes, and tells the application."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from workbench.campaign.following import Follower
from workbench.errors import WorkbenchError
from workbench.model.registry import Registry

EVERY = 0.25  # seconds between two looks, so that no more than four changes a second are drawn


class Following:
    """Follows a campaign until it is stopped.

    Args:
        root: The campaign's folder.
        registry: As it was read last.
        changed: Called with the campaign, in the follower's thread.
        failed: Called when it cannot be read, likewise; it is tried again when something changes.
    """

    def __init__(
        self,
        root: Path,
        registry: Registry,
        changed: Callable[[Registry], None],
        failed: Callable[[WorkbenchError], None],
    ) -> None:
        self._follower = Follower(root, registry)
        self._changed = changed
        self._failed = failed
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="following", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End; what is being read is not told any more."""
        self._stop.set()

    def _follow(self) -> None:
        while not self._stop.wait(EVERY):
            try:
                registry = self._follower.look()
            except WorkbenchError as error:
                self._failed(error)
                continue
            if registry is not None and not self._stop.is_set():
                self._changed(registry)
