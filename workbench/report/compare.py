"""Two runs side by side, as text and as a record.

The record of `compare`: first and second (run, command, state, created, seconds, arms, rates, words,
problems), equal, differs and found (what, first, second), read_back, kinship (`goes-on`, `one-test`,
`other-tests`, `no-digest`). No number in it is of both runs together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from workbench.model.compared import Compared, Difference, Kinship, Side, Word
from workbench.report import values
from workbench.report.text import (
    blocks,
    cut,
    duration,
    hits,
    moment,
    padded,
    printed,
    sentence_of,
    with_rest,
)

_ROWS = 12  # differences of a kind that are shown
_WIDEST = 48  # columns of a value
_KINSHIPS = {
    Kinship.GOES_ON: "One test, one process: the later run goes on from the complete blocks of the"
    " earlier, and its word counts both.",
    Kinship.ONE_TEST: "One test, and the later run took no block over from the earlier: it had no"
    " complete one, or was invalid.",
    Kinship.OTHER_TESTS: "Two tests: what one found is no evidence in the other, and counts of both are"
    " never added up.",
    Kinship.NO_DIGEST: "Two runs, each a process of its own: counts of both are never added up.",
}


def compare(found: Compared) -> Iterator[str]:
    """Yield two runs side by side."""
    return printed(_compare(found))


def compare_record(found: Compared) -> dict[str, Any]:
    """Give the same as JSON values."""
    record = values.plain(found)
    assert isinstance(record, dict)
    return record


def _compare(found: Compared) -> Iterator[str]:
    for name, side in (("first", found.first), ("second", found.second)):
        yield from _head(name, side)
    yield ""
    yield _KINSHIPS[found.kinship]
    yield ""
    yield f"the same: {sentence_of(found.equal, most=len(found.equal)) or 'nothing'}"
    yield from _table("planned otherwise", found.differs)
    if found.read_back:
        yield from _table("read back otherwise", found.found)
    else:
        yield ""
        yield "no arm was read back in both"
    yield ""
    yield from _counts(found)
    yield from _words(found)


def _head(name: str, side: Side) -> Iterator[str]:
    took = duration(side.seconds)
    yield f"{name:<7} {side.run}  {side.command}, {side.state}, {moment(side.created)}, took {took}"
    for problem in side.problems:
        yield f"WARNING: {side.run}: {problem}"


def _table(title: str, differences: Sequence[Difference]) -> Iterator[str]:
    """Yield what differs, a line each, where it is short enough side by side."""
    if not differences:
        yield f"{title}: nothing"
        return
    yield ""
    yield f"{title}:"
    for each in differences[:_ROWS]:
        first, second = (cut(value, _WIDEST) or "-" for value in (each.first, each.second))
        yield f"  {cut(each.what, _WIDEST)}: {first} | {second}"
    if len(differences) > _ROWS:
        yield f"  ... and {len(differences) - _ROWS} more"


def _counts(found: Compared) -> Iterator[str]:
    """Yield what each run itself counted, arm by arm."""
    names = list(dict.fromkeys((*found.first.arms, *found.second.arms)))
    if not names:
        return
    width = max(len(cut(name, _WIDEST)) for name in names)
    yield "counted by each run itself:"
    for name in names:
        for which, side in (("first", found.first), ("second", found.second)):
            shown = padded(cut(name, _WIDEST) if which == "first" else "", width)
            yield f"  {shown}  {which:<6}  {_counted(side, name)}"


def _counted(side: Side, arm: str) -> str:
    if arm not in side.arms:
        return "no such arm"
    return with_rest(hits(side.arms[arm], side.rates[arm]), side.arms[arm])


def _words(found: Compared) -> Iterator[str]:
    names = dict.fromkeys(word.about for side in (found.first, found.second) for word in side.words)
    if not names:
        return
    yield "said:"
    for name in names:
        for which, side in (("first", found.first), ("second", found.second)):
            said = next((_word(word) for word in side.words if word.about == name), "not tested")
            yield f"  {name}  {which:<6}  {said}"


def _word(word: Word) -> str:
    reason = f" ({word.reason})" if word.reason else ""
    earlier = f", {word.earlier} of them of earlier runs" if word.earlier else ""
    return f"{word.verdict or 'undecided'}{reason}, {blocks(word.blocks)}{earlier}"
