"""From the counts of a block to the numbers that evidence is computed on.

Both arms of a block must count the same number of sessions, or a drift of the failure's rate between
blocks would look like an effect: the arm that lost sessions early would weigh more late. So each block
is trimmed to the smaller arm, taking sessions in the order in which they were *assigned*. The order in
which they finished would favour the fast ones, and a hung session is slow.

Sessions without an outcome (errored, incomplete) are left out, and the two worst cases beside are what
would have been seen if all of them had been hits in one arm and clean in the other.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace

from workbench.model.outcome import Counts


@dataclass(frozen=True, slots=True)
class Block:
    """One start of each arm, trimmed to equal numbers of sessions.

    Attributes:
        control_hits: Hits of the control arm; a fraction if they had to be scaled.
        treatment_hits: Hits of the treatment arm.
        sessions: Sessions of each arm that count.
        largest: Sessions of the larger arm before trimming, whatever their status.
    """

    control_hits: float
    treatment_hits: float
    sessions: float
    largest: int

    @property
    def difference(self) -> float:
        """Control rate minus treatment rate; 0 without sessions."""
        return (self.control_hits - self.treatment_hits) / self.sessions if self.sessions else 0.0


def as_counts(given: Counts | tuple[int, int]) -> Counts:
    """Give counts that may stand as hits and sessions; raises ValueError for more hits than those."""
    if isinstance(given, Counts):
        return given
    hits, sessions = map(operator.index, given)
    if not 0 <= hits <= sessions:
        raise ValueError(f"hits must lie between 0 and sessions, not {hits} of {sessions}")
    return Counts(hits, sessions - hits)


def trim(control: Counts, treatment: Counts) -> Block:
    """Cut a block to the smaller arm's number of decided sessions."""
    sessions = min(control.decided, treatment.decided)
    return Block(
        _hits_among_first(sessions, control),
        _hits_among_first(sessions, treatment),
        sessions,
        max(control.total, treatment.total),
    )


def _hits_among_first(sessions: int, counts: Counts) -> float:
    if not sessions:
        return 0.0
    if not counts.order:
        return counts.hit * sessions / counts.decided
    decided = [status for status in counts.order if status in "hc"]
    return float(decided[:sessions].count("h"))


def worst_cases(control: Counts, treatment: Counts) -> tuple[Block, Block]:
    """The block if its undecided sessions had been hits in one arm only: control, or treatment."""
    return (
        trim(_undecided_as_hits(control), _undecided_as_clean(treatment)),
        trim(_undecided_as_clean(control), _undecided_as_hits(treatment)),
    )


def _undecided_as_hits(counts: Counts) -> Counts:
    order = counts.order.replace("e", "h").replace("i", "h")
    return Counts(counts.total - counts.clean, counts.clean, order=order)


def _undecided_as_clean(counts: Counts) -> Counts:
    order = counts.order.replace("e", "c").replace("i", "c")
    return Counts(counts.hit, counts.total - counts.hit, order=order)


@dataclass(frozen=True, slots=True)
class Tally:
    """Sums over the blocks so far: all that evidence depends on, updated in constant time.

    Attributes:
        blocks: Blocks so far.
        informative_blocks: Blocks with at least one session that counts.
        sessions: Sessions of each arm that count.
        control_hits: Hits of the control arm among them.
        treatment_hits: Hits of the treatment arm among them.
        control_square: Sum over starts of hits^2 / sessions, for the dispersion between starts.
        treatment_square: The same for the treatment arm.
        treatment_starts_hit: Starts of the treatment arm with a hit.
        largest_start: Sessions of the largest start so far, whatever their status: m of the rules.
    """

    blocks: int = 0
    informative_blocks: int = 0
    sessions: float = 0.0
    control_hits: float = 0.0
    treatment_hits: float = 0.0
    control_square: float = 0.0
    treatment_square: float = 0.0
    treatment_starts_hit: float = 0.0
    largest_start: int = 0

    def with_block(self, block: Block) -> Tally:
        """Give the tally after one more block."""
        tally = replace(
            self, blocks=self.blocks + 1, largest_start=max(self.largest_start, block.largest)
        )
        if not block.sessions:
            return tally
        return replace(
            tally,
            informative_blocks=self.informative_blocks + 1,
            sessions=self.sessions + block.sessions,
            control_hits=self.control_hits + block.control_hits,
            treatment_hits=self.treatment_hits + block.treatment_hits,
            control_square=self.control_square + block.control_hits**2 / block.sessions,
            treatment_square=self.treatment_square + block.treatment_hits**2 / block.sessions,
            treatment_starts_hit=self.treatment_starts_hit + (block.treatment_hits > 0),
        )

    @property
    def difference(self) -> float | None:
        """Observed risk difference, control minus treatment; None without sessions."""
        return (self.control_hits - self.treatment_hits) / self.sessions if self.sessions else None
