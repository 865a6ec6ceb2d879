"""Keeps the books of a run: every exchange becomes one line on disk, then it is counted."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from workbench.conduct.labelling import Labeller
from workbench.judge import fold
from workbench.judge.docket import Docket
from workbench.model.outcome import Exchange
from workbench.model.plan import Plan
from workbench.model.progress import Phase, Snapshot
from workbench.model.run import Sample
from workbench.ports import Clock


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where a run is kept, and what it is doing right now."""

    run: str
    folder: str
    phase: Phase
    arm: str = ""
    in_flight: int = 0
    seconds: float = 0.0


class Books:
    """Tally, failures and durations of a run, filled from its journal and from new exchanges.

    Args:
        plan: The run's plan.

    Attributes:
        tally: Its sessions as its own symptom sees them.
        others: The same as the other symptoms see them, by their names.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.tally = fold.Tally()
        self.others = {each.symptom.name: fold.Tally() for each in plan.also}
        self._failures: Counter[str] = Counter()
        self._measured_failures: list[tuple[int, str]] = []  # session, and how it failed
        self._sessions = 0
        self._session_seconds = 0.0
        self._start_seconds = 0.0

    def recall(self, samples: Iterable[Sample]) -> None:
        """Take in what earlier openings of the run left behind."""
        for sample in samples:
            self.count(sample)
        for tally in (self.tally, *self.others.values()):
            tally.forget_unfinished()

    def record(self, exchange: Exchange, labeller: Labeller, clock: Clock, attempt: int) -> Sample:
        """Label an exchange and make the line that is kept of it.

        The labels come from the whole text, before any of it is cut, masked or left out on disk.
        """
        label, status, others = labeller.label(exchange)
        kept = labeller.keeps(status, others)
        return Sample(
            exchange=exchange if kept else replace(exchange, text="", expected=""),
            attempt=attempt,
            label=label,
            status=status,
            text_sha256=hashlib.sha256(exchange.text.encode("utf-8", "surrogatepass")).hexdigest(),
            at=clock.now(),
            others=others,
        )

    def count(self, sample: Sample) -> None:
        """Count a line that is on disk."""
        exchange = sample.exchange
        self.tally.add(exchange.key.session, sample.status, last=exchange.last)
        for name, tally in self.others.items():
            tally.add(exchange.key.session, sample.seen(name).status, last=exchange.last)
        self._sessions += exchange.last
        self._session_seconds += exchange.seconds
        self._start_seconds += exchange.start_seconds
        if sample.label.signature:
            session = exchange.key.session
            name = f"{session.arm}: {sample.label.signature}"
            if session.block:
                self._failures[name] += 1
            else:
                self._measured_failures.append((session.session, name))

    @property
    def session_seconds(self) -> float | None:
        """Mean duration of a session, None before the first ended."""
        return self._session_seconds / self._sessions if self._sessions else None

    def snapshot(self, docket: Docket, place: Place) -> Snapshot:
        """Give what a display needs, from nothing but the books and the docket."""
        rules = self._plan.rules
        names = [arm.name for arm in self._plan.arms]
        arms = {name: self.tally.total(name, from_block=1) for name in names}
        left = 0
        if self._plan.comparisons:
            left = sum(rules.block_size * rules.max_blocks - arms[name].total for name in names)
        mean, measured = self.session_seconds, docket.measured
        return Snapshot(
            run=place.run,
            folder=place.folder,
            plan=self._plan,
            phase=place.phase,
            block=docket.block,
            arm=place.arm,
            measured=measured,
            arms=arms,
            in_flight=place.in_flight,
            judgements=docket.judgements,
            failures=dict(self._failures + self._failures_among(measured.total)),
            session_seconds=mean,
            start_seconds=self._start_seconds / self._sessions if self._sessions else None,
            seconds=place.seconds,
            worst_seconds=None if mean is None else left * mean / self._plan.in_flight,
        )

    def _failures_among(self, sessions: int) -> Counter[str]:
        """Count failures of the measurement, without what was in flight when it was complete."""
        return Counter(name for session, name in self._measured_failures if session < sessions)
