"""Which of several suspects it is, once each is held against content; or why that cannot be told.

What two of them have an equal claim to is given to neither, unless they are the same change: it was
then made, taken back and made again, and what is taken back now is the newest of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from workbench.model.commits import Clue, How
from workbench.vcs import changes, overlap
from workbench.vcs.changes import Changes
from workbench.vcs.index import Index
from workbench.vcs.overlap import Overlap
from workbench.vcs.repository import Repository
from workbench.vcs.titles import Claim, Verb

MOSTLY = 0.8  # share of lines that is nearly all
PART = 0.5
NEAR = 0.2  # of coverage and purity together; closer ones cannot be told apart


@dataclass(frozen=True, kw_only=True)
class Suspect:
    """An earlier commit, held against a later one.

    Attributes:
        place: Its place.
        changes: What it changes.
        overlap: What of it the later one takes back, or makes again.
        clues: How the later one's message names it.
        alike: The later one is its change turned round, with the lines around it.
    """

    place: int
    changes: Changes
    overlap: Overlap
    clues: tuple[Clue, ...] = ()
    alike: bool = False

    @property
    def is_shown(self) -> bool:
        """Whether content bears it out at all."""
        return self.overlap.telling > 0 or self.overlap.whole

    @property
    def share(self) -> float:
        """The larger one of the shares of both changes."""
        return max(self.overlap.coverage, self.overlap.purity)

    @property
    def explains(self) -> bool:
        """Whether it is nearly all of both."""
        return self.overlap.coverage >= MOSTLY and self.overlap.purity >= MOSTLY


def newest(suspect: Suspect) -> int:
    """Order suspects by it: the newest first."""
    return -suspect.place


class Chooser:
    """Chooses among commits of one history.

    Args:
        repository: The repository.
        index: Its index.
    """

    def __init__(self, repository: Repository, index: Index) -> None:
        self._repository = repository
        self._index = index

    def choose(self, claim: Claim, mine: Changes, held: Sequence[Suspect]) -> tuple[list[Suspect], str]:
        """Choose among commits that a message names, or say why that cannot be done.

        One that has nearly all of both changes is the only one. Otherwise each thing that is named
        means one commit: the only one that content bears out, or that has by far the most lines.

        Args:
            claim: What the message claims.
            mine: What its commit changes.
            held: Commits that content bears out; those that the message names have clues.
        """
        named = [each for each in held if each.clues]
        if claim.verb is Verb.MENTION:
            named = [each for each in named if each.share >= PART]
        by_id = {
            each.place for each in named if any(map(self._index.sha(each.place).startswith, claim.shas))
        }
        if explains := [each for each in named if each.explains]:
            pool = [each for each in explains if each.place in by_id] or _closest(explains)
            found = self.nearest(pool)
            return ([found], "") if found else ([], self._undecided(pool))
        picked: dict[int, Suspect] = {}
        for group in _groups(named, by_id):
            if picked.keys() & {each.place for each in group}:
                continue
            first, because = self.leading(group)
            if first is None:
                return [], because
            if not picked or first.overlap.coverage >= PART:
                picked[first.place] = first
        found_ones = list(picked.values())
        return (apart(mine, found_ones) if len(found_ones) > 1 else found_ones), ""

    def nearest(self, held: Sequence[Suspect]) -> Suspect | None:
        """Give the only one of some commits, or the newest if they are one change, made repeatedly.

        Of changes that are alike line by line, that which is so with the lines around it is meant.
        """
        ordered = [each for each in held if each.alike] or list(held)
        ordered.sort(key=newest)
        if ordered and all(map(self._is_made_again, ordered[1:], ordered)):
            return ordered[0]
        return None

    def leading(self, held: Sequence[Suspect]) -> tuple[Suspect | None, str]:
        """Give the one that has by far the most lines in common, or say that there is none."""
        most = max(each.overlap.telling for each in held)
        close = [each for each in held if each.overlap.telling * 2 > most]
        found = self.nearest(close)
        return found, "" if found else self._undecided(close)

    def _is_made_again(self, earlier: Suspect, later: Suspect) -> bool:
        """Say whether a later commit is an earlier one that was taken back in between.

        If it was, then the lines of both were before the one as often as before the other; if not, then
        both are there at once, and nothing tells which of them goes.
        """
        if not overlap.made_again(earlier.changes, later.changes).whole:
            return False
        if not self._index.is_ancestor(earlier.place, later.place):
            return False
        for path, theirs in earlier.changes.files.items():
            other = later.changes.files.get(path)
            if other is None:
                return False
            if other.before != theirs.before:
                before, again = self._lines(theirs.before), self._lines(other.before)
                lines = {*theirs.removed, *theirs.added}
                if (
                    before is None
                    or again is None
                    or any(before[each] != again[each] for each in lines)
                ):
                    return False
        return True

    def _lines(self, blob: str | None) -> Counter[bytes] | None:
        return Counter() if blob is None else changes.lines_in(self._repository, blob)

    def _undecided(self, held: Sequence[Suspect]) -> str:
        told = ", ".join(self._index.sha(each.place)[:12] for each in sorted(held, key=newest)[:5])
        return f"several commits fit, and nothing tells which: {told}"


def apart(mine: Changes, held: Sequence[Suspect]) -> list[Suspect]:
    """Give those of which something is taken back that the others do not explain."""
    rest, found = mine, []
    for each in sorted(held, key=lambda each: (-each.overlap.coverage, -each.place)):
        if overlap.taken_back(each.changes, rest).telling:
            found.append(each)
            rest = overlap.without(rest, [each.changes])
    return found


def _closest(explains: Sequence[Suspect]) -> list[Suspect]:
    """Give those that agree line by line, or else all that nearly agree as much as the best."""
    if whole := [each for each in explains if each.overlap.whole]:
        return whole
    best = max(each.overlap.coverage + each.overlap.purity for each in explains)
    return [each for each in explains if each.overlap.coverage + each.overlap.purity > best - NEAR]


def _groups(named: Sequence[Suspect], first: AbstractSet[int]) -> list[list[Suspect]]:
    """Give the commits that each thing can mean which a message names; numbers come last.

    A number is often a reason and no target, so it takes more than a title does.
    """
    groups: dict[tuple[bool, str], list[Suspect]] = {}
    for each in sorted(named, key=lambda each: each.place not in first):
        for clue in each.clues:
            if clue.how is not How.NUMBER or each.share >= PART:
                groups.setdefault((clue.how is How.NUMBER, clue.detail), []).append(each)
    return [groups[key] for key in sorted(groups, key=lambda key: key[0])]
