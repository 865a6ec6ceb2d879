"""`ABTest` as its callers see it: words, rows, reasons, corners, and the rules it must keep."""

from __future__ import annotations

import math
from dataclasses import astuple
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.model.outcome import Counts
from workbench.model.plan import Cluster, Rules
from workbench.model.prediction import Prediction
from workbench.model.verdict import Held, Reason, Verdict
from workbench.stats import ABTest, Terms

PREDICTED = (0.17, 0.0)


def after(blocks: list[tuple[Any, Any]], **settings: Any) -> ABTest:
    test = ABTest(**{"predicted": PREDICTED, **settings})
    for number, (control, treatment) in enumerate(blocks):
        test.add_block(control, treatment, first="treatment" if number % 2 else "control")
    return test


def test_present_and_everything_that_goes_with_it() -> None:
    test = after([((10, 60), (0, 60)), ((9, 60), (0, 60))], removes=True)
    assert (test.verdict, test.rule, test.reason) == (Verdict.PRESENT, 4, None)
    assert test.held is Held.HELD
    assert not test.harmful
    assert test.evidence.no_effect > 100
    assert test.estimate == pytest.approx(19 / 120)
    assert 0 < test.interval[0] < 19 / 120 < test.interval[1]
    assert test.arms == {"control": Counts(19, 101), "treatment": Counts(0, 120)}
    assert test.design_effect_assumed
    assert test.rates["control"][0] > 0.02
    assert test.rates["treatment"][0] == 0.0
    assert 0.04 < test.rates["treatment"][1] < test.rates["control"][1]


def test_one_block_is_too_few_whatever_it_shows() -> None:
    test = after([((30, 60), (0, 60))])
    assert test.evidence.no_effect > 100
    assert (test.verdict, test.rule) == (None, 0)
    assert test.close() is Verdict.INCONCLUSIVE
    assert (test.rule, test.reason) == (7, Reason.BUDGET)


def test_a_false_claim_of_removal_falls_in_the_first_block() -> None:
    starts = [((18, 60), (17, 60)), ((18, 60), (17, 60))]
    test = after(starts, removes=True, cluster=Cluster.TRIAL)
    assert (test.verdict, test.rule, test.blocks) == (Verdict.PREDICTION_REFUTED, 2, 2)
    assert test.held is Held.REFUTED
    first = after(starts[:1], removes=True, cluster=Cluster.TRIAL)
    assert first.verdict is Verdict.PREDICTION_REFUTED


def test_one_unlucky_start_refutes_nothing() -> None:
    blocks = [((10, 60), (25, 60))] + [((10, 60), (0, 60))] * 2
    test = after(blocks, removes=True)
    assert test.evidence.treatment_clean is not None
    assert test.evidence.treatment_clean > 100
    assert test.verdict is None
    assert test.held is Held.UNTESTED


def test_falsified_needs_a_reproduced_control() -> None:
    same = after([((18, 60), (18, 60))] * 12)
    assert (same.verdict, same.rule) == (Verdict.FALSIFIED, 5)
    unknown = after([((18, 60), (18, 60))] * 12, predicted=None)
    assert unknown.evidence.control_low is None
    assert (unknown.verdict, unknown.reason) == (Verdict.INCONCLUSIVE, Reason.BUDGET)


def test_zero_over_zero_is_not_reproduced() -> None:
    test = after([((0, 60), (0, 60))] * 5)
    assert (test.verdict, test.rule, test.blocks) == (Verdict.NOT_REPRODUCED, 6, 5)
    absolute = after([((0, 60), (0, 60))] * 5, margin=0.05)
    assert absolute.verdict is Verdict.NOT_REPRODUCED


def test_harm_is_reported_and_sets_no_word() -> None:
    test = after([((0, 60), (15, 60))] * 3, predicted=None)
    assert test.harmful
    assert test.verdict is None


def test_a_small_effect_is_told_from_a_large_one() -> None:
    test = after([((48, 60), (36, 60))] * 12, predicted=(0.8, 0.6), margin=0.5)
    assert test.verdict is Verdict.PRESENT_BUT_SMALL
    assert 0 <= test.interval[0] < test.interval[1] <= 0.5


def test_the_first_word_stays_and_later_blocks_still_count() -> None:
    test = after([((10, 60), (0, 60))] * 3)
    assert test.verdict is Verdict.PRESENT
    before = test.evidence
    for number in range(10):
        test.add_block((10, 60), (10, 60), first="treatment" if number % 2 else "control")
    assert test.verdict is Verdict.PRESENT
    assert test.blocks == 13
    assert test.evidence.no_effect < before.no_effect


def test_across_restarts_needs_a_drawn_order() -> None:
    test = ABTest(predicted=PREDICTED)
    for _ in range(9):
        test.add_block((10, 60), (0, 60), first="control")
    undrawn = test.evidence
    test.add_block((10, 60), (0, 60), first="treatment")
    drawn = test.evidence
    assert undrawn.across_restarts is None
    assert drawn.across_restarts is not None
    assert drawn.across_restarts > 100


