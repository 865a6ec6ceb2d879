"""From exchanges to trials to counts, always in assignment order.

Sessions finish in any order, and slow ones finish last; a count in finishing order would favour the
fast. So everything here is indexed by the place that a session was assigned before it began.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from workbench.model.ids import SessionKey
from workbench.model.outcome import Counts, Ending, Exchange, Label, Status, Symptom

_PRECEDENCE = {status: rank for rank, status in enumerate(Status)}


def exchange_status(exchange: Exchange, label: Label, symptom: Symptom) -> Status:
    """Say what one exchange means for a symptom.

    An ending that the symptom claims is a hit, any other bad ending is errored whatever the text
    says; after that the label decides, and a label that the symptom does not know is errored.
    """
    if exchange.ending in symptom.endings:
        return Status.HIT
    if exchange.ending is not Ending.COMPLETED:
        return Status.ERRORED
    if label.word in symptom.labels:
        return Status.HIT
    if label.word in symptom.void:
        return Status.INCOMPLETE
    return Status.CLEAN if label.word in symptom.clean else Status.ERRORED


def trial_status(statuses: Iterable[Status]) -> Status:
    """Give the status of a session from those of its exchanges: the first in order of precedence."""
    return min(statuses, key=_PRECEDENCE.__getitem__)


class Tally:
    """Statuses of the sessions of a run, filled in any order and read in assignment order."""

    def __init__(self) -> None:
        self._open: dict[SessionKey, list[Status]] = {}
        self._done: dict[tuple[str, int], dict[int, Status]] = {}
        self._hits: Counter[tuple[str, int]] = Counter()

    def add(self, session: SessionKey, status: Status, *, last: bool) -> None:
        """Take one exchange; a session that is done stays as it is."""
        done = self._done.setdefault((session.arm, session.block), {})
        if session.session in done:
            return
        turns = self._open.setdefault(session, [])
        turns.append(status)
        if last:
            done[session.session] = trial_status(turns)
            self._hits[session.arm, session.block] += done[session.session] is Status.HIT
            del self._open[session]

    def forget_unfinished(self) -> None:
        """Drop the turns of sessions that never ended: they are run again from the start."""
        self._open.clear()

    def done(self, arm: str, block: int) -> frozenset[int]:
        """Positions of the finished sessions of an arm in a block."""
        return frozenset(self._done.get((arm, block), ()))

    def progress(self, arm: str, block: int) -> tuple[int, int]:
        """Hits and finished sessions of an arm in a block, in constant time."""
        return self._hits[arm, block], len(self._done.get((arm, block), ()))

    def counts(self, arm: str, block: int, size: int | None = None) -> Counts:
        """Count the finished sessions of an arm in a block, or those among its first `size`."""
        done = self._done.get((arm, block), {})
        return Counts.of(done[i] for i in sorted(done) if size is None or i < size)

    def total(self, arm: str, *, from_block: int = 0) -> Counts:
        """Sum the counts of an arm over its blocks from `from_block` on, unfinished blocks included."""
        blocks = (block for name, block in self._done if name == arm and block >= from_block)
        return sum((self.counts(arm, block) for block in blocks), Counts(0, 0))

    def prefix(self, arm: str, block: int) -> Iterator[Status]:
        """Yield the statuses of an arm in a block up to the first session that is not finished."""
        done = self._done.get((arm, block), {})
        position = 0
        while position in done:
            yield done[position]
            position += 1
