"""What reverted a commit, what a revert reverts, what made it again, and how one can tell.

`by` is where it is decided (`finding`), once for each commit, from its own past alone; it is kept in
the index. `of` and `remade` look for later commits that may concern a commit (`suspects.takers`) and
ask for each of them what it does: so the two directions never disagree.

No content of the whole history is read for any of it. What `of` reads are commits that name the commit,
or change a file of it and claim something, or leave such a file as it once was.
"""

from __future__ import annotations

from dataclasses import replace

from workbench.model.commits import Match, RevertKind, Undoing
from workbench.vcs import suspects
from workbench.vcs.finding import NOT_HERE, Finder
from workbench.vcs.index import Index
from workbench.vcs.repository import Repository

LONGEST_CHAIN = 20  # reverts of reverts of reverts
_REVERTS = frozenset({RevertKind.FULL, RevertKind.ADAPTED, RevertKind.PARTIAL, RevertKind.MULTI})
_TAKES_BACK = _REVERTS | {RevertKind.REVERT_OF_REVERT}


class Reverts:
    """Answers of one repository. What was found is kept in the index; `Index.save` writes it.

    Args:
        repository: The repository.
        index: Its index, which is extended to whatever is asked for.
    """

    def __init__(self, repository: Repository, index: Index) -> None:
        self._index = index
        self._finder = Finder(repository, index)

    def by(self, sha: str) -> Undoing | None:
        """Give what a commit takes back or makes again; None if it neither says so nor does so.

        Raises:
            GitError: There is no such commit, or its id is not whole.
        """
        self._index.extend(sha)
        place = self._index.place(sha)
        assert place is not None
        return self._undoing(place)

    def of(self, sha: str, at: str) -> tuple[Match, ...]:
        """Give the commits that took a commit back, wholly or in part, oldest first.

        Args:
            sha: Id of the commit.
            at: Id of a commit; only what it can be reached by is looked at.

        Raises:
            GitError: There is no such commit, or an id is not whole.
        """
        return tuple(
            replace(match, commit=undoing.commit)
            for undoing in self._later(sha, at)
            if undoing.kind in _TAKES_BACK
            for match in undoing.matches
            if match.commit == sha
        )

    def remade(self, sha: str, at: str) -> tuple[Match, ...]:
        """Give the commits that made a commit again after it was taken back, oldest first.

        They reland it, or revert its reverts. Coverage is that of the commit itself for a reland, and
        that of the revert for a revert of it.

        Raises:
            GitError: There is no such commit, or an id is not whole.
        """
        found = {
            undoing.commit: replace(match, commit=undoing.commit)
            for undoing in self._later(sha, at)
            if undoing.kind is RevertKind.RELAND
            for match in undoing.matches
            if match.commit == sha
        }
        for revert in self.of(sha, at):
            for match in self.of(revert.commit, at):
                found.setdefault(match.commit, match)
        return tuple(
            found[each] for each in sorted(found, key=lambda each: self._index.place(each) or 0)
        )

    def _later(self, sha: str, at: str) -> list[Undoing]:
        """Give what later commits do, of those that may concern a commit, oldest first."""
        self._index.extend(at)
        self._index.extend(sha)
        place, tip = self._index.place(sha), self._index.place(at)
        assert place is not None
        assert tip is not None
        later = self._descendants(place, tip)
        found = map(self._undoing, suspects.takers(self._index, place, later))
        return [undoing for undoing in found if undoing is not None]

    def _descendants(self, place: int, tip: int) -> set[int]:
        """Give commits that a tip can be reached by, and that can be reached from a commit."""
        found = {place}
        for each in sorted(self._index.ancestors(tip, place)):
            if not found.isdisjoint(self._index.parents(each)):
                found.add(each)
        return found - {place} if tip in found else set()

    def _undoing(self, place: int) -> Undoing | None:
        """Give what a commit does. Whether what it takes back is a revert is asked first, in turn."""
        known = self._index.undoings
        chain: list[tuple[int, Undoing | None]] = []
        while place not in known and len(chain) < LONGEST_CHAIN:
            found = self._finder.find(place)
            chain.append((place, found))
            if found is None or found.kind not in _REVERTS or len(found.matches) != 1:
                break
            target = self._index.place(found.matches[0].commit)
            assert target is not None
            place = target
        before = known.get(place)
        for each, found in reversed(chain):
            if found and found.kind in _REVERTS and len(found.matches) == 1 and _is_revert(before):
                found = replace(found, kind=RevertKind.REVERT_OF_REVERT)
            before = found
            if self._index.whole and not (found and found.because == NOT_HERE):
                self._index.remember(each, found)
        return before


def _is_revert(undoing: Undoing | None) -> bool:
    return undoing is not None and undoing.kind in _REVERTS
