"""E-values: how much more likely the counts are under fixed alternatives than under their projections.

For an alternative (a, b) with projection (q, r) on the edge of the null, the counts of hits and clean
sessions contribute (a/q)^hits ((1-a)/(1-q))^clean in the control arm, and the same with b/r in the
treatment arm. The e-value is the weighted mean over the alternatives. It depends on four counts only,
it may be looked at after every block, and under the null it exceeds 1/alpha at any time with
probability at most alpha (Ville's inequality). Counts may be fractional: dividing them by a design
effect raises each ratio to a power of at most 1.

Everything but the counts is fixed before the run, so a `Mixture` is built once and cached.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from workbench.stats import alternatives
from workbench.stats.alternatives import Alternatives, Pair
from workbench.stats.bernoulli import FloatArray, nearest_half, nearest_with_difference

# Stands for log 0. Finite, since a count of 0 must cancel it (0 * -inf is nan); large enough that one
# hit which an alternative rules out, even divided by a design effect, silences that alternative.
_LOG_OF_IMPOSSIBLE = -1e4

LOG_LARGEST = math.log(1e300)
"""Logarithm of the largest e-value that is reported, so that none is ever infinite."""


def log_rates(rates: FloatArray) -> FloatArray:
    """Natural logarithm with a finite stand-in for log 0."""
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(rates), _LOG_OF_IMPOSSIBLE)


def log_sum_exp(exponents: FloatArray) -> FloatArray:
    """Logarithm of the sum of exponentials over the last axis.

    `scipy.special.logsumexp` does the same with several times the overhead on arrays of this size.
    """
    peak = exponents.max(axis=-1, keepdims=True)
    return np.asarray(np.log(np.exp(exponents - peak).sum(axis=-1)) + peak[..., 0])


@dataclass(frozen=True, eq=False, slots=True)
class Mixture:
    """A weighted mean of likelihood ratios, ready to be evaluated at any counts.

    Attributes:
        gains: Logarithm of the ratio that one session of each kind contributes, shape
            (alternatives, kinds); kinds are hits and clean sessions of each arm in turn.
        log_weights: Logarithm of the weights, shape (alternatives,).
    """

    gains: FloatArray
    log_weights: FloatArray

    def log_e(self, *counts: float) -> float:
        """Natural logarithm of the e-value at `counts`, one number for each kind of session."""
        return float(log_sum_exp(self.gains @ np.array(counts) + self.log_weights))


def two_arm_gains(chosen: Alternatives, projection: tuple[FloatArray, FloatArray]) -> FloatArray:
    """Log ratios of alternatives against projections, shape (..., alternatives, 4)."""
    kinds = []
    for alternative, null in zip((chosen.control, chosen.treatment), projection, strict=True):
        kinds.append(log_rates(alternative) - log_rates(null))
        kinds.append(log_rates(1 - alternative) - log_rates(1 - null))
    return np.stack(np.broadcast_arrays(*kinds), axis=-1)


def _two_arm(chosen: Alternatives, projection: tuple[FloatArray, FloatArray]) -> Mixture:
    return Mixture(two_arm_gains(chosen, projection), np.log(chosen.weight))


def one_arm_gains(rates: FloatArray, boundary: float | FloatArray) -> FloatArray:
    """Log ratios of `rates` against `boundary`, broadcast together, shape (..., 2)."""
    edge = np.asarray(boundary, float)
    hit = log_rates(rates) - np.log(edge)
    clean = log_rates(1 - rates) - np.log(1 - edge)
    return np.stack(np.broadcast_arrays(hit, clean), axis=-1)


def _one_arm(rates: FloatArray, boundary: float) -> Mixture:
    return Mixture(one_arm_gains(rates, boundary), np.full(rates.size, -math.log(rates.size)))


@lru_cache(maxsize=256)
def against_no_effect(predicted: Pair | None) -> Mixture:
    """Against "the control fails no more often than the treatment"; counts: control, then treatment."""
    chosen = alternatives.effect(predicted)
    return _two_arm(chosen, nearest_with_difference(chosen.control, chosen.treatment, 0.0))


@lru_cache(maxsize=256)
def against_margin(predicted: Pair | None, margin: float | None) -> Mixture:
    """Against "the effect is at least the margin".

    Args:
        predicted: The predicted pair, or None.
        margin: A risk difference, or None for half of the control's rate.
    """
    chosen = alternatives.no_effect(predicted, both_clean=margin is not None)
    if margin is None:
        return _two_arm(chosen, nearest_half(chosen.control, chosen.treatment))
    return _two_arm(chosen, nearest_with_difference(chosen.control, chosen.treatment, margin))


@lru_cache(maxsize=256)
def against_not_halved(predicted: Pair | None) -> Mixture:
    """Against "the treatment keeps at least half of the control's rate"."""
    chosen = alternatives.mostly_removed(predicted)
    return _two_arm(chosen, nearest_half(chosen.control, chosen.treatment))


@lru_cache(maxsize=1)
def against_no_harm() -> Mixture:
    """Against "the treatment fails no more often than the control"; bets on no prediction."""
    chosen = alternatives.effect(None).swapped()
    return _two_arm(chosen, nearest_with_difference(chosen.control, chosen.treatment, 0.0))


@lru_cache(maxsize=256)
def against_rate_at_most(boundary: float) -> Mixture:
    """Against "the rate of one arm is at most `boundary`"; counts: hits, clean sessions."""
    return _one_arm(alternatives.one_arm(boundary, "above"), boundary)


@lru_cache(maxsize=256)
def against_rate_at_least(boundary: float) -> Mixture:
    """Against "the rate of one arm is at least `boundary`"; counts: hits, clean sessions."""
    return _one_arm(alternatives.one_arm(boundary, "below"), boundary)
