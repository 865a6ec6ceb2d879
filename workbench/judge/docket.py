"""What is to be done next, and what has been judged, derived from the plan and the tally alone.

A run under way and a reader half a year later walk the same steps: the run drives the sessions that a
step asks for, the reader finds them in the journal. That is why a resumed run ends with the word of
an uninterrupted one, and why any verdict can be recomputed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from workbench.judge import reference
from workbench.judge.continuation import NOTHING, Beginning
from workbench.judge.fold import Tally
from workbench.judge.jury import Jury
from workbench.judge.others import Others
from workbench.model.outcome import Counts
from workbench.model.plan import Measurement, Plan
from workbench.model.verdict import Judgement
from workbench.stats import arm_order


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """Sessions that are missing before anything more can be judged.

    Attributes:
        arm: Name of the arm.
        block: Block, 0 for the measurement.
        sessions: Their positions, ascending.
        enough: Asked while they run: True when the rest of them is not needed.
    """

    arm: str
    block: int
    sessions: tuple[int, ...]
    enough: Callable[[], bool] = field(default=lambda: False, compare=False)


@dataclass(frozen=True, slots=True)
class Judged:
    """The measurement (block 0) or a block is complete and has been judged."""

    block: int


class Docket:
    """The steps of one run.

    Args:
        plan: The run's plan.
        tally: Its sessions, filled by whoever drives them while the steps are walked.
        beginning: What it begins with, of earlier runs of the same test.
        others: The same sessions as the other symptoms see them, by their names; no step and no word
            depends on them.

    Attributes:
        jury: The judgements so far.
        block: The block that the last step belongs to.
    """

    def __init__(
        self,
        plan: Plan,
        tally: Tally,
        beginning: Beginning = NOTHING,
        others: Mapping[str, Tally] | None = None,
    ) -> None:
        self._plan = plan
        self._tally = tally
        self._beginning = beginning
        self._others = Others(plan, others or {}, beginning)
        self.jury = Jury(plan, beginning)
        self.block = 0

    @property
    def judgements(self) -> tuple[Judgement, ...]:
        """What the jury says so far, with what the other symptoms showed beside it."""
        return tuple(
            replace(judgement, others=self._others.beside(at, judgement))
            for at, judgement in enumerate(self.jury.judgements)
        )

    @property
    def measured(self) -> Counts:
        """Counts of the measurement so far, in assignment order; an earlier run may have made it."""
        earlier = self._beginning.measured
        return self._sample()[0] if earlier is None else earlier

    def steps(self) -> Iterator[Work | Judged]:
        """Walk the run. A `Work` step comes again until its sessions are in the tally."""
        measurement = self._plan.measurement
        if measurement is not None and self._beginning.measured is None:
            while not self._sampled(measurement):
                yield self._work(
                    measurement.arm, 0, measurement.max_trials, lambda: self._sampled(measurement)
                )
            self.jury.take_measurement(self.measured)
            yield Judged(0)
        self.block = self._plan.first_block - 1
        while not self.jury.decided:
            self.block += 1
            yield from self._block()

    def _block(self) -> Iterator[Work | Judged]:
        size = self._plan.rules.block_size
        needed = self.jury.arms_needed
        every_arm = [arm.name for arm in self._plan.arms]
        order = [name for name in arm_order(every_arm, self.block, self._plan.seed) if name in needed]
        for name in order:
            while (work := self._work(name, self.block, size)).sessions:
                yield work
        counts = {name: self._tally.counts(name, self.block, size) for name in order}
        self.jury.add_block(counts, order)
        yield Judged(self.block)

    def _work(
        self, arm: str, block: int, size: int, enough: Callable[[], bool] = lambda: False
    ) -> Work:
        done = self._tally.done(arm, block)
        missing = tuple(session for session in range(size) if session not in done)
        return Work(arm=arm, block=block, sessions=missing, enough=enough)

    def _sampled(self, measurement: Measurement) -> bool:
        """Say whether the measurement is complete; asked after every session of it."""
        hits, done = self._tally.progress(measurement.arm, 0)
        may_be = done >= measurement.max_trials or hits >= (measurement.until_hits or hits + 1)
        return may_be and self._sample()[1]

    def _sample(self) -> tuple[Counts, bool]:
        measurement = self._plan.measurement
        if measurement is None:
            return Counts(0, 0), True
        return reference.sample(self._tally.prefix(measurement.arm, 0), measurement)


def replay(
    plan: Plan,
    tally: Tally,
    beginning: Beginning = NOTHING,
    others: Mapping[str, Tally] | None = None,
) -> Docket:
    """Judge a run from its tallies, and what it began with, as far as its complete blocks go."""
    docket = Docket(plan, tally, beginning, others)
    for step in docket.steps():
        if isinstance(step, Work):
            break
    return docket
