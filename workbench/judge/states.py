"""Where each hypothesis stands, derived from the event log alone (RULES 6 and 7).

The log is walked once, in its order. What an event says is filed under the hypotheses that it speaks
of, and the state of these is derived anew from everything filed so far; that gives the states that a
hypothesis went through, which `overturned` depends on. Nothing here knows numbers: a verdict event says
how it bears by its word.

    _Filed       everything that the log says of one hypothesis; its items, its state
    _live        what takes an item of evidence out

What `confirmed` takes is decided in `confirming`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from workbench.judge.confirming import proof
from workbench.model.event import (
    WORDS,
    Bearing,
    Event,
    EvidenceGiven,
    Grade,
    Proposed,
    Reopened,
    Role,
    Ruling,
    Source,
    VerdictGiven,
)
from workbench.model.hypothesis import HYPOTHESIS_ID, number
from workbench.model.standing import Item, Ruled, Standing, State
from workbench.model.verdict import Verdict

BEARS = {
    Verdict.PRESENT: Bearing.FOR,
    Verdict.PRESENT_BUT_SMALL: Bearing.FOR,
    Verdict.FALSIFIED: Bearing.AGAINST,
    Verdict.PREDICTION_REFUTED: Bearing.AGAINST,
    Verdict.INCONCLUSIVE: Bearing.NEUTRAL,
    Verdict.NOT_REPRODUCED: Bearing.NEUTRAL,
    Verdict.INVALID: Bearing.NEUTRAL,
}
"""How the verdict of a run bears on the hypothesis that it was given for."""

_RANK = {grade: place for place, grade in enumerate(Grade)}
_EVER_UP = frozenset({State.SUPPORTED, State.CONFIRMED})


def standings(events: Sequence[Event], ids: Iterable[str]) -> dict[str, Standing]:
    """Say where every hypothesis stands.

    Args:
        events: The log in its order, renumbering applied.
        ids: Hypotheses to give a standing also when the log says nothing of them.

    Returns:
        Id to standing, by number, for `ids` and for every hypothesis that the log names.
    """
    files: dict[str, _Filed] = {id: _Filed(hypothesis=id) for id in ids}
    for event in events:
        for id in about(event):
            files.setdefault(id, _Filed(hypothesis=id)).take(event)
    return {id: files[id].standing() for id in sorted(files, key=_place)}


def about(event: Event) -> Iterable[str]:
    """Name the hypotheses whose standing an event can change."""
    body = event.body
    if isinstance(body, EvidenceGiven):
        return body.bears
    if isinstance(body, Proposed | VerdictGiven | Ruling | Reopened):
        return (body.hypothesis,)
    return ()


def _place(id: str) -> tuple[int, str]:
    return (number(id), id) if HYPOTHESIS_ID.fullmatch(id) else (0, id)


@dataclass(kw_only=True, slots=True)
class _Filed:
    """Everything that the log has said of one hypothesis so far."""

    hypothesis: str
    author: str = ""
    evidence: list[Item] = field(default_factory=list)
    rulings: list[tuple[Event, Ruling]] = field(default_factory=list)
    reopened: bool = False
    was: list[State] = field(default_factory=lambda: [State.OPEN])

    def take(self, event: Event) -> None:
        """File one event, and note the state that it leads to if that is another one."""
        body = event.body
        if isinstance(body, Proposed):
            self.author = self.author or event.by.name
        elif isinstance(body, EvidenceGiven):
            self.evidence.append(_given(event, body, self.hypothesis))
        elif isinstance(body, VerdictGiven):
            self.evidence.append(_of_run(event, body))
            self.reopened = self.reopened and body.verdict is Verdict.INVALID
        elif isinstance(body, Ruling):
            self.rulings.append((event, body))
        elif isinstance(body, Reopened):
            self.reopened = True
        state = self._state(self._items())
        if state is not self.was[-1]:
            self.was.append(state)

    def standing(self) -> Standing:
        """Give the standing after everything filed."""
        items = self._items()
        state = self.was[-1]
        grades = [item.grade for item in items if _rests_on(state, item)]
        shown = proof(items)
        if grades and shown.intervened:
            grades.append(Grade.INTERVENED)
        role = next((each.role for _, each in reversed(self.rulings) if each.role), None)
        suggested = None if role else _suggested_role(items) or shown.role
        return Standing(
            hypothesis=self.hypothesis,
            state=state,
            grade=max(grades, key=_rank, default=None),
            role=role or suggested,
            role_suggested=suggested is not None,
            items=items,
            rulings=tuple(
                Ruled(
                    id=event.id,
                    at=event.at,
                    who=event.by.name,
                    agent=event.by.agent,
                    ruling=ruling,
                    self_ruled=bool(self.author) and event.by.name == self.author,
                )
                for event, ruling in self.rulings
            ),
            reopened=self.reopened,
            replaced_by=self._replaced_by(),
            author=self.author,
            was=tuple(self.was),
        )

    def _replaced_by(self) -> str:
        names = (each.replaced_by for _, each in reversed(self.rulings))
        return next((name for name in names if name not in ("", self.hypothesis)), "")

    def _state(self, items: Sequence[Item]) -> State:
        if self._replaced_by():
            return State.SUPERSEDED
        sides = {item.bearing for item in items if item.counts}
        if {Bearing.FOR, Bearing.AGAINST} <= sides:
            return State.CONTESTED
        if Bearing.FOR in sides:
            return State.CONFIRMED if proof(items).confirmed else State.SUPPORTED
        if Bearing.AGAINST in sides:
            return State.OVERTURNED if _EVER_UP.intersection(self.was) else State.FALSIFIED
        return State.INCONCLUSIVE if any(_neutral_run(item) for item in items) else State.OPEN

    def _items(self) -> tuple[Item, ...]:
        """Give the evidence as it counts now: what is struck, continued or outranked says so."""
        struck = {id: event.id for event, ruling in self.rulings for id in ruling.strikes}
        last = {_process(item): item for item in self.evidence if _is_valid_run(item)}
        items = [_live(item, struck, last) for item in self.evidence]
        if any(item.counts and _takes_side(item) and item.grade not in WORDS for item in items):
            items = [
                replace(_out(item, "an objection in words: runs decide"), outranked=True)
                if item.counts and item.grade in WORDS
                else item
                for item in items
            ]
        return tuple(items)


def _live(item: Item, struck: Mapping[str, str], last: Mapping[str, Item]) -> Item:
    """Take an item out that was struck, is of an invalid run, or was continued by a later run.

    A verdict that was continued stays so when the later one is struck: no ruling brings evidence back.
    """
    if item.id in struck:
        return _out(item, f"struck by {struck[item.id]}")
    if item.verdict is None:
        return item
    if not _is_valid_run(item):
        return _out(item, "the run is invalid")
    newest = last[_process(item)]
    return item if newest.id == item.id else _out(item, f"continued by {newest.source.run}")


def _given(event: Event, body: EvidenceGiven, hypothesis: str) -> Item:
    """Make the item of evidence given by hand; it is never worth more than a comparison."""
    return Item(
        id=event.id,
        at=event.at,
        who=event.by.name,
        agent=event.by.agent,
        grade=min(body.grade, Grade.COMPARED, key=_rank),
        bearing=body.bears[hypothesis],
        text=body.text,
        source=body.source,
        counted=body.counted,
    )


def _of_run(event: Event, body: VerdictGiven) -> Item:
    return Item(
        id=event.id,
        at=event.at,
        who=event.by.name,
        agent=event.by.agent,
        grade=Grade.COMPARED,
        bearing=BEARS[body.verdict],
        text=body.verdict.value,
        source=Source(run=body.run),
        verdict=body,
    )


def _process(item: Item) -> str:
    """Name the process that the verdict of a run belongs to: verdicts of one digest are one."""
    return "" if item.verdict is None else item.verdict.digest or f"run {item.verdict.run}"


def _is_valid_run(item: Item) -> bool:
    return item.verdict is not None and item.verdict.verdict is not Verdict.INVALID


def _takes_side(item: Item) -> bool:
    return item.bearing is not Bearing.NEUTRAL


def _neutral_run(item: Item) -> bool:
    return item.counts and not _takes_side(item) and item.grade not in WORDS


def _out(item: Item, why: str) -> Item:
    return replace(item, counts=False, why_not=why)


def _rank(grade: Grade) -> int:
    return _RANK[grade]


def _rests_on(state: State, item: Item) -> bool:
    """Say whether a state rests on an item: on both sides, on one, on neutral runs, on none."""
    if not item.counts or state in (State.OPEN, State.SUPERSEDED):
        return False
    return _neutral_run(item) if state is State.INCONCLUSIVE else _takes_side(item)


def _suggested_role(items: Sequence[Item]) -> Role | None:
    """Suggest `amplifier` where every run that speaks for it found a small effect only."""
    words = {
        item.verdict.verdict
        for item in items
        if item.counts and item.verdict is not None and item.bearing is Bearing.FOR
    }
    return Role.AMPLIFIER if words == {Verdict.PRESENT_BUT_SMALL} else None
