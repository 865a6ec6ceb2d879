"""What a run shows of other symptoms than its own (RULES 1): counted beside it, and deciding nothing.

The same complete blocks, counted for another symptom, go through an `ABTest` of its own: no prediction,
no reference, the same rules otherwise. Nothing in here can be seen by the jury. A run that goes on from
others takes over their blocks where they watched that very symptom; elsewhere they say nothing of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice

from workbench.judge.continuation import Beginning, PairBlock, complete_blocks
from workbench.judge.fold import Tally
from workbench.model.plan import Plan
from workbench.model.prediction import Prediction
from workbench.model.verdict import Comparison, Judgement, Other
from workbench.stats import ABTest, Terms, rate_interval


class Others:
    """The other symptoms of one run.

    Args:
        plan: The run's plan.
        tallies: The run's sessions as each other symptom sees them, by its name.
        beginning: What the run begins with, of earlier runs of the same test.
    """

    def __init__(self, plan: Plan, tallies: Mapping[str, Tally], beginning: Beginning) -> None:
        self._plan = plan
        self._tallies = tallies
        self._beginning = beginning
        self._shown: dict[tuple[str, int], _Shown] = {}

    def beside(self, at: int, judgement: Judgement) -> Mapping[str, Other]:
        """Give what the blocks of a judgement show of each other symptom.

        Args:
            at: Place of the comparison in the plan.
            judgement: What was judged of it.
        """
        if not judgement.blocks:
            return self._sampled(judgement)
        found = {}
        for name in self._tallies:
            shown = self._shown.get((name, at))
            if shown is None:
                test = ABTest.under(Terms.of(replace(self._plan.rules, reference=None), Prediction()))
                shown = _Shown(judgement.comparison, test, self._blocks(name, at))
                self._shown[name, at] = shown
            found[name] = shown.after(judgement.blocks)
        return found

    def _blocks(self, name: str, at: int) -> Iterator[PairBlock | None]:
        """Yield all complete blocks of a comparison, None for one in which it was not watched."""
        comparison = self._plan.comparisons[at]
        earlier = len(self._beginning.of(at))
        yield from self._beginning.others_of(name, at) or (None,) * earlier
        yield from complete_blocks(self._plan, self._tallies[name], comparison)

    def _sampled(self, judgement: Judgement) -> dict[str, Other]:
        """Give what the sample of a control showed that never came to a comparison."""
        arm = judgement.comparison.control
        sample = judgement.arms.get(arm)
        if not sample or self._beginning.measured is not None:
            return {}
        found = {}
        for name, tally in self._tallies.items():
            counts = tally.counts(arm, 0, sample.total)
            rate = rate_interval(counts.hit, counts.decided, alpha=self._plan.rules.alpha)
            found[name] = Other(arms={arm: counts}, rates={arm: rate}, blocks=0)
        return found


class _Shown:
    """What one comparison shows of one symptom; it grows with the blocks, which never change.

    A display asks four times a second, so a block is taken in once.
    """

    def __init__(
        self, comparison: Comparison, test: ABTest, blocks: Iterator[PairBlock | None]
    ) -> None:
        self._names = {"control": comparison.control, "treatment": comparison.treatment}
        self._test = test
        self._blocks = blocks
        self._taken = 0
        self._other: Other | None = None

    def after(self, blocks: int) -> Other:
        """Give what is shown after so many blocks, no fewer than it was asked for before."""
        if self._other is None or blocks > self._taken:
            for block in islice(self._blocks, blocks - self._taken):
                if block is not None:
                    self._test.add_block(block.control, block.treatment, block.first)
            self._taken = blocks
            self._other = self._look()
        return self._other

    def _look(self) -> Other:
        names, test = self._names, self._test
        evidence = test.evidence
        return Other(
            arms={names[arm]: counts for arm, counts in test.arms.items()},
            rates={names[arm]: interval for arm, interval in test.rates.items()},
            blocks=test.blocks,
            no_effect=evidence.no_effect,
            no_harm=evidence.no_harm,
        )
