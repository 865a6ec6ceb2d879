"""Whether the change of one file is in another state of that file, by content alone.

Two merges tell it hunk by hunk: where the change can be taken back without conflict, it is there; where
it can be made once more, it is not. Where somebody has edited the same lines since, lines are counted:
those that the change took out and that are back speak for a revert; those that it put in and that have
become similar ones were edited further, and a change that was edited is still there. What was rewritten
beyond recognition is `unknown`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import islice

from workbench.model.commits import Presence
from workbench.vcs.scratch import merged

GONE = 0.9  # share of a change's lines that are undone from which on it is taken back
_SIMILAR = 0.6
_MOST = 60  # lines that are looked at for similar ones
_AMONG = 200  # of those that have come since
_WIDE = 200  # bytes of a line that are compared
_TELLING = re.compile(rb"\w\W*\w")  # a line of braces or dashes is everywhere


@dataclass(frozen=True, slots=True)
class Held:
    """A change of one file, held against a state of it.

    Attributes:
        presence: Whether it is there.
        kept: Share of its lines that are still as it made them, 0 to 1.
        reversible: It can be taken back there without conflict.
        problem: Why it cannot be told; empty when it can.
    """

    presence: Presence
    kept: float
    reversible: bool
    problem: str = ""


LIVE = Held(Presence.LIVE, 1.0, reversible=True)
REVERTED = Held(Presence.REVERTED, 0.0, reversible=True)


def held(before: bytes, after: bytes, now: bytes) -> Held:
    """Hold a change against a file of text that is there before, after and now.

    Raises:
        GitError: git is not there to merge with.
    """
    if now == after:
        return LIVE
    if now == before:
        return REVERTED
    back, again = merged(now, after, before), merged(now, before, after)
    if back.clean and again.clean and back.changes != again.changes:
        return LIVE if back.changes else REVERTED
    lines = _Lines(Text(before), Text(after), Text(now))
    if back.clean and back.changes:
        return Held(Presence.PARTLY, lines.kept, reversible=True)
    presence = lines.presence()
    problem = "" if presence is not Presence.UNKNOWN else "its lines were rewritten or removed since"
    return Held(presence, lines.kept, reversible=back.clean, problem=problem)


class Text:
    """A file of text, its lines counted when somebody asks, and once."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    @cached_property
    def lines(self) -> Counter[bytes]:
        """Its lines without blanks around them, with how many times it has each."""
        return _counted(self.content)


class _Lines:
    """The lines of a change, counted in a state of the file beyond what was there without it."""

    def __init__(self, before: Text, after: Text, now: Text) -> None:
        self._texts = before, after, now
        self._put_in, self._taken_out = map(_telling, _differing(before.content, after.content))
        self._gone = _fewer(self._put_in, after.lines, now.lines)
        self._back = _fewer(self._taken_out, now.lines, after.lines)

    @property
    def kept(self) -> float:
        """Share of the lines that are as the change made them."""
        return 1.0 - (self.undone or 0.0)

    @property
    def _all(self) -> int:
        return self._put_in.total() + self._taken_out.total()

    @property
    def undone(self) -> float | None:
        """Share of the lines that are gone again, or back again; None if there are none."""
        return (self._gone.total() + self._back.total()) / self._all if self._all else None

    def presence(self) -> Presence:
        """Judge what no merge can tell."""
        if self.undone is None:
            return Presence.UNKNOWN
        if self._back.total():
            whole = self._back.total() == self._taken_out.total()
            gone = self._gone.total() == self._put_in.total()
            return Presence.REVERTED if self.undone >= GONE or (whole and gone) else Presence.PARTLY
        there = self._put_in.total() - self._gone.total() + self._edited()
        if 2 * there >= self._put_in.total():  # edited further, and so still there
            return Presence.LIVE
        return Presence.PARTLY if there else Presence.UNKNOWN

    def _edited(self) -> float:
        """Count the lines that have gone and look like one that has come; of many, some tell."""
        before, after, now = (text.lines for text in self._texts)
        new = [line[:_WIDE] for line in islice((now - after - before).elements(), _AMONG)]
        gone = [line[:_WIDE] for line in islice(self._gone.elements(), _MOST)]
        alike = sum(any(_similar(line, other) for other in new) for line in gone)
        return alike * self._gone.total() / len(gone) if gone else 0


def _counted(content: bytes) -> Counter[bytes]:
    return Counter(line.strip() for line in content.split(b"\n"))


def _fewer(lines: Counter[bytes], here: Counter[bytes], there: Counter[bytes]) -> Counter[bytes]:
    """Give those lines that one file has less often than another, at most as often as given."""
    return Counter(
        {line: min(times, max(0, here[line] - there[line])) for line, times in lines.items()}
    )


def _differing(before: bytes, after: bytes) -> tuple[Counter[bytes], Counter[bytes]]:
    """Give the lines that a file has more, and has fewer, than before."""
    old, new = before.split(b"\n"), after.split(b"\n")
    start = _alike(old, new)
    old, new = old[start:], new[start:]
    old.reverse()
    new.reverse()
    end = _alike(old, new)
    was, became = (Counter(line.strip() for line in lines[end:]) for lines in (old, new))
    return became - was, was - became


def _alike(one: list[bytes], other: list[bytes]) -> int:
    """Count the lines that two lists begin with alike, by halves."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _telling(lines: Counter[bytes]) -> Counter[bytes]:
    """Leave out lines that say nothing, unless there are no others."""
    telling = Counter({line: times for line, times in lines.items() if _TELLING.search(line)})
    return telling or lines


def _similar(line: bytes, other: bytes) -> bool:
    matcher = SequenceMatcher(None, line, other, autojunk=False)
    return matcher.real_quick_ratio() >= _SIMILAR and (
        matcher.quick_ratio() >= _SIMILAR and matcher.ratio() >= _SIMILAR
    )


def undone(before: Text, after: Text, now: Text) -> float | None:
    """Give the share of a change's lines that are undone in another state; None if it has no lines."""
    return _Lines(before, after, now).undone


def altogether(parts: Iterable[Presence]) -> Presence:
    """Join the presence of several files: whole only where all agree."""
    seen = {*parts}
    known = seen - {Presence.UNKNOWN}
    if len(seen) == 1:
        return seen.pop()
    if known == {Presence.LIVE}:
        return Presence.LIVE  # what cannot be told of some files is told beside it
    if known == {Presence.REVERTED}:
        return Presence.UNKNOWN
    return Presence.PARTLY if known else Presence.UNKNOWN


def mostly_in(content: bytes, other: bytes) -> bool:
    """Say whether at least half of the telling lines of a text are in another one."""
    lines = _telling(_counted(content))
    return 2 * (lines & _counted(other)).total() >= lines.total()
