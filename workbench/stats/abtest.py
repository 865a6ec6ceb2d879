"""The A/B test: blocks of counts in, one of six words out.

    >>> test = ABTest(predicted=(0.17, 0.0), removes=True)
    >>> test.add_block(control=(10, 60), treatment=(0, 60), first="control")
    >>> test.add_block(control=(9, 60), treatment=(0, 60), first="treatment")
    <Verdict.PRESENT: 'present'>
    >>> round(test.evidence.no_effect)  # 100 is needed
    9201
    >>> test.interval
    (0.05, 0.325)

The test may be looked at after every block and stopped at any time, for any reason, without spoiling
its error rates; what may not be done is to start it anew and forget the earlier blocks.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from workbench.model.outcome import Counts
from workbench.model.plan import Cluster
from workbench.model.verdict import Evidence, Held, Reason, Verdict
from workbench.stats.alternatives import Pair
from workbench.stats.claims import Claims, Discounts
from workbench.stats.counting import Tally, as_counts, trim, worst_cases
from workbench.stats.interval import Interval, difference_interval, rate_interval
from workbench.stats.losses import Losses
from workbench.stats.table import first_match
from workbench.stats.terms import LEAST_P0, Terms

ArmName = Literal["control", "treatment"]

ROW_EXHAUSTED = 7
HOLDS_AT = 10.0
"""E-value from which a prediction that most of the failure goes away counts as held."""

MEASURABLE_BLOCKS = 3
"""Blocks from which the design effect rests more on the data than on its prior."""


class ABTest:
    """A sequential test of one prediction on two arms.

    Args:
        alpha: Greatest probability of a false word, each side; e-values of 1 / alpha are needed.
        margin: Effect that "no effect" is told from: an absolute risk difference, or None for half of
            the control's rate.
        predicted: Predicted rates of control and treatment, control first and greater; None if unknown.
        removes: The treatment is claimed to remove the failure, which few sessions can refute.
        floor: Control rate from which the failure counts as reproduced; None takes a quarter of the
            predicted control. With neither, `falsified` and `not-reproduced` cannot be reached.
        design_effect: `starts` divides counts by the dispersion between starts; None does not.
        min_blocks: Blocks before a two-arm word can fall.
        max_blocks: Blocks after which the test is inconclusive.
        p0: Treatment rate up to which the failure counts as removed.
        cluster: What sessions share; TRIAL makes every session a start of its own.

    Raises:
        ValueError: A number is out of range, or the prediction has the arms the wrong way round.
    """

    def __init__(
        self,
        alpha: float = 0.01,
        margin: float | None = None,
        predicted: Pair | None = None,
        removes: bool = False,
        floor: float | None = None,
        design_effect: Literal["starts"] | None = "starts",
        min_blocks: int = 2,
        max_blocks: int = 12,
        *,
        p0: float = LEAST_P0,
        cluster: Cluster = Cluster.START,
    ) -> None:
        if design_effect not in ("starts", None):
            raise ValueError(f"design_effect must be 'starts' or None, not {design_effect!r}")
        if predicted is not None:
            control, treatment = predicted
            predicted = (float(control), float(treatment))
            floor = predicted[0] / 4 if floor is None else floor
        self._begin(
            Terms(
                alpha=alpha,
                margin=margin,
                predicted=predicted,
                removes=removes,
                floor=floor,
                p0=p0,
                design_effect=design_effect == "starts",
                cluster=cluster,
                min_blocks=min_blocks,
                max_blocks=max_blocks,
            )
        )

    @classmethod
    def under(cls, terms: Terms) -> ABTest:
        """Begin a test under ready-made terms, such as `Terms.of(rules, prediction)`."""
        test = cls.__new__(cls)
        test._begin(terms)
        return test

    def _begin(self, terms: Terms) -> None:
        self.terms = terms
        self.verdict: Verdict | None = None
        self.rule = 0
        self.reason: Reason | None = None
        self._claims = Claims(terms)
        self._tally = Tally()
        self._worst = (Tally(), Tally())
        self._differences: list[float] = []
        self._first_arms: set[ArmName] = set()
        self._arms = {"control": Counts(0, 0), "treatment": Counts(0, 0)}
        self._losses = Losses()

    def add_block(
        self,
        control: Counts | tuple[int, int],
        treatment: Counts | tuple[int, int],
        first: ArmName = "control",
    ) -> Verdict | None:
        """Take in a complete block and look at the table.

        Blocks may follow a verdict, to collect evidence across restarts; the word stays.

        Args:
            control: Counts of the control arm, best with their order; or hits and sessions.
            treatment: Counts of the treatment arm.
            first: The arm that was brought up first, as drawn.

        Returns:
            The verdict so far, None while the test should go on.

        Raises:
            ValueError: Counts are negative or do not add up, or `first` names no arm.
        """
        if first not in ("control", "treatment"):
            raise ValueError(f"first must be 'control' or 'treatment', not {first!r}")
        self._take(as_counts(control), as_counts(treatment), first)
        if self.verdict is None:
            self._look(exhausted=self.blocks >= self.terms.max_blocks)
        return self.verdict

    def add_unseen(self, blocks: Iterable[tuple[Counts, Counts]]) -> None:
        """Take in blocks that came all at once; nothing is looked at before `close`."""
        for control, treatment in blocks:
            self._take(control, treatment, "control")

    def _take(self, control: Counts, treatment: Counts, first: ArmName) -> None:
        block = trim(control, treatment)
        if_control, if_treatment = worst_cases(control, treatment)
        self._tally = self._tally.with_block(block)
        self._worst = (self._worst[0].with_block(if_control), self._worst[1].with_block(if_treatment))
        self._differences.append(block.difference)
        self._first_arms.add(first)
        self._arms["control"] += control
        self._arms["treatment"] += treatment
        self._losses = self._losses.with_block(control, treatment)

    def close(self) -> Verdict:
        """End the test: nothing more will come. Gives the word, `inconclusive` if none has fallen."""
        if self.verdict is None:
            self._look(exhausted=True)
        return self.verdict or Verdict.INCONCLUSIVE

    def _look(self, *, exhausted: bool) -> None:
        """Take the word of the table if both worst cases of the undecided sessions say it too."""
        word, row = self._word(self._tally)
        if word is not None and self._losses.any:
            stands = all(self._word(case)[0] is word for case in self._worst)
        else:
            stands = word is not None
        if stands:
            self.verdict, self.rule = word, row
        elif exhausted:
            self.verdict, self.rule = Verdict.INCONCLUSIVE, ROW_EXHAUSTED
            self.reason = Reason.ERRORS if word or self._losses.prevail else Reason.BUDGET

    def _word(self, tally: Tally) -> tuple[Verdict | None, int]:
        reading = self._claims.read(tally, Discounts.measured(self.terms, tally))
        return first_match(self._claims.findings(tally, reading, exhausted=False))

    @property
    def blocks(self) -> int:
        """Blocks taken in."""
        return self._tally.blocks

    @property
    def arms(self) -> dict[str, Counts]:
        """Counts of `control` and `treatment` over all blocks, before trimming."""
        return dict(self._arms)

    @property
    def tally(self) -> Tally:
        """The trimmed counts that evidence is computed on."""
        return self._tally

    @property
    def removes_testable(self) -> bool:
        """Whether "removes" can be tested: p0 must lie below the floor."""
        return self.terms.removes_testable

    @property
    def evidence(self) -> Evidence:
        """All e-values on the blocks so far.

        `across_restarts` is None until both arms have been first in some block: without a drawn order
        the sign of a difference is no fair coin.
        """
        drawn = len(self._first_arms) == 2
        return self._claims.evidence(self._tally, self._discounts, self._differences if drawn else None)

    @property
    def held(self) -> Held:
        """What the blocks so far say of the prediction itself."""
        reading = self._claims.read(self._tally, self._discounts)
        if self.terms.removes and self._claims.removal_refuted(self._tally, reading):
            return Held.REFUTED
        if self.terms.claims_most_removed and self.evidence.not_halved >= HOLDS_AT:
            return Held.HELD
        return Held.UNTESTED

    @property
    def harmful(self) -> bool:
        """Whether the treatment is shown to fail more often than the control."""
        return self.evidence.no_harm >= 1 / self.terms.alpha

    @property
    def estimate(self) -> float | None:
        """Observed risk difference on the trimmed counts; None without sessions."""
        return self._tally.difference

    @property
    def interval(self) -> Interval:
        """Anytime-valid interval of the risk difference, on counts divided by the design effect."""
        tally, phi = self._tally, self.design_effect
        return difference_interval(
            tally.control_hits / phi,
            tally.treatment_hits / phi,
            tally.sessions / phi,
            alpha=self.terms.alpha,
            predicted=self.terms.predicted,
        )

    @property
    def rates(self) -> dict[str, Interval]:
        """Anytime-valid interval of each arm's rate, on all its decided sessions: bounds of "k of n".

        Counts are divided by the greater of the measured and the assumed design effect, since an arm
        without a hit cannot show its own.
        """
        worth, alpha = self._discounts.clean, self.terms.alpha
        return {
            name: rate_interval(arm.hit / worth, arm.decided / worth, alpha=alpha)
            for name, arm in self._arms.items()
        }

    @property
    def errors_differ(self) -> bool:
        """Whether one arm is shown to lose more sessions than the other, see `losses`."""
        return self._losses.differ(self.terms.alpha, self._discounts.refuting)

    @property
    def design_effect(self) -> float:
        """What counts are divided by, at least 1."""
        return self._discounts.pooled

    @property
    def design_effect_assumed(self) -> bool:
        """Whether the design effect rests more on its prior than on the data."""
        in_use = self.terms.design_effect and self.terms.cluster is Cluster.START
        return in_use and self._tally.informative_blocks < MEASURABLE_BLOCKS

    @property
    def _discounts(self) -> Discounts:
        return Discounts.measured(self.terms, self._tally)
