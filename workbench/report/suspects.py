"""A registry made ready for reports: each suspect with all that is looked up of it, built once.

Lists, tree and ledger ask for the same few things of each hypothesis: its title although its file may
be gone, the verdict that its state rests on, what nobody has verified. They are gathered in one pass,
so that a campaign of thousands of hypotheses costs no more than its size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from workbench.model.commits import History
from workbench.model.event import (
    AssumptionNoted,
    Bearing,
    Claim,
    Event,
    Grade,
    InterventionNoted,
    Link,
    Note,
    Proposed,
    Reopened,
)
from workbench.model.hypothesis import HYPOTHESIS_ID, Assumption, Hypothesis, number
from workbench.model.registry import Registry, RunLine
from workbench.model.standing import FALLEN, Item, Standing, State
from workbench.model.verdict import Held, Verdict

SYMBOLS: Mapping[State, str] = {
    State.OPEN: "?",
    State.INCONCLUSIVE: "~",
    State.SUPPORTED: "+",
    State.CONFIRMED: "*",
    State.CONTESTED: "!",
    State.FALSIFIED: "x",
    State.OVERTURNED: "X",
    State.SUPERSEDED: ">",
}
"""One ASCII character a state; always beside the word, never instead of it."""

_LEADING_STATES = (State.CONTESTED, State.SUPPORTED, State.CONFIRMED)
_GRADES = tuple(Grade)


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """An assumption and what became of it.

    Attributes:
        assumption: As the hypothesis states it.
        holds: Whether it was found to hold, None while nobody has verified it.
        because: How that was found; may be empty.
    """

    assumption: Assumption
    holds: bool | None = None
    because: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Suspect:
    """A hypothesis as reports see it.

    Attributes:
        id: Its id.
        title: From its file, else from the log.
        standing: Where it stands.
        hypothesis: Its file's content, None when no valid file has the id.
        symptom: Its primary symptom; empty if the campaign leaves that open.
        parents: Parents, the one it hangs under first.
        assumptions: What it rests on, each with what was found.
        edited: Runs after which its prediction, test or `falsified_by` was changed.
        noted: Notes, links to commits, claims and wishes to reopen it, in the order of the log.
    """

    id: str
    title: str
    standing: Standing
    hypothesis: Hypothesis | None = None
    symptom: str = ""
    parents: tuple[str, ...] = ()
    assumptions: tuple[Checked, ...] = ()
    edited: tuple[str, ...] = ()
    noted: tuple[Event, ...] = ()

    @property
    def state(self) -> State:
        """Its state."""
        return self.standing.state

    @property
    def fallen(self) -> bool:
        """It is out, for now."""
        return self.state in FALLEN

    @property
    def runnable(self) -> bool:
        """A run could test it."""
        return self.hypothesis is not None and not self.hypothesis.missing

    @property
    def unverified(self) -> tuple[Checked, ...]:
        """Assumptions that nobody has verified."""
        return tuple(each for each in self.assumptions if each.holds is None)

    @property
    def deciding(self) -> Item | None:
        """The newest verdict that the state rests on, a neutral one if there is no other."""
        judged = [item for item in self.standing.items if item.counts and item.verdict is not None]
        decided = [item for item in judged if item.bearing is not Bearing.NEUTRAL]
        return next(iter(reversed(decided or judged)), None)

    def bearing(self, bearing: Bearing, *, counts: bool = True) -> tuple[Item, ...]:
        """Evidence that bears in one way, either what counts or what does not."""
        items = self.standing.items
        return tuple(item for item in items if item.bearing is bearing and item.counts is counts)


@dataclass(frozen=True, kw_only=True, slots=True)
class Roster:
    """All suspects of a registry.

    Attributes:
        registry: Where they are from.
        suspects: By number, those that only the log knows included.
        by_id: The same, by id.
        children: Id to the ids that name it as a parent, by number.
        runs: Id to the runs that serve it, oldest first.
        newest: When the newest event was appended, None while the log is empty.
        history: What git says of their commits, None where it was not asked.
    """

    registry: Registry
    suspects: tuple[Suspect, ...]
    by_id: Mapping[str, Suspect] = field(default_factory=dict)
    children: Mapping[str, list[str]] = field(default_factory=dict)
    runs: Mapping[str, list[RunLine]] = field(default_factory=dict)
    newest: datetime | None = None
    history: History | None = None

    def __iter__(self) -> Iterator[Suspect]:
        return iter(self.suspects)

    @property
    def counts(self) -> dict[State, int]:
        """How many suspects are in each state that occurs, in the order of the states."""
        states = [suspect.state for suspect in self.suspects]
        return {state: states.count(state) for state in State if state in states}

    def leading(self) -> Suspect | None:
        """Give the suspect best shown to be a cause, None while none is at least contested."""
        ranked = [each for each in self.suspects if each.state in _LEADING_STATES]
        return max(ranked, key=_lead, default=None)

    def verdicts(self) -> Iterator[tuple[Suspect, Item]]:
        """Yield verdicts that count, oldest first, each with the suspect that it is about."""
        found = [
            (suspect, item)
            for suspect in self.suspects
            for item in suspect.standing.items
            if item.counts and item.verdict is not None
        ]
        yield from sorted(found, key=lambda pair: pair[1].at)


def roster(registry: Registry, history: History | None = None) -> Roster:
    """Gather all suspects of a registry; two passes over its log, one over its hypotheses."""
    files = {each.id: each for each in registry.hypotheses}
    titles, found, noted = _from_events(registry)
    ids = sorted({*files, *registry.standings}, key=order)
    symptoms = registry.spec.symptoms
    only = next(iter(symptoms)) if len(symptoms) == 1 else ""
    suspects = []
    for id in ids:
        hypothesis = files.get(id)
        stated = hypothesis.assumptions if hypothesis else ()
        suspects.append(
            Suspect(
                id=id,
                title=hypothesis.title if hypothesis else titles.get(id, ""),
                standing=registry.standings.get(id) or Standing(hypothesis=id, state=State.OPEN),
                hypothesis=hypothesis,
                symptom=(hypothesis.symptom if hypothesis else "") or only,
                parents=_parents(hypothesis),
                assumptions=tuple(_checked(each, found.get((id, each.id))) for each in stated),
                edited=tuple(registry.edited.get(id, ())),
                noted=tuple(noted.get(id, ())),
            )
        )
    newest = max((event.at for event in registry.events), default=None)
    children: dict[str, list[str]] = {}
    for suspect in suspects:
        for parent in suspect.parents:
            children.setdefault(parent, []).append(suspect.id)
    runs: dict[str, list[RunLine]] = {}
    for run in registry.runs:
        for id in run.hypotheses:
            runs.setdefault(id, []).append(run)
    return Roster(
        registry=registry,
        suspects=tuple(suspects),
        by_id={suspect.id: suspect for suspect in suspects},
        children=children,
        runs=runs,
        newest=newest,
        history=history,
    )


def order(id: str) -> tuple[int, int, str]:
    """Order hypothesis ids by number; what is no such id comes last."""
    return (0, number(id), "") if HYPOTHESIS_ID.match(id) else (1, 0, id)


def _parents(hypothesis: Hypothesis | None) -> tuple[str, ...]:
    if hypothesis is None:
        return ()
    named = (hypothesis.parent, *hypothesis.also)
    return tuple(dict.fromkeys(parent for parent in named if parent))


def _from_events(
    registry: Registry,
) -> tuple[dict[str, str], dict[tuple[str, str], AssumptionNoted], dict[str, list[Event]]]:
    """Give titles by id, what was found of assumptions, and what was noted by id."""
    titles: dict[str, str] = {}
    found: dict[tuple[str, str], AssumptionNoted] = {}
    noted: dict[str, list[Event]] = {}
    for event in registry.events:
        match event.body:
            case Proposed(hypothesis=id, title=title):
                titles[id] = title
            case AssumptionNoted(hypothesis=id, assumption=assumption) as checked:
                found[id, assumption] = checked
            case Note(about=about):
                for id in about:
                    noted.setdefault(id, []).append(event)
            case Link() | InterventionNoted() | Claim() | Reopened():
                noted.setdefault(event.body.hypothesis, []).append(event)
    return titles, found, noted


def _checked(assumption: Assumption, noted: AssumptionNoted | None) -> Checked:
    if noted is None:
        return Checked(assumption=assumption)
    return Checked(assumption=assumption, holds=noted.holds, because=noted.because)


def _lead(suspect: Suspect) -> tuple[int, int, bool, bool, int]:
    item, grade = suspect.deciding, suspect.standing.grade
    verdict = item.verdict if item else None
    return (
        _LEADING_STATES.index(suspect.state),
        _GRADES.index(grade) if grade else -1,
        verdict is not None and verdict.verdict is Verdict.PRESENT,
        verdict is not None and verdict.prediction is Held.HELD,
        -order(suspect.id)[1],
    )
