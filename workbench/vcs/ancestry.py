"""Which commits a history has, and which of them can be reached from which; in memory, by places.

A *place* is a commit's number in here; that of a parent is lower. Ids lie end to end and are searched
as they are, since an index is opened far more often than it is extended.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import compress

ABSENT = -1  # place of a parent that is not in here
_NONE = -2  # first parent of a commit that has none


class Ancestry:
    """Commits and their parents."""

    def __init__(self) -> None:
        self._ids = bytearray()
        self._width = 20  # bytes of an id
        self._first = array("q")
        self._others: dict[int, tuple[int, ...]] = {}  # parents of merges, but for the first
        self._places: dict[str, int] = {}  # made once somebody adds

    def __len__(self) -> int:
        return len(self._first)

    @property
    def whole(self) -> bool:
        """Whether all parents are in here."""
        return ABSENT not in self._first and not any(ABSENT in each for each in self._others.values())

    def add(self, sha: str, parents: Sequence[str]) -> int | None:
        """Add a commit whose parents were added before it, and give its place; None if it is known."""
        if not self._places:
            self._places = {self.sha(place): place for place in range(len(self))}
        if sha in self._places:
            return None
        self._width = len(sha) // 2
        place = self._places[sha] = len(self)
        self._ids += bytes.fromhex(sha)
        first, *others = [self._places.get(parent, ABSENT) for parent in parents] or [_NONE]
        self._first.append(first)
        if others:
            self._others[place] = tuple(others)
        return place

    def place(self, sha: str) -> int | None:
        """Give the place of a commit; None if it is not in here."""
        return next(iter(self._begin_with(bytes.fromhex(sha))), None)

    def named(self, digits: str) -> list[int]:
        """Give the commits whose id begins with some digits."""
        whole = bytes.fromhex(digits[: len(digits) // 2 * 2])
        return [place for place in self._begin_with(whole) if self.sha(place).startswith(digits)]

    def sha(self, place: int) -> str:
        """Give the id of a commit."""
        return self._ids[place * self._width : (place + 1) * self._width].hex()

    def parents(self, place: int) -> tuple[int, ...]:
        """Give the places of a commit's parents, the first one first; ABSENT for one not in here."""
        first = self._first[place]
        return () if first == _NONE else (first, *self._others.get(place, ()))

    def is_merge(self, place: int) -> bool:
        """Say whether a commit has more than one parent."""
        return place in self._others

    def heads(self) -> list[str]:
        """Give the ids of commits that are no one's parents."""
        parents = set(self._first).union(*self._others.values())
        return [self.sha(place) for place in range(len(self)) if place not in parents]

    def ancestors(self, place: int, floor: int = 0) -> set[int]:
        """Give a commit and all that it can be reached by, down to a place."""
        return set(compress(range(floor, place + 1), self._marks(place, floor)[floor:]))

    def descendants(self, place: int, tip: int) -> set[int]:
        """Give the commits that a tip can be reached by, and that can be reached from a commit."""
        if tip <= place:
            return set()
        reached = self._marks(tip, place)
        marks = bytearray(tip + 1)
        marks[place] = 1
        for each in range(place + 1, tip + 1):
            if reached[each]:
                first = self._first[each]
                marks[each] = (first >= 0 and marks[first]) or (
                    each in self._others
                    and any(marks[other] for other in self._others[each] if other >= 0)
                )
        marks[place] = 0
        return set(compress(range(tip + 1), marks))

    def is_ancestor(self, earlier: int, later: int) -> bool:
        """Say whether one commit can be reached from another."""
        return earlier <= later and bool(self._marks(later, earlier)[earlier])

    def packed(self) -> tuple[bytes, bytes, dict[int, tuple[int, ...]]]:
        """Give it as what can be written."""
        return bytes(self._ids), self._first.tobytes(), self._others

    def load(self, packed: tuple[bytes, bytes, dict[int, tuple[int, ...]]]) -> None:
        """Take what `packed` gave."""
        ids, first, self._others = packed
        self._ids = bytearray(ids)
        self._first.frombytes(first)
        self._width = len(ids) // len(self) if len(self) else 20

    def _begin_with(self, ids: bytes) -> list[int]:
        found = []
        at = self._ids.find(ids) if ids else -1
        while at >= 0:
            place, rest = divmod(at, self._width)
            if not rest:
                found.append(place)
            at = self._ids.find(ids, at + 1)
        return found

    def _marks(self, place: int, floor: int) -> bytearray:
        """Give a mark for each place up to one that it can be reached by; none below a floor."""
        marks = bytearray(place + 1)
        marks[place] = 1
        for each in range(place, floor, -1):
            if marks[each]:
                if (first := self._first[each]) >= floor:
                    marks[first] = 1
                if each in self._others:
                    for other in self._others[each]:
                        if other >= floor:
                            marks[other] = 1
        return marks
