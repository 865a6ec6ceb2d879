"""Which test tells most: integrals against sums, shares that sum to 1, bits that are entropies."""

from __future__ import annotations

from itertools import permutations
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.judge.next import NONE, SHARE_OF_NONE, Price, Seen, Worth, fit, posterior, worth
from workbench.judge.patterns import PATTERNS, UNKNOWN, Pattern

CONTROL_ALONE, BOTH, NEITHER, TREATMENT_ALONE = PATTERNS
GRID = 1500


def summed(pattern: Pattern, control: tuple[float, float], treatment: tuple[float, float]) -> float:
    """The same integral by brute force: a sum over a fine grid of the triangle p0 < p1."""
    rates = (np.arange(GRID) + 0.5) / GRID
    low, high = rates[:, None], rates[None, :]
    p_c, p_t = (high if arm else low for arm in pattern)
    (a, b), (c, d) = control, treatment
    logs = a * np.log(p_c) + b * np.log1p(-p_c) + c * np.log(p_t) + d * np.log1p(-p_t)
    inside = np.where(low < high, 2 * np.exp(logs), 0.0) + np.where(low == high, np.exp(logs), 0.0)
    return float(np.log(inside.sum() / GRID**2))


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize(
    ("control", "treatment"),
    [
        ((0, 0), (0, 0)),
        ((3, 7), (0, 10)),
        ((14, 26), (0, 40)),
        ((2, 18), (3, 17)),
        ((5.5, 9.25), (4.0, 10.5)),
        ((0, 20), (0, 20)),
        ((20, 0), (20, 0)),
    ],
)
def test_the_integrals_are_those_of_a_sum_over_all_rates(
    pattern: Pattern, control: tuple[float, float], treatment: tuple[float, float]
) -> None:
    assert fit(pattern, control, treatment) == pytest.approx(
        summed(pattern, control, treatment), abs=0.02
    )


def test_without_counts_all_patterns_fit_alike() -> None:
    for pattern in PATTERNS:
        assert fit(pattern, (0, 0), (0, 0)) == pytest.approx(0.0, abs=1e-9)


def seen(control: tuple[float, float], treatment: tuple[float, float], **patterns: Pattern) -> Seen:
    return Seen(control=control, treatment=treatment, patterns=patterns)


def test_the_weights_are_those_of_the_rules_before_any_run() -> None:
    assert posterior((), ()) == {NONE: 1.0}
    shares = posterior(("H1", "H2"), ())
    assert shares == pytest.approx({NONE: SHARE_OF_NONE, "H1": 0.4, "H2": 0.4})


def test_a_run_moves_the_shares_to_who_said_so() -> None:
    run = seen((14, 26), (0, 40), H1=CONTROL_ALONE, H2=BOTH)
    shares = posterior(("H1", "H2", "H3"), [run])
    assert shares["H1"] > 0.6 > shares["H3"] > 100 * shares["H2"]
    assert shares["H3"] / shares[NONE] == pytest.approx(0.8 / 3 / 0.2)  # neither says anything of it
    (same,) = {posterior(("H2", "H1"), order)["H1"] for order in permutations([run, run])}
    assert same > 0.95


def test_a_run_that_both_explain_alike_moves_nothing_between_them() -> None:
    run = seen((40, 20), (0, 60), H1=CONTROL_ALONE, H2=CONTROL_ALONE)
    shares = posterior(("H1", "H2"), [run])
    assert shares["H1"] == shares["H2"]


def price(sessions: float = 60.0, start: float = 0.0, session: float = 1.0) -> Price:
    return Price(
        sessions=dict.fromkeys(PATTERNS, sessions),
        sessions_per_start=20,
        start_minutes=start,
        session_minutes=session,
    )


def test_bits_are_the_entropy_of_what_the_suspects_say() -> None:
    halves = {"H1": 0.5, "H2": 0.5}
    apart = worth({"H1": CONTROL_ALONE, "H2": BOTH}, halves, price())
    assert apart.bits == pytest.approx(1.0)
    assert apart.groups == {CONTROL_ALONE: ("H1",), BOTH: ("H2",)}
    alike = worth({"H1": BOTH, "H2": BOTH}, halves, price())
    assert alike.bits == 0.0
    nobody = worth({}, {NONE: 1.0}, price())
    assert nobody.bits == pytest.approx(2.0)
    assert nobody.groups == {}


