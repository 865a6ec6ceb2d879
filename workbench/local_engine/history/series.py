"""The series: commits as they are declared, and the tree of each, derived from the shipped tree.

`series.toml` lists commits, oldest first:

    [authors]
    otter = "Otter <otter@minisgl.example>"

    [[commit]]
    name = "fp8-keys"                     # its patch, if it has one: patches/03-fp8-keys.patch
    author = "otter"
    date = 2026-02-03T10:00:00+01:00
    message = "indexer: store keys as fp8"
    adds = ["minisgl/layers/*.py"]        # these files appear here, as they are in the next tree
    tags = ["v0.2"]

A commit stands on the one listed before it. One with `on = "NAME"` stands on NAME instead and is not
on the main line; branches of several commits are a chain of such. One with `merges = "NAME"` brings
such a chain to the main line; it has no patch of its own. `branches` and `tags` name refs; `main` is
the last commit of the main line, and its tree is the shipped tree.

That is the source of truth: walking back from it, the patch of each commit is undone. Off the main
line patches are applied forward. So a fix to the engine reaches every commit that has the code it
fixes, and a patch that no longer fits, or fits another text than it was made for, is an error.
"""

from __future__ import annotations

import fnmatch
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from . import patch
from .patch import FilePatch, PatchError, Tree

MAIN = "main"


class SeriesError(ValueError):
    """The series contradicts itself, or no longer fits the shipped tree."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Commit:
    """A commit as it is declared.

    Attributes:
        name: Its name in the series; not part of the history that is built.
        author: Name and address, as git writes them; the committer is the same.
        date: When, with the offset of its author's zone.
        message: Subject, empty line, body.
        adds: Patterns of the files that appear with this commit.
        on: Name of its parent if that is not the commit before it on the main line.
        merges: Name of the last commit of the branch that it merges.
        branches: Branches whose tip it is.
        tags: Lightweight tags on it.
    """

    name: str
    author: str
    date: datetime
    message: str
    adds: tuple[str, ...] = ()
    on: str = ""
    merges: str = ""
    branches: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Series:
    """All commits, oldest first, and their patches.

    Attributes:
        commits: Each after its parents.
        patches: Patch of each commit that has one, by name, as text.
    """

    commits: tuple[Commit, ...]
    patches: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [commit.name for commit in self.commits]
        if not self.main_line:
            raise SeriesError("the series has no commit")
        for place, commit in enumerate(self.commits):
            before = names[:place]
            if commit.name in before:
                raise SeriesError(f"{commit.name}: listed twice")
            for parent in filter(None, (commit.on, commit.merges)):
                if parent not in before:
                    raise SeriesError(f"{commit.name}: {parent!r} is not listed before it")
            if commit.merges and (commit.on or commit.adds or commit.name in self.patches):
                raise SeriesError(f"{commit.name}: a merge stands on the main line and changes nothing")
        if unknown := self.patches.keys() - set(names):
            raise SeriesError(f"patches of no commit: {', '.join(sorted(unknown))}")

    @property
    def main_line(self) -> tuple[Commit, ...]:
        """The commits of the main line, oldest first."""
        return tuple(commit for commit in self.commits if not commit.on)

    def __getitem__(self, name: str) -> Commit:
        return next(commit for commit in self.commits if commit.name == name)

    def parents(self, commit: Commit) -> tuple[str, ...]:
        """Names of the parents of a commit, the first one first."""
        if commit.on:
            return (commit.on,)
        line = [other.name for other in self.main_line]
        before = line[: line.index(commit.name)][-1:]
        return (*before, commit.merges) if commit.merges else tuple(before)

    def branch(self, tip: str) -> tuple[Commit, ...]:
        """Commits from the main line to `tip`, oldest first; none if `tip` is on it, or empty."""
        chain: list[Commit] = []
        while tip and (commit := self[tip]).on:
            chain.append(commit)
            tip = commit.on
        return tuple(reversed(chain))

    def patch_file(self, name: str) -> str:
        """Give the name of the file that holds the patch of a commit."""
        place = [commit.name for commit in self.commits].index(name) + 1
        return f"{place:02}-{name}.patch"


def read(folder: Path, *, numbered: bool = True) -> Series:
    """Read `series.toml` and `patches/` of a folder.

    Args:
        folder: Where they are.
        numbered: Hold the numbers of the patches to the order of the series.

    Raises:
        SeriesError: Something is missing, unknown or out of place.
    """
    data = tomllib.loads((folder / "series.toml").read_text(encoding="utf-8"))
    authors = data.get("authors", {})
    commits = tuple(_commit(entry, authors) for entry in data.get("commit", ()))
    files = sorted((folder / "patches").glob("*.patch"))
    patches = {file.stem.partition("-")[2]: file.read_text(encoding="utf-8") for file in files}
    series = Series(commits=commits, patches=patches)
    for file in files:
        expected = series.patch_file(file.stem.partition("-")[2])
        if numbered and file.name != expected:
            raise SeriesError(f"{file.name}: by its place in the series it is {expected}")
    return series


def _commit(entry: dict[str, Any], authors: Mapping[str, str]) -> Commit:
    name = entry.get("name", "?")
    lists = {key: tuple(entry.pop(key, ())) for key in ("adds", "branches", "tags")}
    date = entry.get("date")
    if not isinstance(date, datetime) or date.tzinfo is None:
        raise SeriesError(f"{name}: date must have a time and a zone, not {date}")
    try:
        return Commit(**{**entry, **lists, "author": authors[entry["author"]]})
    except (KeyError, TypeError) as error:
        raise SeriesError(f"{name}: author, or a field, missing or unknown: {error}") from None


def trees(series: Series, shipped: Tree, *, exact: bool = True) -> dict[str, dict[str, str]]:
    """Derive the tree of every commit.

    Args:
        series: The commits and their patches.
        shipped: The tree of the tip of the main line.
        exact: Hold every text to the blob ids of the patches.

    Raises:
        SeriesError: A patch does not fit, with its file; or a file is not accounted for.
    """
    back = walk_back(series, shipped, exact=exact)
    result = {commit.name: tree for commit, tree in back if not commit.on}
    for commit in series.commits:
        if commit.on:
            result[commit.name] = forward(series, commit, result[commit.on], exact=exact)
    return result


def walk_back(
    series: Series, shipped: Tree, *, exact: bool = True
) -> Iterator[tuple[Commit, dict[str, str]]]:
    """Give each commit of the main line, newest first, and its tree; see `trees`.

    After a merge come the commits that it brought, each with the tree that the main line has with it
    and without the later ones. A tree needs neither the patch of its own commit nor an older one.
    """
    tree = dict(shipped)
    for commit in reversed(series.main_line):
        yield commit, tree
        if not commit.merges:
            tree = _undo(series, commit, tree, exact=exact)
            continue
        for step in reversed(series.branch(commit.merges)):
            yield step, tree
            # on the main line the branch meets other texts than it was made on
            tree = _undo(series, step, tree, exact=False)
    if tree:
        raise SeriesError(f"added by no commit: {', '.join(sorted(tree))}")


def forward(series: Series, commit: Commit, tree: Tree, *, exact: bool = True) -> dict[str, str]:
    """Give the tree of a commit from its parent's, by its patch."""
    return _apply(series, commit, tree, _patch(series, commit), exact=exact)


