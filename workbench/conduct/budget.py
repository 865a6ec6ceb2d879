"""Whether one more block can be expected to end in time.

A budget is looked at before a block begins and never in the middle of one: half a block is worth
nothing. How long a block takes is told by the longest one of this opening, and by the mean duration of
a session; the greater of the two counts.
"""

from __future__ import annotations

from workbench.conduct.books import Books
from workbench.judge.docket import Docket, Work
from workbench.model.plan import Plan
from workbench.ports import Clock


class Budget:
    """The seconds that an opening of a run may take, if the plan limits them.

    Args:
        plan: The plan.
        clock: Time; the budget runs from now on.
    """

    def __init__(self, plan: Plan, clock: Clock) -> None:
        self._plan = plan
        self._clock = clock
        self._begun = clock.monotonic()
        self._block: int | None = None  # the block under way, and when it was begun
        self._block_begun = self._begun
        self._longest = 0.0

    def allows(self, work: Work, docket: Docket, books: Books) -> bool:
        """Say whether to begin this work: True within a block that is under way.

        Args:
            work: What the docket asks for next.
            docket: Where the run stands.
            books: How long sessions took.
        """
        if self._plan.budget is None or work.block == self._block:
            return True
        now = self._clock.monotonic()
        if self._block is not None:
            self._longest = max(self._longest, now - self._block_begun)
        self._block, self._block_begun = work.block, now
        left = self._begun + self._plan.budget - now
        return left > 0 and self._expected(work, docket, books) <= left

    def _expected(self, work: Work, docket: Docket, books: Books) -> float:
        mean = books.session_seconds
        if mean is None or not work.block:  # a measurement ends when it has enough, nobody knows when
            return 0.0
        arms = len(docket.jury.arms_needed)
        sessions = arms * self._plan.rules.block_size
        return max(self._longest, sessions * mean / min(self._plan.in_flight, sessions))
