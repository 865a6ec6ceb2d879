"""The fixed alternatives that each e-value bets on, and how much weight each gets.

An e-value may bet on anything, as long as the bets are fixed before the data: a bad choice costs
sessions, never validity. Half of the weight goes to the pair that the hypothesis itself predicts, so
that a right prediction is rewarded; the rest is spread over rates that real failures have, denser
where they are rare, so that a wrong prediction costs at most a factor of two.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from workbench.stats.bernoulli import FloatArray

Pair = tuple[float, float]
"""Rates of the control and of the treatment arm."""

RATES = (0.01, 0.02, 0.035, 0.06, 0.1, 0.14, 0.19, 0.26, 0.35, 0.5, 0.7, 0.9)
"""Rates per session that the blind part of every mixture is spread over."""

RARE_RATES = (0.0, 0.001, 0.003)
"""Further rates for one arm, where a failure that is almost gone must be told from one that is."""


@dataclass(frozen=True, eq=False, slots=True)
class Alternatives:
    """Pairs of rates with weights that add up to 1.

    Attributes:
        control: Rates of the control arm, shape (k,).
        treatment: Rates of the treatment arm, shape (k,).
        weight: Share of the stake on each pair, shape (k,).
    """

    control: FloatArray
    treatment: FloatArray
    weight: FloatArray

    @classmethod
    def of(cls, weighted_pairs: Iterable[tuple[float, float, float]]) -> Alternatives:
        """Collect rows of control rate, treatment rate and weight; weights are normalised."""
        control, treatment, weight = np.array(list(weighted_pairs), dtype=float).T
        return cls(control, treatment, weight / weight.sum())

    def rows(self) -> list[tuple[float, float, float]]:
        """Give rows of control rate, treatment rate and weight."""
        return list(zip(self.control, self.treatment, self.weight, strict=True))

    def backing(self, predicted: Pair | None) -> Alternatives:
        """Move half of the stake to the predicted pair; without one, change nothing."""
        if predicted is None:
            return self
        control, treatment = predicted
        return Alternatives(
            np.append(self.control, control),
            np.append(self.treatment, treatment),
            np.append(self.weight / 2, 0.5),
        )

    def swapped(self) -> Alternatives:
        """Exchange the arms."""
        return Alternatives(self.treatment, self.control, self.weight)


def effect(predicted: Pair | None) -> Alternatives:
    """Bets against "no effect": half on a clean treatment arm, half on every drop between two rates."""
    removed = [(rate, 0.0, 0.5 / len(RATES)) for rate in RATES]
    drops = [(high, low) for high in RATES for low in RATES if low < high]
    lowered = [(high, low, 0.5 / len(drops)) for high, low in drops]
    return Alternatives.of(removed + lowered).backing(predicted)


def no_effect(predicted: Pair | None, *, both_clean: bool) -> Alternatives:
    """Bets against "the effect reaches the margin": equal rates, or a treatment that does worse.

    Args:
        predicted: The predicted pair; its control rate is backed for both arms.
        both_clean: Also bet on (0, 0). Right for a margin that is a risk difference. Two clean arms say
            nothing about a *share* removed, so a margin relative to the control leaves it out.
    """
    equal = [(rate, rate, 0.5 / len(RATES)) for rate in RATES]
    worse = [(rate, min(0.99, 1.5 * rate), 0.2 / len(RATES)) for rate in RATES]
    clean = [(0.0, 0.0, 0.3)]
    same = None if predicted is None else (predicted[0], predicted[0])
    everything = Alternatives.of(clean + equal + worse).backing(same)
    if both_clean:
        return everything
    kept = everything.control > 0
    weight = everything.weight[kept]
    return Alternatives(everything.control[kept], everything.treatment[kept], weight / weight.sum())


def mostly_removed(predicted: Pair | None) -> Alternatives:
    """Bets against "at least half of the control's rate is left": a clean or nearly clean treatment.

    The predicted pair is backed only if it claims that more than half is removed; elsewhere it would
    be a bet from inside the very claim that is tested.
    """
    left_over = ((0.0, 0.5), (0.1, 0.25), (0.25, 0.25))
    grid = Alternatives.of((rate, rate * left, weight) for rate in RATES for left, weight in left_over)
    if predicted is not None and 2 * predicted[1] >= predicted[0]:
        return grid
    return grid.backing(predicted)


def one_arm(boundary: float, side: Literal["above", "below"]) -> FloatArray:
    """Rates on one side of `boundary` that a one-arm e-value bets on in equal parts, shape (k,)."""
    rates = np.array(RARE_RATES + RATES)
    chosen = rates[rates > boundary] if side == "above" else rates[rates < boundary]
    # Beyond the last rate of the grid there is still room for a bet.
    return chosen if chosen.size else np.array([(1 + boundary) / 2])
