"""Divergence and projections, against their definitions and against direct minimisation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from workbench.stats.bernoulli import divergence, nearest_half, nearest_with_difference

rates = st.floats(0.0, 1.0)
inner_rates = st.floats(0.02, 0.98)


def distance(a: float, b: float, q: float, r: float) -> float:
    return float(divergence(a, q) + divergence(b, r))


@given(inner_rates, inner_rates)
def test_divergence_is_the_entropy_of_scipy(p: float, q: float) -> None:
    assert divergence(p, q) == pytest.approx(stats.entropy([p, 1 - p], [q, 1 - q]), abs=1e-12)


def test_divergence_at_the_ends() -> None:
    assert divergence(0.0, 0.0) == 0
    assert divergence(1.0, 1.0) == 0
    assert divergence(0.5, 0.0) == np.inf


@given(rates, rates, st.floats(-0.95, 0.95))
def test_projection_on_a_difference_is_nearest_on_the_line(a: float, b: float, d: float) -> None:
    q, r = map(float, nearest_with_difference(a, b, d))
    assert q - r == pytest.approx(d, abs=1e-9)
    ends = (max(0.0, -d) + 1e-9, min(1.0, 1 - d) - 1e-9)
    found = optimize.minimize_scalar(lambda t: distance(a, b, t + d, t), bounds=ends, method="bounded")
    assert distance(a, b, q, r) <= found.fun + 1e-7


@given(rates, rates)
def test_projection_on_the_half_is_nearest_on_the_line(a: float, b: float) -> None:
    q, r = map(float, nearest_half(a, b))
    assert r == pytest.approx(q / 2, abs=1e-9)
    found = optimize.minimize_scalar(
        lambda t: distance(a, b, t, t / 2), bounds=(1e-9, 1 - 1e-9), method="bounded"
    )
    assert distance(a, b, q, r) <= found.fun + 1e-7


def test_equal_rates_are_projected_on_their_mean() -> None:
    q, r = nearest_with_difference([0.2, 0.17], [0.0, 0.05], 0.0)
    assert q == pytest.approx([0.1, 0.11], abs=1e-12)
    assert r == pytest.approx([0.1, 0.11], abs=1e-12)


@given(rates, rates, st.floats(-0.9, 0.9), rates, st.floats(0, 1))
def test_projection_makes_a_valid_factor_for_the_whole_null(
    a: float, b: float, d: float, base: float, depth: float
) -> None:
    """The reason for projecting: beyond the line, mean factors of the arms add to at most 2."""
    if a - b <= d:
        return
    q, r = map(float, nearest_with_difference(a, b, d))
    treatment = max(0.0, -d) + base * (min(1.0, 1 - d) - max(0.0, -d))
    control = max(0.0, treatment + d - depth)

    def mean_factor(truth: float, alternative: float, null: float) -> float:
        return truth * alternative / null + (1 - truth) * (1 - alternative) / (1 - null)

    if 1e-6 < q < 1 - 1e-6 and 1e-6 < r < 1 - 1e-6:
        assert mean_factor(control, a, q) + mean_factor(treatment, b, r) <= 2 + 1e-6
