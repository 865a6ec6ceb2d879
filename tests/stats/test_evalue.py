"""Validity of every e-value by full enumeration, and its value against independent arithmetic.

The expectation under each null truth must be at most 1. Enumeration is exact, so there is no tolerance
for chance; the bound 1 + 1e-9 is for rounding alone.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from workbench.stats import alternatives, evalue
from workbench.stats.alternatives import RARE_RATES, RATES
from workbench.stats.evalue import Mixture

FloatArray = npt.NDArray[np.float64]
SIZES = (1, 2, 5, 20, 60)
TRUTHS = (0.0, 0.004, 0.01, 0.05, 0.085, 0.17, 0.3, 0.5, 0.8, 0.95, 1.0)
PREDICTIONS = (None, (0.17, 0.0), (0.17, 0.05), (0.4, 0.3), (1.0, 0.0))


def e_table(mixture: Mixture, sessions: int) -> FloatArray:
    """E-values at all counts of two arms, shape (hits of control, hits of treatment)."""
    hits = range(sessions + 1)
    logs = [[mixture.log_e(c, sessions - c, t, sessions - t) for t in hits] for c in hits]
    return np.asarray(np.exp(logs))


def expectation(table: FloatArray, control: float, treatment: float) -> float:
    n = table.shape[0] - 1
    pmf = [stats.binom.pmf(np.arange(n + 1), n, rate) for rate in (control, treatment)]
    return float(pmf[0] @ table @ pmf[1])


def two_arm_cases() -> list[tuple[str, Mixture, list[tuple[float, float]]]]:
    pairs = list(itertools.product(TRUTHS, TRUTHS))
    no_effect = [(c, t) for c, t in pairs if c <= t]
    no_harm = [(c, t) for c, t in pairs if c >= t]
    kept_half = [(c, t) for c, t in pairs if t >= c / 2]
    lost_half = [(c, t) for c, t in pairs if t <= c / 2]
    big = [(t + 0.05 + extra, t) for t in TRUTHS for extra in (0, 0.1, 0.3) if t + 0.05 + extra <= 1]
    cases = [("no harm", evalue.against_no_harm(), no_harm)]
    for predicted in PREDICTIONS:
        cases += [
            (f"no effect {predicted}", evalue.against_no_effect(predicted), no_effect),
            (f"margin half {predicted}", evalue.against_margin(predicted, None), lost_half),
            (f"margin .05 {predicted}", evalue.against_margin(predicted, 0.05), big),
            (f"not halved {predicted}", evalue.against_not_halved(predicted), kept_half),
        ]
    return cases


@pytest.mark.parametrize(
    ("mixture", "truths"), [case[1:] for case in two_arm_cases()], ids=[c[0] for c in two_arm_cases()]
)
def test_two_arm_e_values_are_valid(mixture: Mixture, truths: list[tuple[float, float]]) -> None:
    for sessions in SIZES:
        table = e_table(mixture, sessions)
        assert max(expectation(table, *truth) for truth in truths) <= 1 + 1e-9


def test_the_enumeration_would_notice_an_invalid_e_value() -> None:
    """The same check outside the null must fail, else it checks nothing."""
    table = e_table(evalue.against_no_effect((0.17, 0.0)), 20)
    assert expectation(table, 0.17, 0.0) > 1.5
    too_greedy = 1.05 * e_table(evalue.against_no_effect(None), 1)
    assert max(expectation(too_greedy, rate, rate) for rate in TRUTHS) > 1


@pytest.mark.parametrize("predicted", PREDICTIONS)
def test_valid_when_the_rate_drifts_and_a_look_decides_whether_to_go_on(
    predicted: tuple[float, float] | None,
) -> None:
    """Two stages of 4 sessions with different null rates; the second only if the first is undecided."""
    mixture, n = evalue.against_no_effect(predicted), 4
    hits = range(n + 1)
    e_after = {
        c: [math.exp(mixture.log_e(c[0], n - c[0], c[1], n - c[1]))]
        for c in itertools.product(hits, hits)
    }
    for early, late in itertools.product((0.02, 0.17, 0.6), repeat=2):
        for harm in (0.0, 0.2):
            first = [stats.binom.pmf(hits, n, early), stats.binom.pmf(hits, n, early + harm)]
            second = [stats.binom.pmf(hits, n, late), stats.binom.pmf(hits, n, late)]
            mean = 0.0
            for c, (e_first,) in e_after.items():
                weight = first[0][c[0]] * first[1][c[1]]
                if e_first > 1.2 or e_first < 0.3:  # an optional stop in both directions
                    mean += weight * e_first
                    continue
                for k in itertools.product(hits, hits):
                    total = (c[0] + k[0], 2 * n - c[0] - k[0], c[1] + k[1], 2 * n - c[1] - k[1])
                    mean += weight * second[0][k[0]] * second[1][k[1]] * math.exp(mixture.log_e(*total))
            assert mean <= 1 + 1e-9


@pytest.mark.parametrize("boundary", [0.005, 0.01, 0.0425, 0.3, 0.92])
def test_one_arm_e_values_are_valid(boundary: float) -> None:
    sides = (
        (evalue.against_rate_at_most(boundary), [rate * boundary for rate in (0, 0.3, 1)]),
        (
            evalue.against_rate_at_least(boundary),
            [boundary + rate * (1 - boundary) for rate in (0, 0.3, 1)],
        ),
    )
    for mixture, truths in sides:
        for n in (1, 5, 60, 200):
            logs = np.array([mixture.log_e(k, n - k) for k in range(n + 1)])
            pmf = [stats.binom.logpmf(np.arange(n + 1), n, truth) for truth in truths]
            assert max(special.logsumexp(logs + weights) for weights in pmf) <= 1e-9


def by_hand(control_hits: int, treatment_hits: int, n: int) -> float:
    """E against "no effect" for predicted .17/0, from exact fractions; nothing shared with the product.

    With difference 0 the projection of (a, b) is their mean in both arms.
    """
    rates = [Fraction(str(rate)) for rate in RATES]
    drops = [(a, b) for a in rates for b in rates if b < a]
    weighted = [(a, Fraction(0), Fraction(1, 4 * len(rates))) for a in rates]
    weighted += [(a, b, Fraction(1, 4 * len(drops))) for a, b in drops]
    weighted += [(Fraction("0.17"), Fraction(0), Fraction(1, 2))]
    total = Fraction(0)
    for a, b, weight in weighted:
        mean = (a + b) / 2
        total += (
            weight
            * (a / mean) ** control_hits
            * ((1 - a) / (1 - mean)) ** (n - control_hits)
            * (b / mean) ** treatment_hits
            * ((1 - b) / (1 - mean)) ** (n - treatment_hits)
        )
    return float(total)


@pytest.mark.parametrize(
    ("control", "treatment", "sessions", "published"),
    [(10, 0, 60, 1080), (41, 0, 240, 9e12), (10, 3, 60, 0.7), (10, 10, 60, 0.02)],
)
def test_published_examples(control: int, treatment: int, sessions: int, published: float) -> None:
    mixture = evalue.against_no_effect((0.17, 0.0))
    got = math.exp(mixture.log_e(control, sessions - control, treatment, sessions - treatment))
    assert got == pytest.approx(by_hand(control, treatment, sessions), rel=1e-9)
    assert got == pytest.approx(published, rel=0.2)  # the examples are rounded to one or two digits


def test_published_example_of_the_margin() -> None:
    mixture = evalue.against_margin((0.17, 0.0), 0.05)
    assert math.exp(mixture.log_e(10, 50, 10, 50)) == pytest.approx(0.9, abs=0.05)


@given(st.integers(0, 400), st.integers(0, 400))
def test_one_arm_against_the_binomial_of_scipy(hits: int, clean: int) -> None:
    boundary, n = 0.0425, hits + clean
    chosen = [rate for rate in RARE_RATES + RATES if rate < boundary]
    logs = stats.binom.logpmf(hits, n, chosen) - stats.binom.logpmf(hits, n, boundary)
    expected = special.logsumexp(logs) - math.log(len(chosen))
    got = evalue.against_rate_at_least(boundary).log_e(hits, clean)
    assert got == pytest.approx(expected, abs=1e-6)


@given(st.integers(1, 60), st.data())
def test_more_hits_in_control_or_fewer_in_treatment_never_weaken_an_effect(
    n: int, data: st.DataObject
) -> None:
    control = data.draw(st.integers(0, n - 1))
    treatment = data.draw(st.integers(1, n))
    mixture = evalue.against_no_effect((0.17, 0.0))
    here = mixture.log_e(control, n - control, treatment, n - treatment)
    assert mixture.log_e(control + 1, n - control - 1, treatment, n - treatment) >= here - 1e-9
    assert mixture.log_e(control, n - control, treatment - 1, n - treatment + 1) >= here - 1e-9


@given(st.integers(0, 50), st.integers(0, 50))
def test_harm_is_an_effect_with_the_arms_exchanged(control: int, treatment: int) -> None:
    harm = evalue.against_no_harm().log_e(control, 50 - control, treatment, 50 - treatment)
    effect = evalue.against_no_effect(None).log_e(treatment, 50 - treatment, control, 50 - control)
    assert harm == pytest.approx(effect, abs=1e-9)


@given(st.floats(1.0, 8.0))
def test_no_data_is_no_evidence_and_dividing_counts_is_defined(phi: float) -> None:
    mixture = evalue.against_no_effect((0.17, 0.0))
    assert mixture.log_e(0, 0, 0, 0) == pytest.approx(0.0, abs=1e-12)
    assert math.isfinite(mixture.log_e(9 / phi, 51 / phi, 1 / phi, 59 / phi))


def test_weights_add_up_and_half_is_on_the_prediction() -> None:
    for predicted in PREDICTIONS:
        for chosen in (
            alternatives.effect(predicted),
            alternatives.no_effect(predicted, both_clean=True),
            alternatives.no_effect(predicted, both_clean=False),
            alternatives.mostly_removed(predicted),
        ):
            assert chosen.weight.sum() == pytest.approx(1.0)
    assert alternatives.effect((0.17, 0.0)).weight[-1] == 0.5
    assert not (alternatives.no_effect(None, both_clean=False).control == 0).any()
    # A prediction that leaves half or more is no bet against "half is left".
    assert alternatives.mostly_removed((0.4, 0.3)).control.size == 36
