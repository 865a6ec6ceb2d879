"""All runs of a campaign as lines of a list, from a cache where nothing has changed since.

A manifest is read once for each state it was in. What it said is kept in `.workbench/runs.index`, by
name, time, size and inode of the manifest. The cache may be deleted or damaged at any time: the
manifests are the truth, and a cache that says something else is not believed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import msgspec

from workbench._version import __version__
from workbench.errors import StoreError
from workbench.model.event import Event, Renumbered
from workbench.model.ids import RUN_ID
from workbench.model.outcome import Counts
from workbench.model.registry import RunLine
from workbench.model.run import Manifest, Owner, RunState
from workbench.store.atomic import replace_file
from workbench.store.documents import read_manifest
from workbench.store.find import has_begun
from workbench.store.layout import RUNS, WORK, work_folder
from workbench.store.lock import is_alive
from workbench.store.mentions import new_names
from workbench.store.view import MANIFEST_FILE

INDEX_FILE = "runs.index"
_SETTLED = 2 * 10**9  # ns; a younger manifest may be replaced again within one tick of the clock
_RUNNING = RunState.RUNNING


class _Entry(msgspec.Struct, array_like=True, frozen=True):
    """What was found of one run: stamp of its manifest, its line, its owner while it runs."""

    stamp: tuple[int, int, int]
    line: RunLine
    owner: Owner | None = None


class _Index(msgspec.Struct, array_like=True):
    """The cache; one of another version of the workbench is not used."""

    version: str
    runs: dict[str, _Entry]


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Index).decode


def run_lines(root: Path) -> tuple[RunLine, ...]:
    """List the runs of a campaign, oldest first.

    A run that cannot be read says why in its `problem` and hides no other. One that says `running`
    while its owner is gone is given as crashed; its manifest says so once somebody opens it.

    Args:
        root: The campaign's folder.
    """
    cached = _load(root)
    now = time.time_ns()
    fresh: dict[str, _Entry] = {}
    lines: list[RunLine] = []
    changed = False
    for name, path in _folders(root / RUNS):
        stamp = _stamp(path)
        entry = cached.get(name)
        if entry is None or entry.stamp != stamp:
            entry = _read(name, Path(path), stamp)
            if entry.line.problem or now - stamp[0] < _SETTLED:
                lines.append(_as_it_stands(entry))
                continue
            changed = True
        fresh[name] = entry
        lines.append(_as_it_stands(entry))
    if changed or len(fresh) != len(cached):
        _save(root, fresh)
    return tuple(sorted(lines, key=_age))


def _age(line: RunLine) -> tuple[str, float, str]:
    """Order runs by the second in their name; those of one second by what their manifests say."""
    second = line.id.partition("-")[0]
    return second, line.created.timestamp() if line.created else 0.0, line.id


def under_new_ids(lines: Iterable[RunLine], events: Iterable[Event]) -> tuple[RunLine, ...]:
    """Give runs with the ids that their hypotheses have since a renumbering.

    Args:
        lines: As `run_lines` gives them.
        events: The log in its order.
    """
    changes = [event for event in events if isinstance(event.body, Renumbered)]
    return tuple(_renamed(line, changes) if line.hypotheses else line for line in lines)


def _renamed(line: RunLine, changes: list[Event]) -> RunLine:
    now = new_names(changes, line.id, line.hypotheses)
    if now == line.hypotheses:
        return line
    names = dict(zip(line.hypotheses, now, strict=True))
    planned = {names[name]: digest for name, digest in line.planned.items()}
    return replace(line, hypotheses=now, planned=planned)


def _folders(parent: Path) -> list[tuple[str, str]]:
    try:
        with os.scandir(parent) as entries:
            found = [(entry.name, entry.path) for entry in entries if _holds_run(entry)]
    except OSError:  # no folder of runs is a campaign without runs
        return []
    return sorted(found)


def _holds_run(entry: os.DirEntry[str]) -> bool:
    return bool(RUN_ID.fullmatch(entry.name)) and not entry.is_symlink()


def _stamp(path: str) -> tuple[int, int, int]:
    try:
        found = os.stat(f"{path}/{MANIFEST_FILE}", follow_symlinks=False)  # noqa: PTH116
    except OSError:
        return 0, 0, 0
    return found.st_mtime_ns, found.st_size, found.st_ino


def _read(name: str, path: Path, stamp: tuple[int, int, int]) -> _Entry:
    short = f"{RUNS}/{name}"
    try:
        manifest = read_manifest(path / MANIFEST_FILE, newer=True)
    except StoreError as error:
        never = f"{short}: was never begun; its maker was stopped before the plan was on record"
        what = str(error).replace(str(path), short) if has_begun(path) else never
        return _Entry(stamp, RunLine(id=name, path=short, problem=what))
    owner = manifest.owner if manifest.state is _RUNNING else None
    return _Entry(stamp, _line(short, manifest), owner)


def _line(path: str, manifest: Manifest) -> RunLine:
    counts: dict[str, Counts] = {}
    for place, found in manifest.counts.items():
        arm = place.rpartition("/")[0]
        counts[arm] = counts[arm] + found if arm in counts else replace(found, order="")
    return RunLine(
        id=manifest.id,
        path=path,
        command=manifest.command,
        state=manifest.state,
        hypotheses=tuple(dict.fromkeys(served.hypothesis for served in manifest.serves)),
        planned={served.hypothesis: served.sha256 for served in manifest.serves},
        created=manifest.created,
        seconds=manifest.seconds,
        counts=counts,
    )


def _as_it_stands(entry: _Entry) -> RunLine:
    if entry.owner is None or is_alive(entry.owner):
        return entry.line
    return replace(entry.line, state=RunState.CRASHED)


def _load(root: Path) -> Mapping[str, _Entry]:
    with suppress(OSError, ValueError, RecursionError):
        path = root / WORK / INDEX_FILE
        index = _decode(path.read_bytes())
        if index.version == __version__:
            return index.runs
    return {}


def _save(root: Path, runs: dict[str, _Entry]) -> None:
    with suppress(StoreError):  # where nothing can be written, lists are slower and no less right
        path = work_folder(root) / INDEX_FILE
        replace_file(path, _encode(_Index(__version__, runs)))
