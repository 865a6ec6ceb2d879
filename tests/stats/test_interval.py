"""Anytime-valid intervals: coverage at all looks, agreement with the e-values, and the corners."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from workbench.stats import difference_interval, evalue, rate_interval

LOOKS = 12
PREDICTED = (0.17, 0.0)


@pytest.mark.parametrize(
    "pair", [(0.17, 0.0), (0.17, 0.05), (0.17, 0.17), (0.02, 0.0), (0.05, 0.4), (0.9, 0.5)]
)
def test_the_true_difference_is_covered_at_all_looks(pair: tuple[float, float]) -> None:
    """Each end may miss in 1 % of trials; 4.2 % of 120 is 5, whose chance is below 0.3 % at 2 %."""
    rng = np.random.default_rng(5)
    missed = 0
    for _ in range(120):
        control, treatment = (rng.binomial(20, rate, LOOKS).cumsum() for rate in pair)
        for look in range(LOOKS):
            n = 20 * (look + 1)
            lower, upper = difference_interval(control[look], treatment[look], n, predicted=PREDICTED)
            if not lower <= pair[0] - pair[1] <= upper:
                missed += 1
                break
    assert missed <= 5


@pytest.mark.parametrize("rate", [0.0, 0.01, 0.17, 0.5, 0.97, 1.0])
def test_the_true_rate_is_covered_at_all_looks(rate: float) -> None:
    rng = np.random.default_rng(6)
    missed = 0
    for _ in range(120):
        hits = rng.binomial(20, rate, LOOKS).cumsum()
        ends = [rate_interval(hits[look], 20 * (look + 1)) for look in range(LOOKS)]
        missed += any(not lower <= rate <= upper for lower, upper in ends)
    assert missed <= 5


@pytest.mark.parametrize("predicted", [None, PREDICTED, (0.4, 0.3)])
@pytest.mark.parametrize("n", [3, 7, 12, 20, 35, 60])
def test_zero_is_excluded_exactly_when_no_effect_is_refuted(
    n: int, predicted: tuple[float, float] | None
) -> None:
    mixture, needed = evalue.against_no_effect(predicted), math.log(100)
    for control in range(n + 1):
        for treatment in range(control):
            log_e = mixture.log_e(control, n - control, treatment, n - treatment)
            if abs(log_e - needed) < 2:  # further away nobody doubts it, and all counts would take long
                lower, _ = difference_interval(control, treatment, n, predicted=predicted)
                assert (lower >= 0) == (log_e >= needed)


@given(st.integers(0, 300), st.data(), st.sampled_from([None, PREDICTED, (0.4, 0.3)]))
def test_the_estimate_lies_inside(
    n: int, data: st.DataObject, predicted: tuple[float, float] | None
) -> None:
    control, treatment = data.draw(st.integers(0, n)), data.draw(st.integers(0, n))
    lower, upper = difference_interval(control, treatment, n, predicted=predicted)
    assert -1 <= lower < upper <= 1
    if n:
        assert lower <= (control - treatment) / n <= upper
    lower, upper = rate_interval(control, n)
    assert 0 <= lower < upper <= 1
    if n:
        assert lower <= control / n <= upper


@given(st.integers(1, 300), st.data())
def test_clean_sessions_mirror_hits(n: int, data: st.DataObject) -> None:
    hits = data.draw(st.integers(0, n))
    lower, upper = rate_interval(hits, n)
    mirrored = rate_interval(n - hits, n)
    assert mirrored == pytest.approx((1 - upper, 1 - lower), abs=1e-9)


@pytest.mark.parametrize(("n", "published"), [(60, 0.084), (240, 0.0225), (960, 0.0060)])
def test_no_hit_in_n_has_the_published_bound(n: int, published: float) -> None:
    lower, upper = rate_interval(0, n)
    assert lower == 0
    assert upper == pytest.approx(published, rel=0.08)
    assert upper > 1 - 0.01 ** (1 / n)  # the exact bound for a single look is sharper


@given(st.integers(1, 500), st.data())
@settings(max_examples=50)
def test_wider_than_the_exact_interval_for_one_look(n: int, data: st.DataObject) -> None:
    hits = data.draw(st.integers(0, n))
    exact = stats.binomtest(hits, n).proportion_ci(confidence_level=0.98, method="exact")
    lower, upper = rate_interval(hits, n)
    assert lower <= exact.low + 1e-9
    assert upper >= exact.high - 1e-9


def test_corners() -> None:
    assert difference_interval(0, 0, 0) == (-1.0, 1.0)
    assert rate_interval(0, 0) == (0.0, 1.0)
    assert difference_interval(60, 0, 60)[0] > 0.7
    assert difference_interval(0, 60, 60)[1] < -0.7
    lower, upper = difference_interval(0, 0, 60)
    assert -0.12 < lower < 0 < upper < 0.12
    lower, upper = difference_interval(60, 60, 60)
    assert lower < 0 < upper
    lower, upper = difference_interval(1, 0, 1)
    assert lower < 0 < upper


def test_published_intervals() -> None:
    """The ends of the examples were found on a grid of 0.01; these are at least as narrow."""
    for counts, (lowest, highest) in (((10, 0, 60), (0.03, 0.38)), ((41, 0, 240), (0.10, 0.30))):
        lower, upper = difference_interval(*counts, predicted=PREDICTED)
        assert lowest - 0.005 <= lower
        assert upper <= highest + 0.005


def test_more_data_narrow_it() -> None:
    widths = []
    for times in (1, 4, 16, 64):
        lower, upper = difference_interval(10 * times, 3 * times, 60 * times, predicted=PREDICTED)
        widths.append(upper - lower)
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 0.08


def test_hits_must_fit() -> None:
    with pytest.raises(ValueError, match="between 0 and sessions"):
        rate_interval(3, 2)
