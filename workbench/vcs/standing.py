"""Where commits stand in a tree: whether what they changed is there, who took it back, what is safe.

Content decides. A commit is held file by file against the tree of another one, its renames followed; a
message counts for nothing here, and `reverts` says who it was and how one can tell. Where this history
does not have a commit but one that changes the very same lines, a cherry-pick, that one stands for it.

Everything is tried in scratch files: the work tree, the index, refs and stashes of the repository are
neither changed nor locked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from workbench.errors import GitError
from workbench.model.commits import CommitStanding, FileStanding, Match, Presence, Undoing
from workbench.vcs import changes, entries, history
from workbench.vcs.entries import Entry, Touched
from workbench.vcs.filestanding import file_held
from workbench.vcs.later import READ, Later, later
from workbench.vcs.presence import REVERTED, Held, altogether
from workbench.vcs.repository import Repository

_FILES = 300  # of one commit that are looked at
_PICKS = 500  # commits among which a cherry-pick is looked for
_WHOLE = 0.9  # coverage of a revert that took all of it back
_TOO_LONG = f"more than {READ} later commits touched a file; what of the older ones is lost is not told"
_TOO_MANY = f"it changes more than {_FILES} files; the others were not looked at"


class Reverts(Protocol):
    """What can tell who took back what; `vcs.reverts` has the one that there is."""

    def by(self, sha: str) -> Undoing | None:
        """Say what a commit takes back; None if it takes back nothing and does not say so."""

    def of(self, sha: str, at: str) -> tuple[Match, ...]:
        """Name commits reachable from `at` that took a commit back, oldest first."""

    def remade(self, sha: str, at: str) -> tuple[Match, ...]:
        """Name commits that made it again after that."""


def standing(repository: Repository, reverts: Reverts, named: str, at: str) -> CommitStanding:
    """Say where a commit stands.

    Args:
        repository: Where.
        reverts: Tells who took it back.
        named: How somebody calls it: an id or the start of one, a branch, a tag.
        at: Id of the commit whose tree counts.

    Returns:
        Its standing. What cannot be told is `unknown`, with the problem: no commit is an error.
    """
    try:
        sha = repository.resolve(named)
        found = CommitStanding(
            named=named,
            commit=history.commit(repository, sha),
            at=at,
            link=repository.permalink(sha),
            undoing=reverts.by(sha),
        )
    except GitError as error:
        return CommitStanding(named=named, commit=None, at=at, problem=str(error))
    try:
        return _at(repository, reverts, found, sha, at)
    except GitError as error:
        return replace(found, problem=str(error))


def _at(
    repository: Repository, reverts: Reverts, found: CommitStanding, sha: str, at: str
) -> CommitStanding:
    if not history.is_ancestor(repository, sha, at):
        if repository.shallow:
            return replace(found, problem="the clone is shallow: it may have been cut off")
        picked = _picked(repository, sha, at)
        if not picked:
            return replace(found, presence=Presence.ABSENT)
        return replace(_at(repository, reverts, found, picked, at), picked=picked)
    if sha in repository.cut:
        return replace(found, problem="the clone is shallow: what it changed cannot be told")
    files = _files(repository, sha, at)
    if not files:
        return replace(found, problem="it changes no file")
    found = replace(found, reverted_by=reverts.of(sha, at), remade_by=reverts.remade(sha, at))
    presence = altogether(file.held.presence for file in files)
    said = [file.held.problem for file in files if file.held.problem]
    if presence is Presence.UNKNOWN and _taken_back(found):
        presence = Presence.REVERTED
    if len(files) > _FILES:
        said.append(_TOO_MANY)
    if any(file.later.cut for file in files):
        said.append(_TOO_LONG)
    reverted = presence is Presence.REVERTED
    lost = {each for file in files for each in _lost(repository, file, reverted)}
    return replace(
        found,
        presence=presence,
        files=tuple(_file(file) for file in files[:_FILES]),
        checkout_would_lose=_in_order(repository, sha, at, lost, files),
        taken_back_safely=all(file.held.reversible for file in files) if presence.in_tree else None,
        problem="; ".join(dict.fromkeys(said)),
    )


@dataclass(frozen=True, slots=True)
class _File:
    """A file of a commit, held against a tree."""

    touched: Touched
    now: Entry | None
    held: Held
    later: Later


def _files(repository: Repository, sha: str, at: str) -> list[_File]:
    """Hold each file of a commit against a tree; one too many tells that there are more."""
    touched = entries.touched(repository, sha)[: _FILES + 1]
    there = _now(repository, sha, at, touched)
    moved = [(replace(file, path=there[file.path][0]), there[file.path][1]) for file in touched]
    found = []
    for file, (here, now), since in zip(touched, moved, later(repository, sha, at, moved), strict=True):
        held = file_held(repository, here, now)
        if here.path == file.was_at != file.path:
            held = _renamed_back(file, held)
        found.append(_File(here, now, held, since))
    return found


def _now(
    repository: Repository, sha: str, at: str, touched: Sequence[Touched]
) -> Mapping[str, tuple[str, Entry | None]]:
    """Give path and content that files have in a tree, by the path that a commit gave them.

    A file that is not there may have been renamed since; one that a commit renamed may be back where it
    was.
    """
    names = [*{path for file in touched for path in (file.path, file.was_at)}]
    there = entries.at(repository, at, names)
    gone = any(file.after is not None and file.path not in there for file in touched)
    renamed = {each.was_at: each for each in entries.changed(repository, sha, at)} if gone else {}
    found: dict[str, tuple[str, Entry | None]] = {}
    for file in touched:
        path, now = file.path, there.get(file.path)
        if now is None and file.after is not None:
            moved = renamed.get(path)
            if moved is not None and moved.after is not None:
                path, now = moved.path, moved.after
            elif file.was_at in there:
                path, now = file.was_at, there[file.was_at]
        found[file.path] = (path, now)
    return found


def _renamed_back(file: Touched, held: Held) -> Held:
    """Judge a change that renamed a file which has its earlier name again."""
    if file.before and file.after and file.before.id == file.after.id:
        return REVERTED
    return replace(held, presence=Presence.PARTLY) if held.presence is Presence.LIVE else held


def _file(file: _File) -> FileStanding:
    return FileStanding(
        path=file.touched.path,
        presence=file.held.presence,
        kept=round(file.held.kept, 4),
        restored=file.now == file.touched.before,
        later=file.later.commits,
        problem=file.held.problem,
    )


def _lost(repository: Repository, file: _File, reverted: bool) -> tuple[str, ...]:
    if reverted:
        return file.later.were_lost(repository)
    return () if file.held.presence is Presence.REVERTED else file.later.would_be_lost(repository)


def _in_order(
    repository: Repository, sha: str, at: str, lost: set[str], files: Sequence[_File]
) -> tuple[str, ...]:
    """Give commits that touched files oldest first."""
    if not lost:
        return ()
    paths = [file.touched.path for file in files]
    return tuple(each for each in history.between(repository, sha, at, paths) if each in lost)


def _taken_back(found: CommitStanding) -> bool:
    """Say whether somebody took all of it back and nobody made it again."""
    whole = any((match.coverage or 0.0) >= _WHOLE for match in found.reverted_by)
    return whole and not found.remade_by


def _picked(repository: Repository, sha: str, at: str) -> str:
    """Find a commit of this history that changes the very same lines; empty if there is none."""
    wanted = changes.changes_of(repository, sha)
    if wanted is None or not wanted.size:
        return ""
    base = repository.objects.run("merge-base", sha, at, fine=(0, 1)).decode().strip()
    if not base:
        return ""
    paths = list(wanted.files)[:_FILES]
    candidates = history.between(repository, base, at, paths)[-_PICKS:]
    found = changes.many(repository, candidates)
    equal = [each for each in candidates if _same(wanted, found.get(each))]
    return equal[-1] if equal else ""


def _same(one: changes.Changes, other: changes.Changes | None) -> bool:
    if other is None or one.files.keys() != other.files.keys():
        return False
    return all(_lines(one.files[path]) == _lines(other.files[path]) for path in one.files)


def _lines(change: changes.FileChange) -> tuple[object, ...]:
    if change.opaque:
        return change.before, change.after
    return change.removed, change.added
