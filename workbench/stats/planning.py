"""What a test can see and what it will cost, worked out before the first session is sent.

The rehearsal replaces every count by its expectation and asks the verdict table after each block. The
first word that falls is the typical outcome, and its block is close to the mean of many real runs: half
of them take longer. Nothing is drawn at random, so the same question gives the same answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from workbench.model.plan import Cluster
from workbench.model.verdict import Verdict
from workbench.stats import dispersion
from workbench.stats.claims import Claims, Discounts
from workbench.stats.counting import Tally
from workbench.stats.interval import rate_interval
from workbench.stats.table import first_match
from workbench.stats.terms import Terms

TYPICAL_CORRELATION = 0.02
"""Correlation within a start that plans assume unless told otherwise."""

TRIAL_BLOCK = 20
"""Sessions per arm and block where every session is a start of its own."""

TRIAL_MAX_BLOCKS = 60
"""Greatest number of blocks there, by default."""

# Halvings of a rate in [0, 1]: to about a thousandth, finer than any plan deserves.
_HALVINGS = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Forecast:
    """The typical course of a test.

    Attributes:
        verdict: The word that falls; `inconclusive` if none does within the greatest number of blocks.
        blocks: Blocks until then.
        sessions: Sessions of both arms until then.
    """

    verdict: Verdict
    blocks: int
    sessions: int


def forecast(
    terms: Terms,
    control_rate: float,
    treatment_rate: float,
    sessions_per_block: int,
    *,
    correlation: float = TYPICAL_CORRELATION,
) -> Forecast:
    """Rehearse a test with expected counts.

    Args:
        terms: What the test asks.
        control_rate: Assumed rate of the control arm, per session.
        treatment_rate: Assumed rate of the treatment arm.
        sessions_per_block: Sessions of each arm in each block, m.
        correlation: Assumed correlation between sessions of a start; irrelevant where every trial is a
            start of its own.

    Raises:
        ValueError: A rate or the correlation is not in [0, 1], or a block has no session.
    """
    if not (0 <= control_rate <= 1 and 0 <= treatment_rate <= 1 and 0 <= correlation <= 1):
        raise ValueError("rates and correlation must lie between 0 and 1")
    if sessions_per_block < 1:
        raise ValueError(f"a block needs at least 1 session per arm, not {sessions_per_block}")
    claims = Claims(terms)
    for blocks in range(1, terms.max_blocks + 1):
        tally = _expected_tally(control_rate, treatment_rate, sessions_per_block, blocks)
        varied = (0 < control_rate < 1) + (0 < treatment_rate < 1)
        phi = _expected_design_effect(varied, blocks, sessions_per_block, correlation)
        reading = claims.read(tally, Discounts.of(terms, phi, sessions_per_block))
        found = claims.findings(tally, reading, exhausted=blocks == terms.max_blocks)
        word, _ = first_match(found)
        if word is not None:
            break
    return Forecast(
        verdict=word or Verdict.INCONCLUSIVE, blocks=blocks, sessions=2 * blocks * sessions_per_block
    )


def _expected_tally(control_rate: float, treatment_rate: float, sessions: int, blocks: int) -> Tally:
    hit_at_all = 1 - (1 - treatment_rate) ** sessions
    return Tally(
        blocks=blocks,
        informative_blocks=blocks,
        sessions=float(blocks * sessions),
        control_hits=blocks * sessions * control_rate,
        treatment_hits=blocks * sessions * treatment_rate,
        treatment_starts_hit=blocks * hit_at_all,
        largest_start=sessions,
    )


def _expected_design_effect(varied_arms: int, blocks: int, sessions: int, correlation: float) -> float:
    """Expected phi: each arm with a rate inside (0, 1) shows the true dispersion, the others none."""
    true_inflation = dispersion.inflation(correlation, sessions)
    return dispersion.shrunk(varied_arms * (blocks - 1) * true_inflation, 2 * (blocks - 1), sessions)


def smallest_visible_effect(
    terms: Terms,
    control_rate: float,
    sessions_per_block: int,
    *,
    correlation: float = TYPICAL_CORRELATION,
) -> float | None:
    """Find the smallest risk difference that typically ends as present within the blocks allowed.

    "Typically" is about every second run; an effect half as large again is seen in most. A claim that
    the treatment removes the failure is left aside, since a partial effect may refute it first.

    Args:
        terms: What the test asks.
        control_rate: Assumed rate of the control arm, in (0, 1].
        sessions_per_block: Sessions of each arm in each block.
        correlation: Assumed correlation between sessions of a start.

    Returns:
        The difference, to about a thousandth of the control's rate, or None if even a treatment that
        removes the failure altogether is not seen.
    """
    plain = replace(terms, removes=False)

    def seen(difference: float) -> bool:
        left = control_rate - difference
        outcome = forecast(plain, control_rate, left, sessions_per_block, correlation=correlation)
        return outcome.verdict in (Verdict.PRESENT, Verdict.PRESENT_BUT_SMALL)

    if not seen(control_rate):
        return None
    hidden, visible = 0.0, control_rate
    for _ in range(_HALVINGS):
        middle = (hidden + visible) / 2
        if seen(middle):
            visible = middle
        else:
            hidden = middle
    return visible


def bound_without_hit(sessions: int, terms: Terms, sessions_per_start: int = 1) -> float:
    """Upper bound of a rate after `sessions` without a hit: what "0 of n" says.

    Args:
        sessions: Sessions seen, none of them a hit.
        terms: They give alpha, and whether sessions of a start count for less.
        sessions_per_start: Sessions that shared a start.

    Returns:
        Anytime-valid bound at confidence 1 - alpha; starts without a hit are discounted by the assumed
        design effect, since they cannot show their own.
    """
    worth = Discounts.of(terms, 1.0, sessions_per_start).clean
    return rate_interval(0, sessions / worth, alpha=terms.alpha)[1]


def block_size(
    in_flight: int,
    start_minutes: float,
    session_minutes: float,
    *,
    cluster: Cluster = Cluster.START,
    correlation: float = TYPICAL_CORRELATION,
) -> int:
    """Sessions per arm and block that make a verdict cheapest.

    A start costs S minutes and a session c; a start of m sessions is worth m / (1 + rho (m - 1))
    independent ones. The price of one of these, (S + m c) (1 + rho (m - 1)) / m, is least at
    m = sqrt((S / c) (1 - rho) / rho) (cluster sampling, Cochran). Fewer than are in flight would leave
    the engine under less load than was asked.

    Args:
        in_flight: Sessions at the same time.
        start_minutes: Minutes to bring an arm up, S.
        session_minutes: Minutes a session adds, c; with many in flight, wall time over their number.
        cluster: With TRIAL every session is its own start; blocks are of 20, or of what is in flight.
        correlation: Correlation between sessions of a start, rho, in (0, 1).

    Raises:
        ValueError: A duration is negative, a session takes no time, or rho is not in (0, 1).
    """
    if start_minutes < 0 or session_minutes <= 0 or not 0 < correlation < 1:
        raise ValueError("need start_minutes >= 0, session_minutes > 0 and 0 < correlation < 1")
    if cluster is Cluster.TRIAL:
        return max(in_flight, TRIAL_BLOCK)
    cheapest = math.sqrt(start_minutes / session_minutes * (1 - correlation) / correlation)
    return max(in_flight, round(cheapest), 1)
