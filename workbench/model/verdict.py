"""The words that a run ends with, and the numbers that they rest on.

A verdict is always derived, never stored as a truth of its own: `Judgement` is what the rules say of
the counts so far, and the same counts always give the same judgement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from workbench.model.outcome import Counts
from workbench.model.prediction import Prediction
from workbench.model.start import Exposure


class Verdict(StrEnum):
    """Verdict of a run for one hypothesis, in the order in which the rules are tried."""

    INVALID = "invalid"
    PREDICTION_REFUTED = "prediction-refuted"
    PRESENT_BUT_SMALL = "present-but-small"
    PRESENT = "present"
    FALSIFIED = "falsified"
    NOT_REPRODUCED = "not-reproduced"
    INCONCLUSIVE = "inconclusive"


class Held(StrEnum):
    """What a run says of the prediction itself."""

    HELD = "held"
    REFUTED = "refuted"
    UNTESTED = "untested"


class Reason(StrEnum):
    """Why a run ended without a word."""

    BUDGET = "budget"  # the greatest number of blocks, or the time, is used up
    ERRORS = "errors"  # the counts say a word, but not in both worst cases of the errored sessions


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """E-values: 1 says nothing, 100 is needed at alpha 0.01. None: not defined for this test.

    An e-value against a claim exceeds 1 / alpha with probability at most alpha while the claim is
    true, however often one looks. Each is named for the claim that it speaks *against*.

    Attributes:
        no_effect: Against "the control fails no more often than the treatment".
        margin: Against "the effect is at least the margin".
        control_low: Against "the control's rate is at most the floor".
        control_high: Against "the control's rate is at least the floor".
        treatment_clean: Against "the treatment's rate is at most p0", the claim `removes`.
        not_halved: Against "the treatment keeps at least half of the control's rate".
        no_harm: Against "the treatment fails no more often than the control".
        across_restarts: Against "the differences of blocks are symmetric about 0".
    """

    no_effect: float
    margin: float
    control_low: float | None
    control_high: float | None
    treatment_clean: float | None
    not_halved: float
    no_harm: float
    across_restarts: float | None


NO_EVIDENCE = Evidence(
    no_effect=1.0,
    margin=1.0,
    control_low=None,
    control_high=None,
    treatment_clean=None,
    not_halved=1.0,
    no_harm=1.0,
    across_restarts=None,
)
"""What is known before anything was counted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Guard:
    """Something that makes a run invalid whatever its counts say; guards never read labels.

    Attributes:
        name: A short stable word, such as `changed-while-running`.
        detail: What was seen, one line.
    """

    name: str
    detail: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """One hypothesis served by a run: a pair of its arms and what was predicted of them.

    Attributes:
        control: Name of the arm predicted to show the symptom.
        treatment: Name of the other one.
        prediction: What was predicted.
        hypothesis: Its id; None for a comparison that tests none.
        exposure: What proves that the suspect's path was exercised.
    """

    control: str
    treatment: str
    prediction: Prediction = field(default_factory=Prediction)
    hypothesis: str | None = None
    exposure: tuple[Exposure, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Other:
    """What a comparison shows of another symptom than its own: secondary, it decides nothing.

    Attributes:
        arms: Counts of the arms over the judged blocks in which the symptom was watched; of a control
            that was sampled and never compared, its alone.
        rates: Anytime-valid interval of each arm's rate.
        blocks: How many of the judged blocks these are.
        no_effect: E-value against "the control shows it no more often than the treatment".
        no_harm: E-value against "the treatment shows it no more often than the control".
    """

    arms: Mapping[str, Counts]
    rates: Mapping[str, tuple[float, float]]
    blocks: int
    no_effect: float = 1.0
    no_harm: float = 1.0

    @property
    def seen(self) -> bool:
        """Whether it showed at all."""
        return any(counts.hit for counts in self.arms.values())


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """What the rules say of one comparison after some complete blocks.

    Attributes:
        comparison: The pair judged.
        verdict: The word, or None while the run should go on.
        rule: Row of the verdict table that decided (RULES 3), 0 while undecided.
        reason: Why it is inconclusive, else None.
        held: What the run says of the prediction.
        harmful: The treatment is shown to fail more often than the control.
        arms: Counts of the arms over complete blocks, by arm name.
        blocks: Complete blocks judged.
        evidence: The e-values at the last look.
        interval: All risk differences (control minus treatment) not rejected, anytime valid.
        estimate: Observed risk difference on the trimmed counts, None without sessions.
        design_effect: What the counts were divided by, at least 1.
        design_effect_assumed: It rests on the prior more than on the data (fewer than 3 blocks).
        rates: Anytime-valid interval of each arm's rate, by arm name.
        guards: What makes the run invalid.
        notes: Facts that a reader of the verdict must know, one line each.
        others: What the same blocks show of the other symptoms that the run watches, by their names.
    """

    comparison: Comparison
    verdict: Verdict | None
    rule: int
    reason: Reason | None
    held: Held
    harmful: bool
    arms: Mapping[str, Counts]
    blocks: int
    evidence: Evidence
    interval: tuple[float, float]
    estimate: float | None
    design_effect: float
    design_effect_assumed: bool
    rates: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    guards: tuple[Guard, ...] = ()
    notes: tuple[str, ...] = ()
    others: Mapping[str, Other] = field(default_factory=dict)
