"""Geometry of two Bernoulli rates: divergence, and the nearest pair on the edge of a null hypothesis.

Every e-value of this package is a likelihood ratio of an alternative (a, b) against its *projection*:
the pair on the edge of the null hypothesis with the smallest Kullback-Leibler divergence from (a, b).
That choice is what makes the ratio valid for the whole null and not for one point of it: the null is
convex, so no pair (p, r) in it gives the two factors a mean above 1 in sum, hence neither in product.
See "Growth-rate optimal e-values" (Gruenwald, de Heide, Koolen) and, for two rates, Turner, Ly and
Gruenwald, "Generic e-variables for exact sequential k-sample tests".
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import rel_entr

FloatArray = npt.NDArray[np.float64]

# Projections keep this distance from 0 and 1, relative to the room that the null leaves.
_EDGE = 1e-12
# Halvings of an interval of length 1: more than a double can tell apart.
_HALVINGS = 54


def divergence(truth: npt.ArrayLike, model: npt.ArrayLike) -> FloatArray:
    """Kullback-Leibler divergence of Bernoulli(`truth`) from Bernoulli(`model`), in nats.

    Args:
        truth: Rates in [0, 1].
        model: Rates in [0, 1], broadcast against `truth`.

    Returns:
        Divergence, 0 where the rates agree, infinite where `model` excludes what `truth` allows.
    """
    p, q = np.asarray(truth, float), np.asarray(model, float)
    return np.asarray(rel_entr(p, q) + rel_entr(1 - p, 1 - q))


def nearest_with_difference(
    control: npt.ArrayLike, treatment: npt.ArrayLike, difference: npt.ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Project pairs of rates on the line `control - treatment = difference`.

    The sum of the two divergences is convex along the line, so its slope has one root, found by
    halving. At the ends of the line the projection stops just inside, where logarithms are finite.

    Args:
        control: Rates of the control arm in [0, 1].
        treatment: Rates of the treatment arm in [0, 1].
        difference: Wanted risk difference in (-1, 1). All three are broadcast together.

    Returns:
        Control and treatment rates of the projection, of the broadcast shape.
    """
    a, b, d = np.broadcast_arrays(
        np.asarray(control, float), np.asarray(treatment, float), np.asarray(difference, float)
    )
    lowest, highest = np.maximum(0.0, -d), np.minimum(1.0, 1.0 - d)
    inset = _EDGE * (highest - lowest)
    lower, upper = lowest + inset, highest - inset
    for _ in range(_HALVINGS):
        middle = 0.5 * (lower + upper)
        shifted = middle + d
        # Minus the slope of the divergence: positive while the minimum lies further up.
        pull = (a - shifted) / (shifted * (1 - shifted)) + (b - middle) / (middle * (1 - middle))
        lower, upper = np.where(pull > 0, middle, lower), np.where(pull > 0, upper, middle)
    nearest = 0.5 * (lower + upper)
    return np.clip(nearest + d, 0.0, 1.0), nearest


def nearest_half(control: npt.ArrayLike, treatment: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Project pairs of rates on the line `treatment = control / 2`, in closed form.

    With q for the control's rate, the slope of the divergence vanishes where
    2 q^2 - (3 + a + 2 b) q + 2 (a + b) = 0; the smaller root is the one in [0, 1].

    Args:
        control: Rates a of the control arm in [0, 1].
        treatment: Rates b of the treatment arm in [0, 1], broadcast against `control`.

    Returns:
        Control and treatment rates of the projection, strictly between 0 and 1.
    """
    a, b = np.asarray(control, float), np.asarray(treatment, float)
    linear = 3 + a + 2 * b
    root = 0.25 * (linear - np.sqrt(np.maximum(linear**2 - 16 * (a + b), 0.0)))
    return np.clip(root, _EDGE, 1 - _EDGE), np.clip(0.5 * root, _EDGE, 1 - _EDGE)
