"""What reverted a commit, what a revert reverts, what made it again, and how one can tell.

`by` is where it is decided (`finding`), once for each commit, from its own past alone; it is kept in
the index. `of` and `remade` look for later commits that may concern a commit (`suspects.takers`) and
ask for each of them what it does: so the two directions never disagree.

No content of the whole history is read for any of it. What `of` reads are commits that name the commit,
or change a file of it and claim something, or leave such a file as it once was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeGuard

from workbench.model.commits import Match, RevertKind, Undoing
from workbench.vcs import suspects
from workbench.vcs.finding import NOT_HERE, Finder
from workbench.vcs.index import Index
from workbench.vcs.repository import Repository

_REVERTS = frozenset({RevertKind.FULL, RevertKind.ADAPTED, RevertKind.PARTIAL, RevertKind.MULTI})


class Reverts:
    """Answers of one repository. What was found is kept in the index; `Index.save` writes it.

    Args:
        repository: The repository.
        index: Its index, which is extended to whatever is asked for.
    """

    def __init__(self, repository: Repository, index: Index) -> None:
        self._index = index
        self._finder = Finder(repository, index)
        self._stories: dict[tuple[str, str], tuple[tuple[Match, ...], tuple[Match, ...]]] = {}

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

        Among them are those that took back what had made it again: of a change that was made, taken
        back, made again and taken back, it is both. Shares are of the commit that each one names.

        Args:
            sha: Id of the commit.
            at: Id of a commit; only what it can be reached by is looked at.

        Raises:
            GitError: There is no such commit, or an id is not whole.
        """
        return self._story(sha, at)[0]

    def remade(self, sha: str, at: str) -> tuple[Match, ...]:
        """Give the commits that made a commit again after it was taken back, oldest first; see `of`.

        They reland it, or take back what took it back.

        Raises:
            GitError: There is no such commit, or an id is not whole.
        """
        return self._story(sha, at)[1]

    def _story(self, sha: str, at: str) -> tuple[tuple[Match, ...], tuple[Match, ...]]:
        """Give what took a commit back, and what made it again."""
        self._index.extend(at)
        self._index.extend(sha)
        if (sha, at) not in self._stories:
            taken: dict[str, Match] = {}
            remade: dict[str, Match] = {}
            # To take back what made it again is to take it back, and the other way round.
            waiting = [(sha, taken, remade)]
            while waiting:
                each, takes, remakes = waiting.pop()
                for undoing, match in self._later(each, at):
                    again = undoing.kind is RevertKind.RELAND
                    if undoing.commit not in taken and undoing.commit not in remade:
                        (remakes if again else takes)[undoing.commit] = match
                        sides = (takes, remakes) if again else (remakes, takes)
                        waiting.append((undoing.commit, *sides))
            self._stories[sha, at] = self._in_order(taken), self._in_order(remade)
        return self._stories[sha, at]

    def _in_order(self, found: Mapping[str, Match]) -> tuple[Match, ...]:
        return tuple(
            found[each] for each in sorted(found, key=lambda each: self._index.place(each) or 0)
        )

    def _later(self, sha: str, at: str) -> list[tuple[Undoing, Match]]:
        """Give what later commits do to a commit; each match names the later one."""
        place, tip = self._index.place(sha), self._index.place(at)
        assert place is not None
        assert tip is not None
        return [
            (undoing, replace(match, commit=undoing.commit))
            for undoing in map(self._undoing, suspects.takers(self._index, place, tip))
            if undoing is not None
            for match in undoing.matches
            if match.commit == sha
        ]

    def _undoing(self, place: int) -> Undoing | None:
        """Give what a commit does; whether what it takes back is a revert itself is asked first."""
        known = self._index.undoings
        chain: list[tuple[int, Undoing | None]] = []
        while place not in known:
            found = self._finder.find(place)
            chain.append((place, found))
            if not _takes_one_back(found):
                break
            target = self._index.place(found.matches[0].commit)
            assert target is not None
            place = target
        before = known.get(place)
        for each, found in reversed(chain):
            if _takes_one_back(found) and _takes_back(before):
                found = replace(found, kind=RevertKind.REVERT_OF_REVERT)
            before = found
            if self._index.whole and not (found and found.because == NOT_HERE):
                self._index.remember(each, found)
        return before


def _takes_back(undoing: Undoing | None) -> bool:
    return undoing is not None and undoing.kind in _REVERTS


def _takes_one_back(undoing: Undoing | None) -> TypeGuard[Undoing]:
    return undoing is not None and undoing.kind in _REVERTS and len(undoing.matches) == 1
