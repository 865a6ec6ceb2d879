"""Intervals that stay right however often one looks: all values that the counts do not rule out.

A value is ruled out from below when an e-value against "the truth is at most this" reaches 1 / alpha,
and from above likewise. Values are taken from a fixed grid, and an end of the interval is the last
value of the unbroken run that is ruled out, counted from the outside. To miss the truth from below,
that run must reach the first grid value at or above it; the claim "the truth is at most this value" is
true, so it falls with probability at most alpha. Hence each end misses with probability at most alpha,
at all looks together, and the grid costs width but no coverage.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from workbench.stats import alternatives
from workbench.stats.alternatives import RARE_RATES, RATES, Alternatives, Pair
from workbench.stats.bernoulli import FloatArray, nearest_with_difference
from workbench.stats.evalue import log_sum_exp, one_arm_gains, two_arm_gains

Interval = tuple[float, float]

DIFFERENCES = np.arange(-199, 200) / 200
"""Risk differences that can be an end of an interval; 0 is exactly one of them."""

CLOSE = 0.1
"""Differences this near below 0 are ruled out by the bets against "no effect" alone."""

LOGITS = np.linspace(-12.0, 12.0, 1601)
"""Log-odds of the rates that can be an end: 1.5 % apart where rates are small."""


@dataclass(frozen=True, eq=False, slots=True)
class _Ladder:
    """One mixture for each value of a grid, for both directions.

    Attributes:
        values: The grid, ascending, shape (g,).
        gains: Log ratios per session, shape (g, alternatives, kinds).
        above: Log weights of the alternatives above each value, shape (g, alternatives).
        below: Log weights of those below.
    """

    values: FloatArray
    gains: FloatArray
    above: FloatArray
    below: FloatArray

    def kept(self, counts: tuple[float, ...], alpha: float, whole: Interval) -> Interval:
        """Give the interval of values that `counts` do not rule out."""
        exponents = self.gains @ np.array(counts)
        too_low = log_sum_exp(exponents + self.above) >= -math.log(alpha)
        too_high = log_sum_exp(exponents + self.below) >= -math.log(alpha)
        run_below = int(np.argmin(np.append(too_low, False)))
        run_above = int(np.argmin(np.append(too_high[::-1], False)))
        lowest = float(self.values[run_below - 1]) if run_below else whole[0]
        highest = float(self.values[-run_above]) if run_above else whole[1]
        return lowest, highest


def _log_shares(weight: FloatArray, chosen: npt.NDArray[np.bool_]) -> FloatArray:
    """Logarithm of the weights of the chosen alternatives, normalised for each value of the grid."""
    shares = np.where(chosen, weight, 0.0)
    total = shares.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        # Where nothing is left to bet on, no stake is placed: a finite log of almost nothing.
        return np.maximum(np.log(shares / np.where(total > 0, total, 1.0)), -1e6)


@lru_cache(maxsize=64)
def _difference_ladder(predicted: Pair | None) -> _Ladder:
    """Bets for every difference; at 0 those from below are exactly the bets against "no effect"."""
    sources = (
        (alternatives.effect(predicted), 1.0),
        (alternatives.no_effect(predicted, both_clean=True), 1.0),
        (alternatives.effect(None).swapped(), 0.25),
    )
    pooled = Alternatives.of(
        (control, treatment, stake * weight)
        for source, stake in sources
        for control, treatment, weight in source.rows()
    )
    values = DIFFERENCES[:, None]
    projection = nearest_with_difference(pooled.control, pooled.treatment, values)
    difference = pooled.control - pooled.treatment
    # Just below 0, stay with the bets against "no effect": others would thin them out, and an interval
    # could include 0 although no effect is refuted.
    only_effects = difference > 0
    near_zero = (values > -CLOSE) & (values <= 0)
    return _Ladder(
        values=DIFFERENCES,
        gains=two_arm_gains(pooled, projection),
        above=_log_shares(pooled.weight, (difference > values) & (only_effects | ~near_zero)),
        below=_log_shares(pooled.weight, difference < values),
    )


@lru_cache(maxsize=1)
def _rate_ladder() -> _Ladder:
    """Bets for every rate: the rates of one-arm e-values and their mirror images."""
    usual = np.array(RARE_RATES + RATES)
    rates = np.union1d(usual, np.round(1 - usual, 12))
    values = expit(LOGITS)
    return _Ladder(
        values=values,
        gains=one_arm_gains(rates, values[:, None]),
        above=_log_shares(np.ones(rates.size), rates > values[:, None]),
        below=_log_shares(np.ones(rates.size), rates < values[:, None]),
    )


def difference_interval(
    control_hits: float,
    treatment_hits: float,
    sessions: float,
    *,
    alpha: float = 0.01,
    predicted: Pair | None = None,
) -> Interval:
    """Anytime-valid interval of the risk difference, control minus treatment.

    It excludes 0 from below exactly when the e-value against "no effect" reaches 1 / alpha.

    Args:
        control_hits: Hits of the control arm, divided by the design effect.
        treatment_hits: Hits of the treatment arm, likewise.
        sessions: Sessions of each arm, likewise.
        alpha: Greatest probability that one end misses; jointly at most 2 alpha.
        predicted: The pair that the run's e-values back.

    Returns:
        Lower and upper end in [-1, 1]; all of it without sessions.
    """
    counts = (control_hits, sessions - control_hits, treatment_hits, sessions - treatment_hits)
    return _difference_ladder(predicted).kept(counts, alpha, (-1.0, 1.0))


def rate_interval(hits: float, sessions: float, *, alpha: float = 0.01) -> Interval:
    """Anytime-valid interval of one rate: what "k of n" says, never "0 %".

    Args:
        hits: Hits, a fraction if divided by a design effect.
        sessions: Sessions, likewise.
        alpha: Greatest probability that one end misses; jointly at most 2 alpha.

    Returns:
        Lower and upper end in [0, 1]; all of it without sessions.

    Raises:
        ValueError: `hits` is not between 0 and `sessions`.
    """
    if not 0 <= hits <= sessions:
        raise ValueError(f"hits must lie between 0 and sessions, not {hits!r} of {sessions!r}")
    return _rate_ladder().kept((hits, sessions - hits), alpha, (0.0, 1.0))
