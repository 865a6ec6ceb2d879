"""One run, looked at by its folder, whoever owns it and whether or not it lies in a campaign."""

from __future__ import annotations

from pathlib import Path

from workbench.campaign import running
from workbench.campaign.failures import failures_in
from workbench.conduct.books import Books
from workbench.conduct.earlier import Past
from workbench.errors import UsageError
from workbench.judge.docket import Docket, Work
from workbench.model.columns import Columns
from workbench.model.course import Course
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


def course(path: Path) -> Course:
    """Judge a run anew, and keep what was judged after each block.

    Args:
        path: Its folder.

    Raises:
        StoreError: It cannot be read, or an earlier run that it goes on from is missing.
    """
    view = RunView.read(path)
    manifest = view.manifest
    books = Books(manifest.plan)
    books.recall(view.samples())
    beginning = Past(path.parent).beginning(manifest.plan, manifest.serves)
    docket = Docket(manifest.plan, books.tally, beginning)
    judgements = {}
    for step in docket.steps():
        if isinstance(step, Work):
            break
        judgements[step.block] = docket.jury.judgements
    counts = {}
    for place, found in view.counts().items():
        arm, _, block = place.rpartition("/")
        counts[int(block), arm] = found
    return Course(
        run=manifest.id,
        plan=manifest.plan,
        counts=counts,
        judgements=judgements,
        problems=(*view.altered(), *view.damage()),
    )


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
