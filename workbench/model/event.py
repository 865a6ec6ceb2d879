"""The event log of a campaign: who did or found what, when, and what they had seen before.

An event has a head, the same for all, and a body by its kind. The log is a DAG: each event names the
heads that its writer saw, so that two branches which both appended can be merged and nothing is lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from workbench.model.outcome import Counts
from workbench.model.verdict import Evidence, Guard, Held, Other, Reason, Verdict

EVENT_SCHEMA = "workbench/event@1"


class Grade(StrEnum):
    """How evidence was obtained, weakest first."""

    ARGUED = "argued"
    READ = "read"
    OBSERVED = "observed"
    COMPARED = "compared"
    INTERVENED = "intervened"


WORDS = frozenset({Grade.ARGUED, Grade.READ})
"""Grades that no run stands behind; they count only while no run evidence does (RULES 7)."""


class Bearing(StrEnum):
    """How evidence bears on a hypothesis."""

    FOR = "for"
    AGAINST = "against"
    NEUTRAL = "neutral"


class Per(StrEnum):
    """What the counts of an A/B that was done by hand are counts of."""

    SESSION = "session"
    RESPONSE = "response"  # several of one session fail together: shown, and never tested against


class Role(StrEnum):
    """What part a hypothesis has in the failure; rules suggest one, a ruling sets it."""

    CAUSE = "cause"
    CONTRIBUTING = "contributing"
    AMPLIFIER = "amplifier"
    EXPOSER = "exposer"
    NOT_A_DEFECT = "not-a-defect"


@dataclass(frozen=True, kw_only=True, slots=True)
class Actor:
    """Who appends: a person, or a program that acts for one."""

    name: str
    agent: bool = False

    def __str__(self) -> str:
        return f"{self.name}:agent" if self.agent else self.name


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """Where evidence comes from: a run, a place in code, or words; empty fields say nothing."""

    run: str = ""
    commit: str = ""
    path: str = ""
    line: int | None = None
    text: str = ""


# --- bodies, one class a kind ---------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Proposed:
    """A hypothesis was added by the tool, under an id given under the log's lock."""

    hypothesis: str
    file: str
    title: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Note:
    """Something worth remembering; `about` names hypotheses or runs. Its event's id begins with N-."""

    text: str
    about: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Sighting:
    """The symptom was seen outside any run."""

    symptom: str
    text: str
    source: Source = field(default_factory=Source)


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceGiven:
    """An item of evidence from a person or an agent. Its event's id begins with E-.

    `counted` is what an A/B counted that somebody did by hand, None for evidence in words.
    """

    grade: Grade
    bears: Mapping[str, Bearing]
    text: str = ""
    source: Source = field(default_factory=Source)
    counted: Counted | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RunNoted:
    """A run of the campaign began, or ended without a verdict on record.

    Attributes:
        run: Its id.
        hypotheses: Those that it serves.
        state: The run's state, such as `running` or `stopped`.
        why: Why it stopped short.
    """

    run: str
    hypotheses: tuple[str, ...]
    state: str
    why: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ArmResult:
    """One arm of a verdict: what it was set to, what it counted, and the interval of its rate.

    `load` is what it was driven with, as far as it is known: `in_flight`, `sessions` a block, `turns`.
    """

    settings: Mapping[str, str]
    counts: Counts
    interval: tuple[float, float]
    load: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Counted:
    """What an A/B counted that no run of the campaign did, and what the rules of one say of it.

    Attributes:
        arms: `control` and `treatment`: settings, counts over all pairs, interval of the rate.
        per: What was counted.
        pairs: Counts of control and treatment, for each start of both.
        symptom: Primary symptom.
        verdict: The word; None where nothing was tested.
        evidence: E-values; None likewise.
        interval: Risk differences not rejected; None likewise.
        design_effect: What counts were divided by.
        alpha: Greatest probability of a false word.
        margin: Risk difference, or None for half of the control's rate.
        notes: What a reader must know.
    """

    arms: Mapping[str, ArmResult]
    per: Per = Per.SESSION
    pairs: tuple[tuple[Counts, Counts], ...] = ()
    symptom: str = ""
    verdict: Verdict | None = None
    evidence: Evidence | None = None
    interval: tuple[float, float] | None = None
    design_effect: float = 1.0
    alpha: float = 0.01
    margin: float | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Exposed:
    """Whether a path was exercised as much as a test asks.

    Attributes:
        what: What was counted, such as `metric hicache_loaded_pages_total`.
        control: In every start of the control; None where that was not asked for or not looked up.
        treatment: In every start of the treatment, likewise.
    """

    what: str
    control: bool | None = None
    treatment: bool | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Circumstances:
    """How the run behind a verdict came about: what `confirmed` needs beside its word (RULES 8).

    Attributes:
        put_back: The cause was put back into the fixed system; else the test itself was run.
        planned: When it was planned, UTC.
        began: When it was first opened.
        ended: When its last exchange ended.
        reset: What lay between two starts; empty if nothing did, or nobody knows.
        exposed: What its test asked for as proof that the suspect's path ran, in either arm.
        starts: Starts of the run itself that were looked at.
        start_seconds: Mean seconds that one of them took to be ready; None without any.
    """

    put_back: bool = False
    planned: datetime | None = None
    began: datetime | None = None
    ended: datetime | None = None
    reset: str = ""
    exposed: tuple[Exposed, ...] = ()
    starts: int = 0
    start_seconds: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Earlier:
    """An earlier run of the same test whose complete blocks are a run's beginning (RULES 6)."""

    run: str
    blocks: int


