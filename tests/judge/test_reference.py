"""The control's own rate, and what a test asks because of it."""

from __future__ import annotations

import random

import pytest

from workbench.judge.reference import notes, rate, sample
from workbench.model.outcome import Counts, Status
from workbench.model.plan import Measurement, Rules
from workbench.model.prediction import Prediction
from workbench.stats import Terms

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


def test_removes_that_cannot_be_tested_is_said_so() -> None:
    rare = Prediction(control=0.03, treatment=0.0, removes=True)
    assert "`removes` cannot be tested" in notes(Terms.of(Rules(), rare), rare)[0]
    common = Prediction(control=0.17, treatment=0.0, removes=True)
    assert notes(Terms.of(Rules(), common), common) == ()


def test_nothing_known_is_said_so() -> None:
    nothing = Prediction()
    assert "no reference rate" in notes(Terms.of(Rules(), nothing), nothing)[0]
    assert notes(Terms.of(Rules(), nothing, 0.4), nothing) == ()