def _undo(series: Series, commit: Commit, tree: Tree, *, exact: bool) -> dict[str, str]:
    """Give the tree before a commit: its patch undone, then the files that it adds taken away."""
    before = _apply(series, commit, tree, patch.reverse(_patch(series, commit)), exact=exact)
    for pattern in commit.adds:
        added = fnmatch.filter(before, pattern)
        if not added:
            raise SeriesError(f"{commit.name}: adds {pattern}, which is no file here")
        for path in added:
            del before[path]
    return before


def _patch(series: Series, commit: Commit) -> tuple[FilePatch, ...]:
    try:
        return patch.parse(series.patches.get(commit.name, ""))
    except PatchError as error:
        raise SeriesError(f"patches/{series.patch_file(commit.name)}: {error}") from None


def _apply(
    series: Series, commit: Commit, tree: Tree, steps: Iterable[FilePatch], *, exact: bool
) -> dict[str, str]:
    try:
        return patch.apply(tree, steps, exact=exact)
    except PatchError as error:
        raise SeriesError(f"patches/{series.patch_file(commit.name)}: {error}") from None


def changed(old: Tree, new: Tree) -> Iterator[str]:
    """Give the paths whose text differs, or that only one of the trees has, in order."""
    return (path for path in sorted(old.keys() | new.keys()) if old.get(path) != new.get(path))