def test_unfinished_sessions_must_not_matter() -> None:
    """10 hits against none, but the sessions that could not be judged would hide as many."""
    blamed = Counts(10, 50)
    hidden = Counts(0, 45, errored=10, incomplete=5)
    test = after([(blamed, hidden)] * 12)
    assert test.evidence.no_effect > 100
    assert (test.verdict, test.rule, test.reason) == (Verdict.INCONCLUSIVE, 7, Reason.ERRORS)
    halfway = after([(blamed, hidden)] * 4)
    assert halfway.verdict is None
    assert halfway.close() is Verdict.INCONCLUSIVE
    assert halfway.reason is Reason.ERRORS


def test_a_few_unfinished_sessions_delay_a_word() -> None:
    def blocks_needed(errored: int) -> int:
        arms = (Counts(5, 35 - errored, errored=errored), Counts(0, 40 - errored, errored=errored))
        test = after([arms] * 12)
        assert test.verdict is Verdict.PRESENT
        return next(n for n in range(1, 13) if after([arms] * n).verdict is not None)

    assert blocks_needed(0) < blocks_needed(1) < blocks_needed(2)


def test_sessions_are_taken_in_assignment_order() -> None:
    """Hits at the front of the longer arm count, hits at its end do not."""
    short = Counts(0, 20, errored=20, order="c" * 20 + "e" * 20)
    front = Counts(10, 30, order="h" * 10 + "c" * 30)
    back = Counts(10, 30, order="c" * 30 + "h" * 10)
    assert after([(front, short)]).estimate == 0.5
    assert after([(back, short)]).estimate == 0.0
    assert after([(Counts(10, 30), short)]).estimate == 0.25


def check_numbers(test: ABTest) -> None:
    """Everything that is shown is finite and in range."""
    numbers = [*astuple(test.evidence), *test.interval, test.estimate, test.design_effect]
    numbers += [end for ends in test.rates.values() for end in ends]
    assert all(math.isfinite(value) for value in numbers if value is not None)
    assert test.design_effect >= 1
    assert test.interval[0] < test.interval[1]


@pytest.mark.parametrize("predicted", [None, PREDICTED, (1.0, 0.0), (0.17, 0.16), (0.001, 0.0)])
@pytest.mark.parametrize("removes", [False, True])
@pytest.mark.parametrize("cluster", list(Cluster))
@pytest.mark.parametrize("margin", [None, 0.05])
@pytest.mark.parametrize(
    "arms", ["0/0", "n/n", "n/0", "0/n", "1 session", "no session", "missing arm", "all errors"]
)
def test_corners_give_numbers_and_no_false_word(
    predicted: tuple[float, float] | None,
    removes: bool,
    cluster: Cluster,
    margin: float | None,
    arms: str,
) -> None:
    if removes and predicted is not None and predicted[1] > 0:
        predicted = (predicted[0], 0.0)
    blocks: dict[str, tuple[Any, Any]] = {
        "0/0": ((0, 20), (0, 20)),
        "n/n": ((20, 20), (20, 20)),
        "n/0": ((20, 20), (0, 20)),
        "0/n": ((0, 20), (20, 20)),
        "1 session": ((1, 1), (0, 1)),
        "no session": ((0, 0), (0, 0)),
        "missing arm": ((5, 20), (0, 0)),
        "all errors": (Counts(0, 0, errored=20), Counts(0, 0, incomplete=20)),
    }
    true = {
        "0/0": {Verdict.NOT_REPRODUCED},
        "n/n": {Verdict.FALSIFIED, Verdict.PREDICTION_REFUTED},
        "n/0": {Verdict.PRESENT},
        "0/n": {Verdict.FALSIFIED, Verdict.PREDICTION_REFUTED, Verdict.NOT_REPRODUCED},
        "1 session": {Verdict.PRESENT},
    }.get(arms, set())
    test = ABTest(predicted=predicted, removes=removes, cluster=cluster, margin=margin)
    for number in range(12):
        test.add_block(*blocks[arms], first="treatment" if number % 2 else "control")
        if number in (0, 1, 11):
            check_numbers(test)
    assert test.verdict in true | {Verdict.INCONCLUSIVE}
    assert test.close() is test.verdict


def test_e_values_are_capped() -> None:
    test = after([((5000, 5000), (0, 5000))] * 3, design_effect=None)
    assert test.evidence.no_effect == pytest.approx(1e300)
    assert test.evidence.margin == 0.0


def test_removal_is_not_testable_without_room_below_the_floor() -> None:
    test = after([((2, 60), (6, 60))] * 3, predicted=(0.02, 0.0), removes=True)
    assert not test.removes_testable
    assert test.evidence.treatment_clean is None
    assert test.verdict is None
    assert test.held is Held.UNTESTED


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=12))
@settings(max_examples=60)
def test_the_order_of_blocks_changes_no_evidence_but_the_sign_flip(hits: list[tuple[int, int]]) -> None:
    def evidence(sequence: list[tuple[int, int]]) -> list[float | None]:
        return list(astuple(after([((c, 20), (t, 20)) for c, t in sequence]).evidence))[:-1]

    for there, back in zip(evidence(hits), evidence(hits[::-1]), strict=True):
        assert there == pytest.approx(back, rel=1e-6)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=14))
