"""Keeps patches in step with the engine: `python -m workbench.local_engine.history.refresh`.

After an edit of the engine that leaves the patched places alone, this is all there is to do: the
patches are applied wherever their lines have moved to, and written anew with new places and blob ids.
`--check` writes nothing and exits 1 if something would be.

When a hunk no longer fits, or a commit is new, a person has to say what the past looked like:

    refresh --begin NAME DIR     write the tree to start from to DIR, and edit it
    refresh --record NAME DIR    make the patch of NAME from what DIR is now, and re-roll the rest

On the main line DIR begins as the tree of commit NAME and has to become the tree before it (files that
the series lists under `adds` stay); so it is with a branch that is merged, seen from the merge. On
other branches DIR begins as the parent's tree and has to become that of NAME.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from . import patch, shipped
from . import series as declared
from .patch import PatchError, Tree
from .series import Series, SeriesError


def refresh(series: Series, tree: Tree) -> Series:
    """Give the series with its patches written anew for a tree that they still fit.

    Args:
        series: The commits and their patches.
        tree: The tree of the tip of the main line.

    Raises:
        SeriesError: A patch does not fit.
    """
    every = declared.trees(series, tree, exact=False)
    fresh: dict[str, str] = {}
    for name, text in series.patches.items():
        if parent := series[name].on:
            fresh[name] = patch.render(every[parent], every[name])
        else:
            before = patch.apply(every[name], patch.reverse(patch.parse(text)), exact=False)
            fresh[name] = patch.render(before, every[name])
    return replace(series, patches=fresh)


def begin(series: Series, name: str, tree: Tree) -> Tree:
    """Give the tree that the patch of commit `name` is made against; its own patch is not needed.

    Raises:
        SeriesError: A patch that leads there does not fit.
    """
    chain = series.branch(name)
    fork = chain[0].on if chain else name
    for commit, found in declared.walk_back(series, tree, exact=False):
        if commit.name == name:
            return found
        if commit.name == fork:
            break
    for commit in chain[:-1]:
        found = declared.forward(series, commit, found, exact=False)
    return found


def record(series: Series, name: str, tree: Tree, edited: Tree) -> Series:
    """Give the series with the patch of commit `name` made from what `begin` gave and became."""
    start = begin(series, name, tree)
    merged = {step.name for commit in series.commits for step in series.branch(commit.merges)}
    back = name in merged or not series[name].on
    text = patch.render(edited, start) if back else patch.render(start, edited)
    return replace(series, patches={**series.patches, name: text})


def stale(series: Series, folder: Path) -> list[Path]:
    """Give the patch files of a folder that differ from the series, or are not of it."""
    wanted = _files(series, folder)
    found = {file: file.read_text(encoding="utf-8") for file in folder.glob("patches/*.patch")}
    return sorted(file for file in wanted.keys() | found.keys() if wanted.get(file) != found.get(file))


def save(series: Series, folder: Path) -> list[Path]:
    """Bring the patch files of a folder in step with the series, and give those that changed."""
    changed = stale(series, folder)
    wanted = _files(series, folder)
    for file in changed:
        if file in wanted:
            file.write_text(wanted[file], encoding="utf-8")
        else:
            file.unlink()
    return changed


def _files(series: Series, folder: Path) -> dict[Path, str]:
    patches = folder / "patches"
    return {patches / series.patch_file(name): text for name, text in series.patches.items() if text}


def main(arguments: list[str] | None = None) -> int:
    """Run the command and give its exit code."""
    parser = argparse.ArgumentParser(prog="refresh", description="Keep the patches in step.")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="write nothing; exit 1 if patches are stale")
    what.add_argument("--begin", nargs=2, metavar=("NAME", "DIR"), help="write the tree to edit")
    what.add_argument("--record", nargs=2, metavar=("NAME", "DIR"), help="make the patch from it")
    options = parser.parse_args(arguments)
    try:
        return _run(options)
    except (SeriesError, PatchError) as error:
        sys.stderr.write(f"refresh: {error}\n")
        return 2


def _run(options: argparse.Namespace) -> int:
    series = declared.read(shipped.HERE, numbered=False)
    tree = shipped.tree()
    if options.begin:
        name, folder = options.begin
        shipped.write(begin(series, name, tree), Path(folder))
        return 0
    if options.record:
        name, folder = options.record
        series = record(series, name, tree, shipped.read(Path(folder)))
    fresh = refresh(series, tree)
    changed = stale(fresh, shipped.HERE) if options.check else save(fresh, shipped.HERE)
    sys.stdout.writelines(f"{file.name}\n" for file in changed)
    return int(options.check and bool(changed))


if __name__ == "__main__":
    raise SystemExit(main())
