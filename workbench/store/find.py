"""Run folders under a folder: listed oldest first, and found by path, id or start of an id."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from workbench.errors import StoreError, UsageError
from workbench.model.ids import RUN_ID
from workbench.model.run import Manifest
from workbench.store.atomic import is_temporary
from workbench.store.documents import read_manifest
from workbench.store.lock import LOCK_FILE
from workbench.store.view import MANIFEST_FILE

_SHORTEST_PREFIX = 4


@dataclass(frozen=True, slots=True)
class Listed:
    """One run folder of a list.

    Attributes:
        path: The folder.
        manifest: Its manifest, None when that cannot be read.
        problem: Why it cannot; None when all is well.
    """

    path: Path
    manifest: Manifest | None
    problem: StoreError | None = None


def list_runs(parent: Path) -> Iterator[Listed]:
    """Yield the run folders under `parent`, oldest first; one that is damaged hides no other."""
    for path in _run_folders(parent):
        try:
            yield Listed(path, read_manifest(path / MANIFEST_FILE, newer=True))
        except StoreError as error:
            yield Listed(path, None, error)


def find_run(run: str, parent: Path) -> Path:
    """Resolve what a user names a run by: path, id, or unique start of an id or of its random part.

    Raises:
        UsageError: Nothing, or more than one run, goes by that name.
    """
    # A bare word is an id before it is a path, so that a stray folder in the way cannot shadow a run.
    matches = [path for path in _run_folders(parent) if _goes_by(path.name, run)]
    if run in {path.name for path in matches}:
        return parent / run
    if run and holds_run(Path(run)):
        return Path(run)
    if len(matches) == 1:
        return matches[0]
    if matches:
        names = ", ".join(path.name for path in matches[:3])
        raise UsageError(
            f"{run}: {len(matches)} runs go by that name ({names}, ...)", hint="give more of the id"
        )
    raise UsageError(
        f"{run!r}: no such run under {parent}", hint="give a folder, an id or the start of one"
    )


def has_begun(path: Path) -> bool:
    """Whether a run folder holds more than a maker leaves who was stopped before the first manifest."""
    try:
        names = [entry.name for entry in path.iterdir()]
    except OSError:  # whoever reads it says why
        return True
    return any(name != LOCK_FILE and not is_temporary(name) for name in names)


def holds_run(path: Path) -> bool:
    """Whether a path is the folder of a run whose plan is on record."""
    try:
        return (path / MANIFEST_FILE).is_file()
    except (OSError, ValueError):  # no path at all: too long, or with a NUL in it
        return False


def _goes_by(name: str, run: str) -> bool:
    if len(run) < _SHORTEST_PREFIX:
        return False
    random_part = name.partition("-")[2]
    return name.startswith(run) or random_part.startswith(run)


def _run_folders(parent: Path) -> list[Path]:
    try:
        return sorted(
            path for path in parent.iterdir() if RUN_ID.fullmatch(path.name) and not path.is_symlink()
        )
    except OSError:  # no folder of runs is a folder without runs
        return []
