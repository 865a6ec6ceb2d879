"""One file of a commit held against a tree, and what a checkout of its earlier state loses.

A checkout takes back all that has been done to the file since, not the one change. What it would lose
are later commits of which something is still there; what it has lost are those that were there until a
commit gave the file its earlier content back, and are not there any more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.model.commits import Presence
from workbench.vcs import changes, history
from workbench.vcs.entries import LINK, SUBMODULE, Entry, Touched, contents
from workbench.vcs.presence import LIVE, REVERTED, Held, held, mostly_in
from workbench.vcs.repository import Repository

_GREATEST = 4 << 20  # bytes of a file that is merged
_CHECKED = 200  # later commits of a file of which it is looked up whether they are still there
_IN_TREE = (Presence.LIVE, Presence.PARTLY)


def file_held(repository: Repository, file: Touched, now: Entry | None) -> Held:
    """Hold what a commit did to a file against what that file is.

    Args:
        repository: Where.
        file: The file before and after the commit.
        now: What it is in the tree; None if it is not there.

    Raises:
        GitError: git cannot be asked.
    """
    before, after = file.before, file.after
    if now == after:
        return LIVE
    if now == before:
        return REVERTED
    if before and after and now and before.id == after.id:
        return _mode_only(before, after, now)
    if now and after and now.id == after.id:
        return LIVE
    if now and before and now.id == before.id:
        return REVERTED
    if now is None:  # it was changed, and is not there any more
        return _unknown("the file has gone since")
    kinds = {entry.mode for entry in (before, after, now) if entry}
    if SUBMODULE in kinds:
        return _unknown("the submodule has moved on since")
    if LINK in kinds:
        return _unknown("the link was changed since")
    texts = contents(repository, (before, after, now), _GREATEST)
    for entry, text in zip((before, after, now), texts, strict=True):
        if entry is not None and text is None:
            return _unknown("its content is not in this clone, or too large")
        if b"\0" in (text or b"")[:8000]:
            return _unknown("a binary file that was changed since")
    was, became, is_ = (text or b"" for text in texts)
    if after is None:  # it was deleted, and there is one of its name again
        return Held(Presence.REVERTED, 0.0, reversible=False) if mostly_in(was, is_) else LIVE
    found = held(was, became, is_)
    if before is None:  # git does not take back the making of a file that was edited since
        return Held(found.presence, found.kept, reversible=False, problem=found.problem)
    return found


def _mode_only(before: Entry, after: Entry, now: Entry) -> Held:
    if now.mode == after.mode:
        return LIVE
    return REVERTED if now.mode == before.mode else _unknown("its mode was changed since")


def _unknown(problem: str) -> Held:
    return Held(Presence.UNKNOWN, 0.0, reversible=False, problem=problem)


class Later:
    """What was done to a file after a commit.

    Args:
        repository: Where.
        sha: Id of the commit.
        at: Id of the commit whose tree counts.
        file: The file before and after `sha`.
        now: What it is in that tree.

    Attributes:
        commits: Commits that touched it, oldest first, merges left out.
    """

    def __init__(
        self, repository: Repository, sha: str, at: str, file: Touched, now: Entry | None
    ) -> None:
        self._repository = repository
        self._file, self._now = file, now
        found = history.between(repository, sha, at, [file.path])
        known = history.many(repository, found)
        self.commits = tuple(each for each in found if len(known[each].parents) < 2)
        self._read: Mapping[str, Touched] | None = None

    def would_be_lost(self) -> tuple[str, ...]:
        """Name those that a checkout of the file as it was before would lose.

        One that has been taken back is not there to be lost, and neither is one of which nothing would
        be missed: it took back what another had done in between.
        """
        before, now = self._file.before, self._now
        if now == before:
            return ()
        return tuple(
            sha
            for sha in self.commits
            if self._held(sha, now).presence is not Presence.REVERTED
            and not (before and self._held(sha, before).whole)
        )

    def were_lost(self) -> tuple[str, ...]:
        """Name those that were there until the file was given its earlier content, and are not now."""
        before = self._file.before.id if self._file.before else None
        lost: list[str] = []
        for place, restorer in enumerate(self.commits):
            change = self._changes().get(restorer)
            if change is None or _id(change.after) != before:
                continue
            lost += [
                sha
                for sha in self.commits[:place]
                if sha not in lost
                and self._held(sha, change.before).presence in _IN_TREE
                and self._held(sha, change.after).presence is Presence.REVERTED
                and self._held(sha, self._now).presence is Presence.REVERTED
            ]
        return tuple(sha for sha in self.commits if sha in lost)

    def _held(self, sha: str, now: Entry | None) -> Held:
        change = self._changes().get(sha)
        if change is None:
            return _unknown("not looked up")
        return file_held(self._repository, change, now)

    def _changes(self) -> Mapping[str, Touched]:
        """Give what the newest of the later commits did to the file."""
        if self._read is None:
            newest: Sequence[str] = self.commits[-_CHECKED:]
            path = self._file.path
            found = changes.many(self._repository, newest, paths=[path])
            self._read = {
                sha: _touched(each.files[path])
                for sha, each in found.items()
                if each is not None and path in each.files
            }
        return self._read


def _touched(change: changes.FileChange) -> Touched:
    mode = SUBMODULE if change.submodule else ""
    before, after = (Entry(mode, id) if id else None for id in (change.before, change.after))
    return Touched(path=change.path, was_at=change.path, before=before, after=after)


def _id(entry: Entry | None) -> str | None:
    return entry.id if entry else None