@settings(max_examples=60)
def test_every_test_ends_with_one_word(hits: list[tuple[int, int]]) -> None:
    test = after([((c, 20), (t, 20)) for c, t in hits])
    if len(hits) >= 12:
        assert test.verdict is not None
    word = test.close()
    assert test.close() is word is test.verdict
    assert (test.reason is not None) == (word is Verdict.INCONCLUSIVE)


@pytest.mark.parametrize(
    "settings",
    [
        {"alpha": 0.0},
        {"alpha": 1.0},
        {"margin": 0.0},
        {"margin": -0.1},
        {"margin": math.nan},
        {"predicted": (0.05, 0.17)},
        {"predicted": (0.17, 0.17)},
        {"predicted": (1.2, 0.0)},
        {"predicted": (0.17, -0.1)},
        {"predicted": (0.17, 0.05), "removes": True},
        {"floor": 0.0},
        {"floor": 1.0},
        {"p0": 0.0},
        {"design_effect": "runs"},
        {"min_blocks": 0},
        {"min_blocks": 5, "max_blocks": 4},
    ],
)
def test_arguments_that_make_no_sense_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        ABTest(**settings)


@pytest.mark.parametrize("block", [((3, 2), (0, 2)), ((-1, 2), (0, 2)), ((1, 2), (0, 2), "both")])
def test_blocks_that_make_no_sense_are_refused_and_leave_no_trace(block: Any) -> None:
    test = ABTest(predicted=PREDICTED)
    with pytest.raises(ValueError):
        test.add_block(*block)
    assert test.blocks == 0


def test_numpy_counts_are_welcome() -> None:
    hits = np.array([10, 0])
    test = ABTest(predicted=PREDICTED)
    test.add_block((hits[0], 60), (hits[1], 60))
    assert test.arms["control"] == Counts(10, 50)


def test_terms_come_from_rules_and_prediction() -> None:
    stated = Terms.of(Rules(), Prediction.parse("0.17:removes"))
    assert (stated.predicted, stated.floor, stated.p0, stated.removes) == (
        PREDICTED,
        0.0425,
        0.01,
        True,
    )
    measured = Terms.of(Rules(reference=0.2), Prediction.parse("removes"))
    assert (measured.predicted, measured.floor) == ((0.2, 0.0), 0.05)
    noisy = Terms.of(Rules(reference=0.2, noise_bound=0.06), Prediction())
    assert (noisy.predicted, noisy.floor, noisy.p0) == ((0.2, 0.0), 0.06, 0.06)
    assert not noisy.removes_testable
    sampled = Terms.of(Rules(), Prediction(), 1.0)
    assert (sampled.predicted, sampled.floor) == ((0.99, 0.0), 0.25)
    blind = Terms.of(Rules(), Prediction())
    assert (blind.predicted, blind.floor) == (None, None)


def test_the_design_effect_can_be_off_and_is_off_for_single_starts() -> None:
    wild = [((20, 60), (0, 60)), ((0, 60), (0, 60))] * 4
    assert after(wild).design_effect > 3
    for off in (after(wild, design_effect=None), after(wild, cluster=Cluster.TRIAL)):
        assert off.design_effect == 1.0
        assert not off.design_effect_assumed
    assert not after(wild).design_effect_assumed


def test_unequal_losses_are_a_finding_and_equal_ones_are_not() -> None:
    def losing(control: int, treatment: int, blocks: int) -> ABTest:
        test = ABTest(predicted=PREDICTED, cluster=Cluster.TRIAL, max_blocks=60)
        for _ in range(blocks):
            test.add_block(
                Counts(3, 17 - control, errored=control),
                Counts(0, 20 - treatment, incomplete=treatment),
            )
        return test

    assert not losing(0, 0, 5).errors_differ
    assert not losing(4, 4, 20).errors_differ
    assert not losing(0, 6, 1).errors_differ
    assert losing(0, 6, 4).errors_differ
    assert losing(6, 0, 4).errors_differ


def test_equal_losses_are_hardly_ever_called_unequal() -> None:
    draw = np.random.default_rng(3)
    called = 0
    for _ in range(400):
        test = ABTest(cluster=Cluster.TRIAL, max_blocks=60)
        for lost in draw.binomial(20, 0.3, size=(15, 2)):
            control, treatment = (Counts(0, 20 - int(count), errored=int(count)) for count in lost)
            test.add_block(control, treatment)
            if test.errors_differ:
                called += 1
                break
    assert called <= 0.01 * 400


def test_a_start_that_hangs_is_not_yet_a_difference() -> None:
    test = ABTest(predicted=PREDICTED)
    test.add_block(Counts(10, 50), Counts(0, 0, errored=60))
    test.add_block(Counts(10, 50), Counts(0, 60))
    assert not test.errors_differ
    test.add_block(Counts(10, 50), Counts(0, 0, errored=60))
    assert test.errors_differ
