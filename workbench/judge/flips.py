"""What would change where a suspect stands: single changes, each tried out on the log as it is.

A change is an event that is not there: a ruling that strikes an item, the verdict that a run might end
with. The state is derived anew with it. So what is listed really does flip the state, and "no single
item" really means that none does. An assumption that turns out false takes with it everything that is
for the suspect: that is what rests on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from workbench.judge.confirming import Pair, proof, unfit
from workbench.judge.states import about, standings
from workbench.model.event import (
    Actor,
    ArmResult,
    Bearing,
    Body,
    Circumstances,
    Event,
    Exposed,
    Grade,
    Ruling,
    VerdictGiven,
)
from workbench.model.outcome import Counts
from workbench.model.standing import Item, Standing, State
from workbench.model.verdict import NO_EVIDENCE, Held, Verdict


class Change(StrEnum):
    """A kind of change, the cheapest first."""

    STRIKE = "strike"
    ASSUMPTION = "assumption"
    TEST = "test"
    PUT_BACK = "put-back"


@dataclass(frozen=True, kw_only=True, slots=True)
class Planned:
    """Runs that could be made for a suspect, and what it rests on.

    Attributes:
        hypothesis: The suspect.
        test: Its test; None where it cannot be run, or is decided already.
        put_back: Its put-back run; None where none is written.
        exposed: What its test asks for in both arms.
        assumptions: Ids of its assumptions that nobody has verified.
    """

    hypothesis: str
    test: Pair | None = None
    put_back: Pair | None = None
    exposed: tuple[Exposed, ...] = ()
    assumptions: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Flip:
    """A single change and the state that it leads to.

    Attributes:
        change: Its kind.
        about: Id of the item or assumption, or the word of the verdict.
        run: The run behind an item; empty for none.
        state: The state then.
    """

    change: Change
    about: str
    run: str = ""
    state: State


_WORDS = (
    Verdict.PRESENT,
    Verdict.PRESENT_BUT_SMALL,
    Verdict.FALSIFIED,
    Verdict.PREDICTION_REFUTED,
    Verdict.NOT_REPRODUCED,
    Verdict.INCONCLUSIVE,
)
_GRADES = tuple(Grade)
_NOBODY = Actor(name="nobody")
_ID = "what-if"
_LATE = datetime(9999, 1, 1, tzinfo=UTC)


def flips(planned: Planned, standing: Standing, events: Sequence[Event]) -> tuple[Flip, ...]:
    """Give the single changes that would change the state of a suspect, the cheapest first.

    Args:
        planned: What could be run for it, and what it rests on.
        standing: Where it stands now.
        events: The log in its order.
    """
    mine = [event for event in events if planned.hypothesis in about(event)]

    changes = (
        *_strikes(planned.hypothesis, standing),
        *_assumptions(planned, standing),
        *_tests(planned),
        *_put_backs(planned, standing),
    )
    found = []
    for change, what, run, body in changes:
        state = _with(mine, body, planned.hypothesis).state
        if state is not standing.state:
            found.append(Flip(change=change, about=what, run=run, state=state))
    return tuple(found)


Tried = tuple[Change, str, str, Body]


def strike(hypothesis: str, *items: str) -> Ruling:
    """Give the ruling that strikes items of evidence."""
    return Ruling(hypothesis=hypothesis, because="what if", strikes=items)


def _strikes(hypothesis: str, standing: Standing) -> Iterator[Tried]:
    """Yield each live item struck, the worst founded first."""
    live = [item for item in standing.items if item.counts]
    for item in sorted(live, key=_grade):
        yield Change.STRIKE, item.id, item.source.run, strike(hypothesis, item.id)


def _assumptions(planned: Planned, standing: Standing) -> Iterator[Tried]:
    """Yield each open assumption false: what is for the suspect rests on it."""
    resting = [item.id for item in standing.items if item.counts and item.bearing is Bearing.FOR]
    if resting:
        for id in planned.assumptions:
            yield Change.ASSUMPTION, id, "", strike(planned.hypothesis, *resting)


def _tests(planned: Planned) -> Iterator[Tried]:
    if planned.test is not None:
        for word in _WORDS:
            body = _verdict(planned, planned.test, word, Circumstances(exposed=planned.exposed))
            yield Change.TEST, word, "", body


def _put_backs(planned: Planned, standing: Standing) -> Iterator[Tried]:
    """Yield what the put-back run may end with, where it would be run at all."""
    removed = proof(standing.items).removed
    if planned.put_back is None or removed is None or removed.verdict is None:
        return
    if unfit(Pair.of(removed.verdict), planned.put_back):
        return
    came_about = Circumstances(
        put_back=True,
        planned=_LATE,
        began=_LATE,
        ended=_LATE + timedelta(hours=1),
        reset="a new process",
        exposed=planned.exposed,
    )
    for word in _WORDS:
        yield Change.PUT_BACK, word, "", _verdict(planned, planned.put_back, word, came_about)


def _verdict(planned: Planned, pair: Pair, word: Verdict, came_about: Circumstances) -> VerdictGiven:
    """Give a verdict that nobody has given."""
    held = {Verdict.PRESENT: Held.HELD, Verdict.PREDICTION_REFUTED: Held.REFUTED}
    results = {
        "control": ArmResult(settings=pair.control, counts=Counts(0, 0), interval=(0.0, 1.0)),
        "treatment": ArmResult(settings=pair.treatment, counts=Counts(0, 0), interval=(0.0, 1.0)),
    }
    return VerdictGiven(
        run=_ID,
        hypothesis=planned.hypothesis,
        verdict=word,
        prediction=held.get(word, Held.UNTESTED),
        predicted="",
        reason=None,
        harmful=False,
        arms=results,
        blocks=0,
        evidence=NO_EVIDENCE,
        interval=(-1.0, 1.0),
        estimate=None,
        design_effect=1.0,
        digest=_ID,
        symptom=pair.symptom,
        workload=pair.workload,
        engine=pair.engine,
        circumstances=came_about,
    )


def _with(events: Sequence[Event], body: Body, hypothesis: str) -> Standing:
    """Give where a hypothesis would stand after one more event."""
    more = Event(id=_ID, prev=(), seq=1, at=_LATE, by=_NOBODY, body=body, digest=_ID)
    return standings([*events, more], [hypothesis])[hypothesis]


def _grade(item: Item) -> int:
    return _GRADES.index(item.grade)
