"""A budget of time: no block is begun that is not expected to end in it."""

from __future__ import annotations

from datetime import UTC, datetime

from tests import simulated
from workbench.conduct.books import Books
from workbench.conduct.budget import Budget
from workbench.judge.docket import Docket, Work
from workbench.model.ids import ExchangeKey, SessionKey
from workbench.model.outcome import Exchange, Label, Status
from workbench.model.plan import Plan
from workbench.model.run import Sample


class Hand:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.seconds, UTC)

    def monotonic(self) -> float:
        return self.seconds


class Day:
    """A run whose sessions take as long as they are said to."""

    def __init__(self, budget: float | None, in_flight: int = 1) -> None:
        from dataclasses import replace

        plan: Plan = simulated.plan(0.4, 0.1, "0.4:0.1", block_size=10, in_flight=in_flight)
        self.plan = replace(plan, budget=budget)
        self.clock = Hand()
        self.books = Books(self.plan)
        self.docket = Docket(self.plan, self.books.tally)
        self.budget = Budget(self.plan, self.clock)

    def asks(self, block: int, arm: str = "control") -> bool:
        work = Work(arm=arm, block=block, sessions=tuple(range(10)))
        return self.budget.allows(work, self.docket, self.books)

    def runs(self, block: int, seconds: float) -> None:
        """Run a session that takes so long, one after the other."""
        key = ExchangeKey(SessionKey("control", block, 0), 0)
        self.clock.seconds += seconds
        self.books.count(
            Sample(
                exchange=Exchange(key=key, seconds=seconds),
                attempt=1,
                label=Label(word="clean", rule="exit 0"),
                status=Status.CLEAN,
                text_sha256="",
                at=self.clock.now(),
            )
        )


def test_without_a_budget_everything_is_begun() -> None:
    day = Day(None)
    day.runs(1, 1e9)
    assert day.asks(2)


def test_the_first_block_is_begun_while_there_is_time_and_nobody_knows_better() -> None:
    assert Day(1.0).asks(1)
    late = Day(1.0)
    late.clock.seconds += 1.0
    assert not late.asks(1)


def test_a_block_is_begun_if_its_sessions_are_expected_to_end_in_time() -> None:
    for budget, begun in ((21.9, True), (20.9, False)):
        day = Day(budget)
        assert day.asks(1)
        day.runs(1, 1.0)  # two arms of 10 sessions: 20 s, and 1 s has gone
        assert day.asks(2) is begun


def test_sessions_at_the_same_time_share_the_clock() -> None:
    day = Day(6.5, in_flight=4)
    assert day.asks(1)
    day.runs(1, 1.0)
    assert day.asks(2)


def test_a_block_that_is_under_way_is_ended() -> None:
    day = Day(5.0)
    assert day.asks(1)
    day.runs(1, 50.0)
    assert day.asks(1, arm="treatment")
    assert not day.asks(2)


def test_what_a_block_took_goes_before_what_its_sessions_took() -> None:
    day = Day(100.0)
    assert day.asks(1)
    day.runs(1, 0.1)
    day.clock.seconds += 55  # bringing arms up takes its time
    assert not day.asks(2)
