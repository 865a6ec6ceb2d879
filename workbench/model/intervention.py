"""Changes that belong to a hypothesis: what they are to it, where they stand, what they did."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class LinkRole(StrEnum):
    """What a commit is to a hypothesis; all but a cause are interventions."""

    CAUSE = "cause"
    FIX = "fix"
    MITIGATION = "mitigation"
    INSTRUMENT = "instrument"
    REVERT = "revert"


class InterventionState(StrEnum):
    """Where a change stands."""

    PLANNED = "planned"
    LIVE = "live"
    REVERTED = "reverted"
    DEAD = "dead"  # still in the tree, and its hypothesis fell


class Effect(StrEnum):
    """What a change did to the symptom."""

    FIXED = "fixed"
    REDUCED = "reduced"
    GUARDED = "guarded"
    NONE = "none"
    UNMEASURED = "unmeasured"


@dataclass(frozen=True, kw_only=True, slots=True)
class Linked:
    """A commit as the campaign knows it: from the hypothesis's file and from the log.

    Attributes:
        commit: The commit, as it was named first.
        role: What it is to the hypothesis; `change` when nobody has said.
        state: State that was noted last; empty if none was.
        effect: Effect that was noted last.
        because: What was noted with it.
        noted_dead: Somebody noted at some time that it was dead.
    """

    commit: str
    role: str
    state: str = ""
    effect: str = Effect.UNMEASURED.value
    because: str = ""
    noted_dead: bool = False
