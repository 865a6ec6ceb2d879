"""Trimming in assignment order, worst cases, and the design effect against its definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.model.outcome import Counts
from workbench.stats.counting import Block, Tally, trim, worst_cases
from workbench.stats.dispersion import clean_arm_effect, design_effect

statuses = st.text(alphabet="hcei", max_size=30)


def counted(order: str) -> Counts:
    hit, clean, errored, incomplete = map(order.count, "hcei")
    return Counts(hit, clean, errored, incomplete, order)


def test_the_larger_arm_is_cut_in_assignment_order() -> None:
    control, treatment = counted("hhcccc"), counted("ecice")  # 6 and 2 decided
    assert trim(control, treatment) == Block(2, 0, 2, 6)
    assert trim(counted("cccchh"), treatment) == Block(0, 0, 2, 6)


def test_without_an_order_hits_are_scaled() -> None:
    block = trim(Counts(6, 18), Counts(0, 12, errored=12))
    assert (block.control_hits, block.sessions) == (3.0, 12)


@given(statuses, statuses)
def test_trimmed_arms_are_equal_and_never_grow(first: str, second: str) -> None:
    block = trim(counted(first), counted(second))
    decided = [sum(letter in "hc" for letter in order) for order in (first, second)]
    assert block.sessions == min(decided)
    for hits, order in ((block.control_hits, first), (block.treatment_hits, second)):
        kept = [letter for letter in order if letter in "hc"][: min(decided)]
        assert hits == kept.count("h")
    assert block.largest == max(len(first), len(second))


@given(statuses, statuses)
def test_worst_cases_move_every_undecided_session(first: str, second: str) -> None:
    against_control, against_treatment = worst_cases(counted(first), counted(second))
    n = min(len(first), len(second))
    assert against_control.sessions == against_treatment.sessions == n
    assert against_control.control_hits == sum(letter in "hei" for letter in first[:n])
    assert against_control.treatment_hits == second[:n].count("h")
    assert against_treatment.control_hits == first[:n].count("h")
    assert against_treatment.treatment_hits == sum(letter in "hei" for letter in second[:n])


def test_worst_cases_without_an_order() -> None:
    first, second = worst_cases(Counts(3, 5, errored=2), Counts(1, 8, incomplete=1))
    assert first == Block(5, 1, 10, 10)
    assert second == Block(3, 2, 10, 10)


def by_definition(hits: list[list[int]], sessions: list[int], m: int) -> float:
    """Sum of n (r_s - r)^2 / (r (1 - r)) over arms and starts, written out."""
    n = np.array(sessions)
    total, blocks = 0.0, len(sessions)
    for arm in np.array(hits).T:
        rate = arm.sum() / n.sum()
        if 0 < rate < 1:
            total += float((n * (arm / n - rate) ** 2).sum() / (rate * (1 - rate)))
    return max(1.0, (total + 4 * (1 + 0.02 * (m - 1))) / (2 * (blocks - 1) + 4))


@given(st.lists(st.tuples(st.integers(1, 60), st.data()), min_size=1, max_size=8))
def test_design_effect_is_its_definition(drawn: list[tuple[int, st.DataObject]]) -> None:
    tally, hits, sessions = Tally(), [], []
    for n, data in drawn:
        pair = [data.draw(st.integers(0, n)) for _ in range(2)]
        tally = tally.with_block(Block(pair[0], pair[1], n, n))
        hits.append(pair)
        sessions.append(n)
    assert design_effect(tally) == pytest.approx(by_definition(hits, sessions, max(sessions)), rel=1e-9)


def test_starts_that_differ_wildly_are_worth_little() -> None:
    alike = wild = Tally()
    for b in range(8):
        alike = alike.with_block(Block(10, 5, 60, 60))
        wild = wild.with_block(Block(20 if b % 2 else 0, 10 if b % 2 else 0, 60, 60))
    assert design_effect(alike) == 1.0
    assert design_effect(wild) > 5


def test_a_block_without_sessions_changes_no_dispersion() -> None:
    tally = Tally().with_block(Block(5, 0, 20, 20)).with_block(Block(9, 0, 20, 20))
    after = tally.with_block(Block(0, 0, 0, 20))
    assert design_effect(after) == design_effect(tally)
    assert after.blocks == 3


def test_clean_arms_keep_the_assumed_design_effect() -> None:
    assert clean_arm_effect(1.0, 60) == pytest.approx(2.18)
    assert clean_arm_effect(3.0, 60) == 3.0
    assert clean_arm_effect(1.0, 1) == 1.0
