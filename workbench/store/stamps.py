"""Whether anything in a campaign's folder has changed, from what the file system says of it alone.

A follower asks several times a second, so no file is opened but the manifest of a run that is going on:
only that tells which process has it, and whether that process still lives.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from workbench.errors import StoreError
from workbench.store.documents import read_manifest
from workbench.store.layout import CAMPAIGN_FILE, HYPOTHESES, RUNS
from workbench.store.lock import is_alive
from workbench.store.view import MANIFEST_FILE

Stamp = tuple[tuple[str, int, int, int], ...]
"""Name, time, size and inode of each file; equal stamps are an unchanged campaign."""


def stamp(root: Path, running: Iterable[str] = ()) -> Stamp:
    """Look at a campaign's files and give what a second look is compared with.

    A run that begins or goes away changes the folder of runs. One that has ended changes no more, so
    only those that are going on are looked at one by one.

    Args:
        root: The campaign's folder.
        running: Folders of the runs that are going on, relative to it.
    """
    found = [_of(root / CAMPAIGN_FILE), _of(root / RUNS), *_files(root / HYPOTHESES)]
    for folder in running:
        found += [_of(root / folder / MANIFEST_FILE), _owner(root / folder)]
    return tuple(found)


def run_stamp(folder: Path) -> Stamp:
    """Look at the files of one run, its journal included."""
    return (*_files(folder), _owner(folder))


def _files(folder: Path) -> Iterator[tuple[str, int, int, int]]:
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries)
    except OSError:  # a campaign without suspects has no such folder yet
        return
    for name in names:
        yield _of(folder / name)


def _of(path: Path) -> tuple[str, int, int, int]:
    try:
        found = path.stat()
    except OSError:
        return path.name, 0, 0, 0
    return path.name, found.st_mtime_ns, found.st_size, found.st_ino


def _owner(folder: Path) -> tuple[str, int, int, int]:
    """Tell whether the process that has a run still lives: it may end and change no file."""
    alive = False
    with suppress(StoreError):
        alive = is_alive(read_manifest(folder / MANIFEST_FILE, newer=True).owner)
    return folder.name, int(alive), 0, 0
