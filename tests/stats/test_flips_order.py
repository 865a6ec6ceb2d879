"""Sign flips by enumeration, and the order of arms."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.stats.flips import STAKES, across_restarts
from workbench.stats.order import arm_order

ARMS = ("on", "off", "both")


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=7))
def test_the_mean_over_all_signs_is_one(differences: list[float]) -> None:
    """The first two share a coin, since their orders mirror each other."""
    flips = itertools.product((1, -1), repeat=len(differences) - 1)
    values = []
    for first, *rest in flips:
        signs = (first, first, *rest)
        flipped = [sign * d for sign, d in zip(signs, differences, strict=True)]
        values.append(math.exp(across_restarts(flipped)))
    assert sum(values) / len(values) == pytest.approx(1.0, rel=1e-9)


def test_one_unit_written_out() -> None:
    unit = 0.3 + 0.1
    mean = sum(math.exp(s * unit) / math.cosh(s * unit) for s in STAKES) / len(STAKES)
    assert across_restarts([0.3, 0.1]) == pytest.approx(math.log(mean))


def test_half_a_unit_is_no_evidence() -> None:
    assert across_restarts([]) == across_restarts([0.9]) == 0.0


def test_eight_blocks_are_the_least() -> None:
    """Each unit at most doubles E, so 100 needs seven units: eight blocks."""
    assert across_restarts([1.0] * 7) < math.log(100) <= across_restarts([1.0] * 8)


@given(st.integers(0, 2**40), st.integers(1, 30))
def test_every_block_is_a_permutation_and_depends_on_nothing_else(seed: int, block: int) -> None:
    order = arm_order(ARMS, block, seed)
    assert sorted(order) == sorted(ARMS)
    assert arm_order(ARMS, block, seed) == order


@given(st.integers(0, 2**40))
def test_the_second_block_mirrors_the_first(seed: int) -> None:
    assert arm_order(ARMS, 2, seed) == arm_order(ARMS, 1, seed)[::-1]


@pytest.mark.parametrize("block", [1, 2, 3, 4, 11])
def test_orders_are_fair(block: int) -> None:
    seen = Counter(arm_order(ARMS, block, seed) for seed in range(6000))
    assert len(seen) == 6
    # Chi-squared with 5 degrees of freedom: 20.5 is its 99.9 % quantile. Seeds are fixed.
    assert sum((count - 1000) ** 2 / 1000 for count in seen.values()) < 20.5


def test_later_blocks_are_independent_coins() -> None:
    def control_first(block: int, seed: int) -> bool:
        return arm_order(("control", "treatment"), block, seed)[0] == "control"

    joint = Counter((control_first(3, seed), control_first(4, seed)) for seed in range(4000))
    assert all(abs(count - 1000) < 100 for count in joint.values())
    assert len(joint) == 4


def test_blocks_start_at_one() -> None:
    with pytest.raises(ValueError, match="from 1"):
        arm_order(ARMS, 0, 1)
