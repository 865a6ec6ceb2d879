"""Which earlier commits a commit may take back: by what its message names, by files, by content.

All of it is a search, and nothing a finding: each suspect is held against content afterwards.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from collections.abc import Set as AbstractSet

from workbench.model.commits import Clue, How
from workbench.vcs import titles
from workbench.vcs.index import Index
from workbench.vcs.titles import Claim

MOST_ALIKE = 500  # commits of the very same files whose patch-ids are looked at, the newest first
SHORTEST_CUT = 12  # letters of a title that was cut off; fewer name too many


def named(index: Index, claim: Claim, earlier: AbstractSet[int]) -> dict[int, list[Clue]]:
    """Give what a message names, with the clues: titles, then ids, then numbers.

    Args:
        index: The history.
        claim: What the message claims.
        earlier: Places of commits that can be meant.
    """
    found: dict[int, list[Clue]] = defaultdict(list)
    for title in claim.titles:
        key = titles.key(title)
        if not key or (claim.cut and len(key) < SHORTEST_CUT):
            continue
        places = earlier & set(index.titled(key, cut=claim.cut))
        # of several with one title, a number tells which
        number = titles.number_of(title)
        for place in {each for each in places if index.number(each) == number} or places:
            detail = f"its title names {title[:60]!r}"
            found[place].append(Clue(how=How.TITLE, detail=detail))
    for sha in claim.shas:
        for place in earlier & set(index.named(sha)):
            found[place].append(Clue(how=How.TITLE, detail=f"its message names {sha[:12]}"))
    for number in claim.numbers:
        for place in earlier & set(index.numbered(number)):
            found[place].append(Clue(how=How.NUMBER, detail=f"its message names #{number}"))
    return found


def restored(index: Index, place: int, earlier: AbstractSet[int]) -> set[int]:
    """Give commits before which files were as a commit makes them again.

    For each file it is the newest such commit, or the one of a merged branch that a merge brought; what
    a commit deletes was not there before it was made, which proves nothing and is left out.
    """
    found = set()
    for path, _before, after in index.files(place):
        if not after:
            continue
        brought: int | None = None
        for other in reversed(index.touching(path)):
            if other >= place or other not in earlier or index.before(other, path) != after:
                continue
            if brought is not None and index.is_ancestor(other, index.parents(brought)[0]):
                break
            brought = other
            if not index.is_merge(other):
                break
        if brought is not None:
            found.add(brought)
    return found


def between(index: Index, older: int, newer: int, paths: Collection[int]) -> list[int]:
    """Give commits between two that change some files, newest first."""
    found = {each for path in paths for each in index.touching(path) if older < each < newer}
    return sorted(found & index.ancestors(newer), reverse=True) if found else []


def alike(index: Index, place: int, earlier: AbstractSet[int]) -> list[int]:
    """Give earlier commits whose change is a commit's, turned round, by patch-id; the newest first."""
    same = [other for other in index.same_files(place) if other != place and other in earlier]
    if not same or not (wanted := index.inverse_patch_id(place)):
        return []
    ids = index.patch_ids(same[-MOST_ALIKE:])
    return sorted((other for other, found in ids.items() if found == wanted), reverse=True)


def of_same_files(index: Index, place: int, earlier: AbstractSet[int], most: int) -> list[int]:
    """Give earlier commits that change any of a commit's files, the newest first.

    Merges are left out: what they bring was made by other commits.
    """
    paths = [path for path, _before, _after in index.files(place)]
    found = {
        other
        for path in paths
        for other in index.touching(path)
        if other in earlier and not index.is_merge(other)
    }
    return sorted(found, reverse=True)[:most]


def takers(index: Index, place: int, tip: int) -> list[int]:
    """Give later commits that may take a commit back, or make it again, oldest first.

    They name it; or claim something and change a file of it; or make a file of it what it was at some
    time before; or change its very files and are its change turned round.

    Args:
        index: The history.
        place: The commit.
        tip: Only what this one can be reached by is given.
    """
    found = _naming(index, place)
    for path, _before, _after in index.files(place):
        past = _past(index, path, place)
        found.update(
            other
            for other in index.touching(path)
            if other > place and (other in index.claims or index.after(other, path) in past)
        )
    same = [other for other in index.same_files(place) if other > place][:MOST_ALIKE]
    if set(same) - found and (wanted := index.inverse_patch_id(place)):
        found.update(other for other, each in index.patch_ids(same).items() if each == wanted)
    if not any(place < other <= tip for other in found):
        return []
    return sorted(found & index.descendants(place, tip))


def _naming(index: Index, place: int) -> set[int]:
    """Give the commits whose message names a commit."""
    key, sha, number = index.keys[place], index.sha(place), index.number(place)
    return {
        other
        for other, claim in index.claims.items()
        if key in claim.keys
        or (number and number in claim.numbers)
        or (claim.cut and key.startswith(claim.keys))
        or any(map(sha.startswith, claim.shas))
    }


def _past(index: Index, path: int, place: int) -> set[int]:
    """Give the contents that a file had before a commit, except that it was not there."""
    return {index.before(each, path) for each in index.touching(path) if each <= place} - {0}