@dataclass(frozen=True, kw_only=True, slots=True)
class VerdictGiven:
    """What a finished run says of one hypothesis; with it, states need neither numbers nor runs.

    Attributes:
        run: Its id.
        hypothesis: The hypothesis served.
        verdict: The word.
        prediction: What it says of the prediction itself.
        predicted: The prediction as `C:T`.
        reason: Why it is inconclusive, else None.
        harmful: The treatment fails more often than the control (`reversed` in the file).
        arms: `control` and `treatment`: settings, counts over all complete blocks, interval.
        blocks: Complete blocks judged, those of earlier runs included.
        evidence: E-values at the last look.
        interval: Risk differences not rejected.
        estimate: Observed risk difference, None without sessions.
        design_effect: What counts were divided by.
        digest: Test digest: verdicts of one digest are one process, of which the last word counts.
        earlier: Runs whose blocks it begins with.
        symptom: Primary symptom.
        workload: Name of the workload.
        engine: Name of the engine.
        alpha: Greatest probability of a false word.
        margin: Risk difference, or None for half of the control's rate.
        reference: Known rate of the symptom, None when the prediction's stood for it.
        seconds: Time spent running.
        guards: What made it invalid.
        notes: What a reader must know.
        others: What the arms show of other symptoms, by their names; it decides nothing.
        circumstances: How its run came about; None where it was written before that was put on record.
    """

    run: str
    hypothesis: str
    verdict: Verdict
    prediction: Held
    predicted: str
    reason: Reason | None
    harmful: bool
    arms: Mapping[str, ArmResult]
    blocks: int
    evidence: Evidence
    interval: tuple[float, float]
    estimate: float | None
    design_effect: float
    digest: str
    earlier: tuple[Earlier, ...] = ()
    symptom: str = ""
    workload: str = ""
    engine: str = ""
    alpha: float = 0.01
    margin: float | None = None
    reference: float | None = None
    seconds: float = 0.0
    guards: tuple[Guard, ...] = ()
    notes: tuple[str, ...] = ()
    others: Mapping[str, Other] = field(default_factory=dict)
    circumstances: Circumstances | None = None

    @property
    def put_back(self) -> bool:
        """Whether its run put the cause back."""
        return self.circumstances is not None and self.circumstances.put_back


