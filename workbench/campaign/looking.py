"""One run, looked at by its folder, whoever owns it and whether or not it lies in a campaign."""

from __future__ import annotations

from pathlib import Path

from workbench.campaign import running
from workbench.campaign.failures import failures_in
from workbench.errors import UsageError
from workbench.model.columns import Columns
from workbench.model.progress import Snapshot
from workbench.model.registry import Failure
from workbench.store.campaignfiles import find_root
from workbench.store.view import RunView


def snapshot(path: Path) -> Snapshot:
    """Judge a run anew from what it recorded.

    Args:
        path: Its folder.

    Raises:
        StoreError: It cannot be read, or an earlier run that it goes on from is missing.
    """
    return running.look(RunView.read(path))


def failures(path: Path) -> list[Failure]:
    """Give what was not clean in a run, by kind; raises StoreError."""
    return failures_in(RunView.read(path))


def exchanges(path: Path) -> Columns:
    """Give its exchanges as columns; remembered if it lies in a campaign. Raises StoreError."""
    from workbench.store.columncache import columns
    from workbench.store.columns import read_columns

    try:
        root = find_root(path.resolve().parent)
    except UsageError:
        return read_columns(path)
    return columns(root, path)
