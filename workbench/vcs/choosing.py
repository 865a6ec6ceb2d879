"""Which of several suspects it is, once each is held against content; or why that cannot be told.

What two of them have an equal claim to is given to neither, unless they are the same change: it was
then made, taken back and made again, and what is taken back now is the newest of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.model.commits import Clue, How
from workbench.vcs import overlap
from workbench.vcs.changes import Changes
from workbench.vcs.index import Index
from workbench.vcs.overlap import Overlap
from workbench.vcs.titles import Claim, Verb

MOSTLY = 0.8  # share of lines that is nearly all
PART = 0.5
NEAR = 0.2  # of coverage and purity together; closer ones cannot be told apart


@dataclass(frozen=True, kw_only=True)
class Suspect:
    """An earlier commit, held against a later one."""

    place: int
    changes: Changes
    overlap: Overlap
    clues: tuple[Clue, ...] = ()

    @property
    def is_shown(self) -> bool:
        """Whether content bears it out at all."""
        return self.overlap.telling > 0 or self.overlap.whole

    @property
    def explains(self) -> bool:
        """Whether it is nearly all of both."""
        return self.overlap.coverage >= MOSTLY and self.overlap.purity >= MOSTLY


def newest(suspect: Suspect) -> int:
    """Order suspects by it: the newest first."""
    return -suspect.place


def nearest(index: Index, held: Sequence[Suspect]) -> Suspect | None:
    """Give the newest of some commits that are one change, made more than once; else None.

    None, too, where the newest does not come after all others: they are side by side in the history.
    """
    ordered = sorted(held, key=newest)
    if not ordered:
        return None
    first, *others = ordered
    for each in others:
        same = overlap.made_again(each.changes, first.changes).whole
        if not (same and index.is_ancestor(each.place, first.place)):
            return None
    return first


def leading(index: Index, held: Sequence[Suspect]) -> tuple[Suspect | None, str]:
    """Give the one that has by far the most lines in common, or say that there is none.

    One that is the same change as the first, made earlier, does not count against it.
    """
    most = max(each.overlap.telling for each in held)
    close = [each for each in held if each.overlap.telling * 2 > most]
    found = nearest(index, close)
    return found, "" if found else undecided(index, close)


def apart(mine: Changes, held: Sequence[Suspect]) -> list[Suspect]:
    """Give those of which something is taken back that the others do not explain."""
    rest, found = mine, []
    for each in sorted(held, key=lambda each: (-each.overlap.coverage, -each.place)):
        if overlap.taken_back(each.changes, rest).telling:
            found.append(each)
            rest = overlap.without(rest, [each.changes])
    return found


def choose(
    index: Index, claim: Claim, mine: Changes, held: Sequence[Suspect]
) -> tuple[list[Suspect], str]:
    """Choose among commits that a message names, or say why that cannot be done.

    One that has nearly all of both changes is the only one. Otherwise each thing that is named means
    one commit: the only one that content bears out, or the one with by far the most lines.

    Args:
        index: The history.
        claim: What the message claims.
        mine: What its commit changes.
        held: Commits that content bears out; those that the message names have clues.
    """
    named = [each for each in held if each.clues]
    if claim.verb is Verb.MENTION:
        named = [each for each in named if max(each.overlap.coverage, each.overlap.purity) >= PART]
    by_id = {each.place for each in named if any(map(index.sha(each.place).startswith, claim.shas))}
    if explains := [each for each in named if each.explains]:
        pool = [each for each in explains if each.place in by_id] or _closest(explains)
        found = nearest(index, pool)
        return ([found], "") if found else ([], undecided(index, pool))
    groups: dict[tuple[bool, str], list[Suspect]] = {}
    for each in sorted(named, key=lambda each: each.place not in by_id):
        for clue in each.clues:
            # a number is often a reason, so it takes more than a title does
            if clue.how is not How.NUMBER or max(each.overlap.coverage, each.overlap.purity) >= PART:
                groups.setdefault((clue.how is How.NUMBER, clue.detail), []).append(each)
    picked: dict[int, Suspect] = {}
    for _kind, group in sorted(groups.items(), key=lambda item: item[0][0]):
        if picked.keys() & {each.place for each in group}:
            continue
        first, because = leading(index, group)
        if first is None:
            return [], because
        if not picked or first.overlap.coverage >= PART:
            picked[first.place] = first
    return (apart(mine, list(picked.values())) if len(picked) > 1 else [*picked.values()]), ""


def _closest(explains: Sequence[Suspect]) -> list[Suspect]:
    """Give those that agree line by line, or else all that nearly agree as much as the best."""
    if whole := [each for each in explains if each.overlap.whole]:
        return whole
    best = max(each.overlap.coverage + each.overlap.purity for each in explains)
    return [each for each in explains if each.overlap.coverage + each.overlap.purity > best - NEAR]


def undecided(index: Index, held: Sequence[Suspect]) -> str:
    """Say that it can be any of some commits."""
    told = ", ".join(index.sha(each.place)[:12] for each in sorted(held, key=newest)[:5])
    return f"several commits fit, and nothing tells which: {told}"
