"""Judges every comparison of a run after each complete block, and says when the run may end.

One `ABTest` a comparison; a word that has fallen stays. Arms that no undecided comparison needs are
not started again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from workbench.judge.continuation import NOTHING, Beginning
from workbench.judge.reference import notes, rate
from workbench.model.outcome import Counts
from workbench.model.plan import Plan
from workbench.model.verdict import (
    NO_EVIDENCE,
    Comparison,
    Guard,
    Held,
    Judgement,
    Reason,
    Verdict,
)
from workbench.stats import ABTest, Terms, rate_interval


class Jury:
    """The judgements of one run.

    Args:
        plan: The run's plan.
        beginning: Blocks of earlier runs of the same test, which are judged before the run's own.

    Attributes:
        guards: What has made the run invalid.
    """

    def __init__(self, plan: Plan, beginning: Beginning = NOTHING) -> None:
        self._plan = plan
        self._beginning = beginning
        self._measured: Counts | None = None
        self._rate: float | None = None
        self.guards: tuple[Guard, ...] = ()
        if plan.measurement is not None and beginning.measured is not None:
            self.take_measurement(beginning.measured)
        else:
            self._set_up()

    def take_measurement(self, counts: Counts) -> None:
        """Take the complete measurement that comes before the first block."""
        if self._plan.measurement is not None:
            self._measured = counts
            self._rate = rate(counts, self._plan.measurement)
            self._set_up()

    def _set_up(self) -> None:
        self._tests = [self._test(at) for at in range(len(self._plan.comparisons))]

    def _test(self, at: int) -> ABTest:
        """Begin a test with its earlier blocks; the run may add as many as were planned."""
        rules, earlier = self._plan.rules, self._beginning.of(at)
        rules = replace(rules, max_blocks=rules.max_blocks + len(earlier))
        test = ABTest.under(Terms.of(rules, self._plan.comparisons[at].prediction, self._rate))
        for block in earlier:
            if test.verdict is None:
                test.add_block(block.control, block.treatment, block.first)
        return test

    @property
    def nothing_to_compare(self) -> bool:
        """The measurement alone ends the run: the control did not fail once, or nothing was asked."""
        return not self._plan.comparisons or (self._measured is not None and self._rate is None)

    def add_block(self, counts: Mapping[str, Counts], order: Sequence[str]) -> None:
        """Judge one more complete block.

        Args:
            counts: Counts of the block's arms, in assignment order.
            order: Arms in the order in which they ran.
        """
        for comparison, test in zip(self._plan.comparisons, self._tests, strict=True):
            pair = (comparison.control, comparison.treatment)
            if test.verdict is None and all(arm in counts for arm in pair):
                first = min(pair, key=list(order).index)
                test.add_block(
                    control=counts[comparison.control],
                    treatment=counts[comparison.treatment],
                    first="control" if first == comparison.control else "treatment",
                )

    def trip(self, guards: Sequence[Guard]) -> None:
        """Make the run invalid."""
        self.guards += tuple(guards)

    def close(self) -> None:
        """No more blocks will come: what is undecided is inconclusive."""
        for test in self._tests:
            test.close()

    @property
    def guarded(self) -> bool:
        """A guard has tripped: the run is invalid and need not go on."""
        return bool(self.guards)

    @property
    def decided(self) -> bool:
        """Every comparison has its word, or a guard took them all."""
        return self.guarded or self.nothing_to_compare or not self.arms_needed

    @property
    def arms_needed(self) -> tuple[str, ...]:
        """Arms of undecided comparisons, in the plan's order."""
        open_ones = [
            comparison
            for comparison, test in zip(self._plan.comparisons, self._tests, strict=True)
            if test.verdict is None
        ]
        names = {arm for comparison in open_ones for arm in (comparison.control, comparison.treatment)}
        return tuple(arm.name for arm in self._plan.arms if arm.name in names)

    @property
    def judgements(self) -> tuple[Judgement, ...]:
        """What the rules say so far, one judgement a comparison, in the plan's order."""
        found = []
        for comparison, test in zip(self._plan.comparisons, self._tests, strict=True):
            if self.nothing_to_compare:
                judgement = self._from_measurement(comparison)
            else:
                judgement = _judgement(comparison, test)
            if not self._plan.rules.restarts:
                evidence = replace(judgement.evidence, across_restarts=None)
                judgement = replace(judgement, evidence=evidence)
            if self.guards:  # they overrule every word
                judgement = replace(
                    judgement, verdict=Verdict.INVALID, rule=1, reason=None, guards=self.guards
                )
            found.append(judgement)
        return tuple(found)

    def _from_measurement(self, comparison: Comparison) -> Judgement:
        """Judge a control that never failed: not reproduced, unless its errors could hide a hit."""
        counts = self._measured or Counts(0, 0)
        clean = counts.total > 0 and counts.clean == counts.total
        alpha = self._plan.rules.alpha
        return Judgement(
            comparison=comparison,
            verdict=Verdict.NOT_REPRODUCED if clean else Verdict.INCONCLUSIVE,
            rule=6 if clean else 7,
            reason=None if clean else Reason.ERRORS,
            held=Held.UNTESTED,
            harmful=False,
            arms={comparison.control: counts},
            blocks=0,
            evidence=NO_EVIDENCE,
            interval=(-1.0, 1.0),
            estimate=None,
            design_effect=1.0,
            design_effect_assumed=True,
            rates={comparison.control: rate_interval(counts.hit, counts.decided, alpha=alpha)},
        )


def _judgement(comparison: Comparison, test: ABTest) -> Judgement:
    arms, rates = test.arms, test.rates
    return Judgement(
        comparison=comparison,
        verdict=test.verdict,
        rule=test.rule,
        reason=test.reason,
        held=test.held if comparison.prediction.treatment is not None else Held.UNTESTED,
        harmful=test.harmful,
        arms={
            comparison.control: arms["control"],
            comparison.treatment: arms["treatment"],
        },
        blocks=test.blocks,
        evidence=test.evidence,
        interval=test.interval,
        estimate=test.estimate,
        design_effect=test.design_effect,
        design_effect_assumed=test.design_effect_assumed,
        rates={
            comparison.control: rates["control"],
            comparison.treatment: rates["treatment"],
        },
        notes=(*notes(test.terms, comparison.prediction), *_lost(comparison, test)),
    )


def _lost(comparison: Comparison, test: ABTest) -> tuple[str, ...]:
    """Say that one arm loses more sessions than the other, where that is shown."""
    if not test.errors_differ:
        return ()
    names = {"control": comparison.control, "treatment": comparison.treatment}
    lost = ", ".join(
        f"{names[arm]} {counts.total - counts.decided}/{counts.total}"
        for arm, counts in test.arms.items()
    )
    return (f"errored or incomplete sessions differ between the arms ({lost}): a finding of its own",)
