"""Which evidence tells the suspects apart: what each says of arms, held against what runs found.

A run can tell two suspects apart only if their patterns on it differ (see `patterns`).

    cell         how a run bears on a suspect by its pattern, whoever the run was made for
    matrix       evidence x suspects; what splits which pair; suspects that no run tells apart
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from workbench.judge.confirming import Pair
from workbench.judge.patterns import Claimed, Pattern, is_known, pattern
from workbench.model.event import Bearing, Grade, VerdictGiven
from workbench.model.standing import Item
from workbench.model.verdict import Verdict


class Cell(StrEnum):
    """How an item of evidence bears on a suspect in the matrix."""

    FOR = "for"
    AGAINST = "against"
    NEUTRAL = "neutral"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """An item of evidence as the matrix has it.

    Attributes:
        id: Of its event, the first of those that say the same of the same arms.
        run: The run, empty for other evidence.
        verdict: The verdict of the run, None for other evidence.
        grade: How it was obtained.
        text: What other evidence says; untrusted.
        served: Suspects that the run was made for.
        patterns: Suspect to its pattern; empty for other evidence.
        cells: Suspect to how it bears; a suspect that other evidence does not speak of has none.
        idle: Suspects for which it does not count, since runs have spoken.
        tells: Live suspects of the run's symptom by what they say of it, where it tells any apart;
            else empty.
    """

    id: str
    run: str = ""
    verdict: VerdictGiven | None = None
    grade: Grade
    text: str = ""
    served: tuple[str, ...] = ()
    patterns: Mapping[str, Pattern] = field(default_factory=dict)
    cells: Mapping[str, Cell] = field(default_factory=dict)
    idle: frozenset[str] = frozenset()
    tells: tuple[tuple[str, ...], ...] = ()

    def splits(self, one: str, other: str) -> bool:
        """Say whether it tells two live suspects apart."""
        apart = [group for group in self.tells if one in group or other in group]
        return len(apart) > 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Matrix:
    """Evidence x suspects.

    Attributes:
        suspects: Ids, in the order given.
        rows: What counts, oldest first.
        live: Live suspects by symptom, where there are two at least.
        alike: Live suspects of one symptom that have the same patterns on all runs, two at least.
    """

    suspects: tuple[str, ...]
    rows: tuple[Row, ...]
    live: tuple[tuple[str, ...], ...] = ()
    alike: tuple[tuple[str, ...], ...] = ()

    @property
    def diagnostic(self) -> int:
        """How many A/Bs tell any two live suspects apart."""
        return sum(1 for row in self.rows if row.tells)


def cell(of: Pattern, word: Verdict) -> Cell:
    """Say how a verdict bears on a suspect with a pattern: does what was found fit what it says?"""
    if word in (Verdict.INCONCLUSIVE, Verdict.INVALID):
        return Cell.NEUTRAL
    if word is Verdict.NOT_REPRODUCED:
        return {None: Cell.UNKNOWN, False: Cell.FOR, True: Cell.AGAINST}[of[0]]
    if not is_known(of):
        return Cell.UNKNOWN
    found = (True, word in (Verdict.FALSIFIED, Verdict.PREDICTION_REFUTED))
    return Cell.FOR if of == found else Cell.AGAINST


def matrix(suspects: Sequence[Claimed], evidence: Mapping[str, Sequence[Item]]) -> Matrix:
    """Lay all evidence that counts against all suspects.

    Args:
        suspects: What each says of arms, in the order of the columns.
        evidence: Suspect to the items that bear on it.
    """
    rows = (*_runs(suspects, evidence), *_others(suspects, evidence))
    at = {item.id: item.at for items in evidence.values() for item in items}
    rows = tuple(sorted(rows, key=lambda row: (at[row.id], row.id)))
    return Matrix(
        suspects=tuple(each.id for each in suspects),
        rows=rows,
        live=tuple(ids for ids in live_ones(suspects).values() if len(ids) > 1),
        alike=_alike(suspects, rows),
    )


def live_ones(suspects: Iterable[Claimed]) -> dict[str, tuple[str, ...]]:
    """Give the live suspects by symptom."""
    found: dict[str, tuple[str, ...]] = {}
    for each in suspects:
        if each.live:
            found[each.symptom] = (*found.get(each.symptom, ()), each.id)
    return found


def tells_any_apart(suspects: Sequence[Claimed], evidence: Mapping[str, Sequence[Item]]) -> bool:
    """Say whether any run tells two live suspects apart; `matrix` says which, at more expense."""
    live = [each for each in suspects if each.live]
    stated = {(each.symptom, _fixed(each.fails_when)): each for each in live if each.fails_when}
    plain = [each for each in live if not each.fails_when]
    by_id = {each.id: each for each in plain}
    by_arms = {(_fixed(each.control), _fixed(each.treatment)): each for each in plain}
    for id, items in evidence.items():
        for item in items:
            if not item.counts or item.verdict is None:
                continue
            own = (by_id.get(id), by_arms.get(_arms(item.verdict)))
            if _groups([*stated.values(), *filter(None, own)], item.verdict, {}):
                return True
    return False


def _groups(
    suspects: Iterable[Claimed], verdict: VerdictGiven, own: Mapping[str, VerdictGiven]
) -> tuple[tuple[str, ...], ...]:
    """Give the live suspects by their known pattern on a run; nothing if that is one for all."""
    groups: dict[Pattern, list[str]] = {}
    for each in suspects:
        of = pattern(each, own.get(each.id, verdict))
        if each.live and is_known(of):
            groups.setdefault(of, []).append(each.id)
    return tuple(tuple(ids) for ids in groups.values()) if len(groups) > 1 else ()


def _runs(suspects: Sequence[Claimed], evidence: Mapping[str, Sequence[Item]]) -> Iterable[Row]:
    """Yield a row for each pair of arms that a run judged; suspects that share it share the row."""
    found: dict[tuple[object, ...], list[tuple[str, Item, VerdictGiven]]] = {}
    for id, items in evidence.items():
        for item in items:
            if item.counts and item.verdict is not None:
                key = (item.verdict.run, item.verdict.verdict, *_arms(item.verdict))
                found.setdefault(key, []).append((id, item, item.verdict))
    for same in found.values():
        _, item, verdict = same[0]
        served = tuple(id for id, _, _ in same)
        own = {id: each for id, _, each in same}
        patterns = {each.id: pattern(each, own.get(each.id, verdict)) for each in suspects}
        yield Row(
            id=item.id,
            run=verdict.run,
            verdict=verdict,
            grade=item.grade,
            served=served,
            patterns=patterns,
            cells={id: cell(each, verdict.verdict) for id, each in patterns.items()},
            tells=_groups(suspects, verdict, own),
        )


def _others(suspects: Sequence[Claimed], evidence: Mapping[str, Sequence[Item]]) -> Iterable[Row]:
    """Yield a row for each item that somebody gave: how it bears is what they said."""
    known = {each.id for each in suspects}
    found: dict[str, dict[str, Item]] = {}
    for id, items in evidence.items():
        for item in items:
            if item.verdict is None and id in known and (item.counts or item.outranked):
                found.setdefault(item.id, {})[id] = item
    for id, by in found.items():
        first = next(iter(by.values()))
        yield Row(
            id=id,
            grade=first.grade,
            text=first.text or first.source.text,
            cells={suspect: _BEARS[item.bearing] for suspect, item in by.items()},
            idle=frozenset(suspect for suspect, item in by.items() if not item.counts),
        )


def _alike(suspects: Sequence[Claimed], rows: Iterable[Row]) -> tuple[tuple[str, ...], ...]:
    """Give the classes of live suspects that no run tells apart, by what they say of all runs."""
    runs = [row for row in rows if row.verdict is not None]
    classes: dict[tuple[object, ...], list[str]] = {}
    for each in suspects:
        if each.live:
            told = tuple(_known(row.patterns[each.id]) for row in runs)
            classes.setdefault((each.symptom, told), []).append(each.id)
    return tuple(tuple(ids) for ids in classes.values() if len(ids) > 1)


def _known(of: Pattern) -> Pattern | None:
    return of if is_known(of) else None


Fixed = tuple[tuple[str, str], ...]


def _arms(verdict: VerdictGiven) -> tuple[Fixed, Fixed]:
    pair = Pair.of(verdict)
    return _fixed(pair.control), _fixed(pair.treatment)


def _fixed(settings: Mapping[str, str]) -> Fixed:
    return tuple(sorted(settings.items()))


_BEARS = {
    Bearing.FOR: Cell.FOR,
    Bearing.AGAINST: Cell.AGAINST,
    Bearing.NEUTRAL: Cell.NEUTRAL,
}
