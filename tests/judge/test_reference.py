"""The control's own rate, and what a test asks because of it."""

from __future__ import annotations

import random

import pytest

from workbench.judge.reference import notes, rate, sample, terms
from workbench.model.outcome import Counts, Status
from workbench.model.plan import Measurement, Rules
from workbench.model.prediction import Prediction

PLAN = Measurement(arm="control", max_trials=200, until_hits=5)
H, C = Status.HIT, Status.CLEAN


def test_a_sample_ends_at_its_fifth_hit_and_leaves_out_what_came_after() -> None:
    counts, complete = sample([C, H, H, C, H, H, H, C, H], PLAN)
    assert complete
    assert counts == Counts(5, 2)


def test_a_sample_ends_at_its_greatest_size() -> None:
    assert sample([C] * 200, PLAN) == (Counts(0, 200), True)
    assert sample([C] * 199, PLAN) == (Counts(0, 199), False)


def test_a_sample_stopped_at_its_fifth_hit_estimates_the_rate_without_bias() -> None:
    """The mean of (k - 1) / (n - 1) is the rate, that of k / n is a quarter above it."""
    draw = random.Random(1)
    estimates, naive = [], []
    for _ in range(4000):
        statuses = (H if draw.random() < 0.3 else C for _ in range(200))
        counts, _ = sample(statuses, PLAN)
        estimate = rate(counts, PLAN)
        assert estimate is not None
        estimates.append(estimate)
        naive.append(counts.hit / counts.decided)
    assert sum(estimates) / 4000 == pytest.approx(0.3, abs=0.006)
    assert sum(naive) / 4000 > 0.32


def test_no_hit_has_no_rate() -> None:
    assert rate(Counts(0, 200), PLAN) is None
    assert rate(Counts(2, 198), PLAN) == 0.01


def test_the_floor_is_a_quarter_of_the_reference_and_at_least_the_noise() -> None:
    said = Prediction(control=0.4, treatment=0.0, removes=True)
    assert terms(said, Rules(), None).floor == 0.1
    assert terms(said, Rules(reference=0.2), None).floor == 0.05
    assert terms(said, Rules(noise_bound=0.15), None).floor == 0.15
    assert terms(Prediction(), Rules(), 0.4).floor == 0.1
    assert terms(Prediction(), Rules(), None).floor is None


def test_removes_is_dropped_where_it_cannot_be_tested() -> None:
    rare = Prediction(control=0.03, treatment=0.0, removes=True)
    assert not terms(rare, Rules(), None).removes
    assert "`removes` cannot be tested" in notes(rare, Rules(), None)[0]
    common = Prediction(control=0.17, treatment=0.0, removes=True)
    assert terms(common, Rules(), None).removes
    assert notes(common, Rules(), None) == ()
    assert not terms(common, Rules(noise_bound=0.05), None).removes


def test_nothing_known_is_said_so() -> None:
    assert "no reference rate" in notes(Prediction(), Rules(), None)[0]


@pytest.mark.parametrize("measured", [0.005, 0.5, 1.0])
def test_any_measured_rate_gives_terms_that_hold(measured: float) -> None:
    asked = terms(Prediction(treatment=0.0, removes=True), Rules(), measured)
    assert asked.predicted is not None
    assert asked.predicted[0] < 1
    assert asked.floor == measured / 4