@dataclass(frozen=True, kw_only=True, slots=True)
class Ruling:
    """A decision; it adds no evidence and sets no state but `superseded`.

    Attributes:
        hypothesis: The hypothesis ruled on.
        because: The reason, in words.
        strikes: Evidence that no longer counts, by the ids of its events.
        role: The role that it sets, None to leave it.
        replaced_by: Hypothesis that takes its place; empty for none.
    """

    hypothesis: str
    because: str
    strikes: tuple[str, ...] = ()
    role: Role | None = None
    replaced_by: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reopened:
    """Somebody wants a hypothesis looked at again; evidence and state stay as they are."""

    hypothesis: str
    because: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """Somebody works on a hypothesis until a time."""

    hypothesis: str
    until: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Link:
    """A commit belongs to a hypothesis, `role` being cause, fix, mitigation, instrument or revert."""

    hypothesis: str
    commit: str
    role: str
    because: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class AssumptionNoted:
    """An assumption of a hypothesis was found to hold, or not."""

    hypothesis: str
    assumption: str
    holds: bool | None
    because: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class InterventionNoted:
    """A change made because of a hypothesis was planned, went live, was taken back, or had an effect.

    Without a state it says the effect alone, and what was noted before stays.
    """

    hypothesis: str
    commit: str
    state: str = ""
    effect: str = "unmeasured"
    because: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ConstraintNoted:
    """A constraint of the campaign was added, dropped or checked."""

    constraint: str
    text: str
    because: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class OutsideChange:
    """Something changed that nobody in the campaign did, such as a restart of an engine."""

    text: str
    engine: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Renumbered:
    """A file got another id after a merge; readers read the listed events and runs accordingly.

    Attributes:
        file: The hypothesis file, relative to the campaign's folder, by its new name.
        was: The id that clashed (`from` in the log).
        to: The new id.
        events: Events that speak of this file's hypothesis by the old id.
        runs: Runs that served it under the old id.
    """

    file: str
    was: str
    to: str
    events: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Unknown:
    """An event of a kind that this workbench does not know; kept, ordered, and not interpreted."""

    kind: str
    facts: Mapping[str, Any] = field(default_factory=dict)


Body = (
    Proposed
    | Note
    | Sighting
    | EvidenceGiven
    | RunNoted
    | VerdictGiven
    | Ruling
    | Reopened
    | Claim
    | Link
    | AssumptionNoted
    | InterventionNoted
    | ConstraintNoted
    | OutsideChange
    | Renumbered
    | Unknown
)

KINDS: Mapping[str, type[Body]] = {
    "proposed": Proposed,
    "note": Note,
    "sighting": Sighting,
    "evidence": EvidenceGiven,
    "run": RunNoted,
    "verdict": VerdictGiven,
    "ruling": Ruling,
    "reopened": Reopened,
    "claim": Claim,
    "link": Link,
    "assumption": AssumptionNoted,
    "intervention": InterventionNoted,
    "constraint": ConstraintNoted,
    "outside-change": OutsideChange,
    "renumbered": Renumbered,
}
"""Kind as the log spells it, and the class of its body."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """One line of the log.

    Attributes:
        id: `E-` or `N-` and 4 base32 letters for evidence and notes, else 8 random letters.
        prev: Digests of the heads that its writer saw, sorted; empty for the first.
        seq: One more than the greatest that its writer saw; a hint, never an order.
        at: When, UTC, by the writer's clock.
        by: Who.
        body: What.
        digest: sha256 of its line without the newline; what a later event's `prev` names.
    """

    id: str
    prev: tuple[str, ...]
    seq: int
    at: datetime
    by: Actor
    body: Body
    digest: str

    @property
    def kind(self) -> str:
        """The kind as the log spells it."""
        if isinstance(self.body, Unknown):
            return self.body.kind
        return next(kind for kind, cls in KINDS.items() if cls is type(self.body))