def test_what_suspects_leave_open_tells_nothing_of_them() -> None:
    """A test that nobody has a word on would else beat the one that splits them."""
    assert worth({"H1": UNKNOWN}, {"H1": 1.0}, price()).bits == pytest.approx(0.0)
    shares = posterior(("H1", "H2"), ())
    silent = worth({"H1": UNKNOWN, "H2": UNKNOWN}, shares, price())
    assert silent.bits == pytest.approx(2 * SHARE_OF_NONE)
    assert worth({"H1": CONTROL_ALONE, "H2": BOTH}, shares, price()).bits > 1 > silent.bits
    half = worth({"H1": CONTROL_ALONE, "H2": UNKNOWN}, shares, price())
    assert silent.bits < half.bits < 1


def test_minutes_are_starts_and_sessions_under_each_pattern() -> None:
    assert worth({}, {NONE: 1.0}, price(60, 2, 0.5)).minutes == pytest.approx(3 * 2 + 30)
    dear = Price(
        sessions={CONTROL_ALONE: 40, BOTH: 400, NEITHER: 100, TREATMENT_ALONE: 100},
        sessions_per_start=20,
        start_minutes=10,
        session_minutes=0.1,
    )
    sure = worth({"H1": CONTROL_ALONE}, {"H1": 1.0}, dear)
    unsure = worth({"H1": CONTROL_ALONE, "H2": BOTH}, {"H1": 0.75, "H2": 0.25}, dear)
    assert (sure.minutes, sure.sessions) == pytest.approx((24, 40))
    assert (unsure.minutes, unsure.sessions) == pytest.approx((0.75 * 24 + 0.25 * 240, 130))
    assert unsure.rate == pytest.approx(unsure.bits / unsure.minutes)


COUNTS = st.tuples(st.integers(0, 300), st.integers(0, 300)).map(
    lambda pair: (pair[0] / 1.5, pair[1] / 1.5)
)
SAID = st.sampled_from([*PATTERNS, UNKNOWN])
IDS = ("H1", "H2", "H3")
RUNS = st.lists(
    st.builds(
        lambda control, treatment, says: Seen(
            control=control, treatment=treatment, patterns=dict(zip(IDS, says, strict=True))
        ),
        COUNTS,
        COUNTS,
        st.tuples(SAID, SAID, SAID),
    ),
    max_size=4,
)


@given(st.integers(0, 3), RUNS)
def test_shares_sum_to_one_and_are_no_less_than_nothing(number: int, runs: list[Seen]) -> None:
    shares = posterior(IDS[:number], runs)
    assert set(shares) == {NONE, *IDS[:number]}
    assert sum(shares.values()) == pytest.approx(1.0)
    assert all(0 <= share <= 1 for share in shares.values())


@given(RUNS, st.randoms(use_true_random=False))
def test_the_order_of_runs_does_not_matter(runs: list[Seen], draw: object) -> None:
    backwards = posterior(IDS, runs[::-1])
    assert posterior(IDS, runs) == pytest.approx(backwards, abs=1e-9)


@given(RUNS, st.tuples(SAID, SAID, SAID))
def test_a_test_tells_between_nothing_and_two_bits(
    runs: list[Seen], says: tuple[Pattern, Pattern, Pattern]
) -> None:
    shares = posterior(IDS, runs)
    found: Worth = worth(dict(zip(IDS, says, strict=True)), shares, price())
    assert 0 <= found.bits <= 2 + 1e-9
    assert sum(found.shares.values()) == pytest.approx(1.0)
    entropy = -sum(share * log(share, 2) for share in found.shares.values() if share > 0)
    left_open = sum(shares[id] for id, each in zip(IDS, says, strict=True) if each == UNKNOWN)
    assert found.bits == pytest.approx(max(entropy - 2 * left_open, 0.0), abs=1e-9)


@given(COUNTS, COUNTS)
def test_swapping_the_arms_swaps_the_patterns(
    control: tuple[float, float], treatment: tuple[float, float]
) -> None:
    for pattern in PATTERNS:
        here = fit(pattern, control, treatment)
        there = fit((pattern[1], pattern[0]), treatment, control)
        assert here == pytest.approx(there, abs=1e-6)
    assert exp(fit(BOTH, (0, 0), (0, 0))) == pytest.approx(1.0)
