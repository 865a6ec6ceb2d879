"""Where a hypothesis stands: a state that is derived from its evidence and never stored (RULES 7)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from workbench.model.event import Bearing, Counted, Grade, Role, Ruling, Source, VerdictGiven


class State(StrEnum):
    """State of a hypothesis."""

    OPEN = "open"
    INCONCLUSIVE = "inconclusive"
    SUPPORTED = "supported"
    CONFIRMED = "confirmed"
    CONTESTED = "contested"
    FALSIFIED = "falsified"
    OVERTURNED = "overturned"
    SUPERSEDED = "superseded"


FALLEN = frozenset({State.FALSIFIED, State.OVERTURNED, State.SUPERSEDED})
"""States of a suspect that is out, for now: its fixes are dead, its children's parent link is void."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """One item of evidence as it bears on one hypothesis.

    Attributes:
        id: Id of its event.
        at: When it was put on record, UTC.
        who: By whom.
        agent: By a program that acts for somebody.
        grade: How it was obtained.
        bearing: How it bears on the hypothesis.
        text: What it says, in words; untrusted.
        source: Where it comes from.
        verdict: The verdict event behind it, None for evidence that a person gave.
        counted: What an A/B done by hand counted, None for any other evidence.
        counts: It is in the class that counts and has not been struck, superseded or made invalid.
        why_not: Why it does not count; empty when it does.
        outranked: It does not count for no other reason than that runs have spoken.
    """

    id: str
    at: datetime
    who: str
    agent: bool
    grade: Grade
    bearing: Bearing
    text: str
    source: Source
    verdict: VerdictGiven | None = None
    counted: Counted | None = None
    counts: bool = True
    why_not: str = ""
    outranked: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Ruled:
    """A ruling with who made it and when.

    Attributes:
        id: Id of its event.
        at: When, UTC.
        who: By whom.
        agent: By a program that acts for somebody.
        ruling: What was ruled.
        self_ruled: By the author of the hypothesis.
    """

    id: str
    at: datetime
    who: str
    agent: bool
    ruling: Ruling
    self_ruled: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """Where one hypothesis stands.

    Attributes:
        hypothesis: Its id.
        state: The state.
        grade: Best grade among the items that the state rests on, None without any.
        role: What part it has in the failure, None when none is known.
        role_suggested: The role follows from a rule and no ruling has set it.
        items: All evidence that bears on it, in the order of the log.
        rulings: Rulings on it, in the order of the log.
        reopened: Somebody wants it looked at again, and no run has done so since.
        replaced_by: Hypothesis that replaces it; empty if none does.
        author: Who proposed it; empty when its file came without an event.
        was: States that it has been in, in order, the present one last.
    """

    hypothesis: str
    state: State
    grade: Grade | None = None
    role: Role | None = None
    role_suggested: bool = False
    items: tuple[Item, ...] = ()
    rulings: tuple[Ruled, ...] = ()
    reopened: bool = False
    replaced_by: str = ""
    author: str = ""
    was: tuple[State, ...] = (State.OPEN,)
