"""Plans against simulation, and the formulas behind them."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.model.plan import Cluster
from workbench.model.verdict import Verdict
from workbench.stats import (
    ABTest,
    Terms,
    block_size,
    bound_without_hit,
    forecast,
    smallest_visible_effect,
)
from workbench.stats.interval import rate_interval

TERMS = Terms(predicted=(0.17, 0.0), floor=0.0425, max_blocks=40)


def simulate(
    pair: tuple[float, float], m: int, rho: float, terms: Terms, reps: int = 150
) -> tuple[Verdict, float, float]:
    """Most frequent word, mean blocks, and share of `present`."""
    rng = np.random.default_rng(11)
    words, blocks = [], []
    for _ in range(reps):
        test = ABTest.under(terms)
        while test.verdict is None:
            hits: list[tuple[int, int]] = []
            for rate in pair:
                spread = (1 - rho) / rho if rho else 0
                p = rng.beta(rate * spread, (1 - rate) * spread) if rho and rate else rate
                hits.append((int(rng.binomial(m, p)), m))
            test.add_block(hits[0], hits[1])
        words.append(test.verdict)
        blocks.append(test.blocks)
    common = max(set(words), key=words.count)
    return common, float(np.mean(blocks)), words.count(Verdict.PRESENT) / reps


@pytest.mark.parametrize("m", [20, 60])
@pytest.mark.parametrize("rho", [0.0, 0.05])
@pytest.mark.parametrize(
    "pair", [(0.17, 0.0), (0.17, 0.05), (0.17, 0.17), (0.4, 0.4), (0.05, 0.0), (0.0, 0.0)]
)
def test_the_rehearsal_foretells_simulated_tests(m: int, rho: float, pair: tuple[float, float]) -> None:
    plan = forecast(TERMS, *pair, m, correlation=rho)
    word, blocks, _ = simulate(pair, m, rho, TERMS)
    assert plan.verdict is word
    assert plan.blocks == pytest.approx(blocks, rel=0.25, abs=0.5)
    assert plan.sessions == 2 * m * plan.blocks


def test_one_start_each_needs_no_correlation() -> None:
    terms = Terms(predicted=(0.17, 0.0), floor=0.0425, cluster=Cluster.TRIAL, max_blocks=60)
    assert forecast(terms, 0.17, 0.05, 20, correlation=0.5) == forecast(
        terms, 0.17, 0.05, 20, correlation=0.0
    )


def test_a_claim_of_removal_falls_early() -> None:
    terms = Terms(predicted=(0.17, 0.0), removes=True, floor=0.0425)
    assert forecast(terms, 0.17, 0.17, 60).verdict is Verdict.PREDICTION_REFUTED


@pytest.mark.parametrize(("control", "m"), [(0.17, 60), (0.17, 20), (0.4, 20)])
def test_the_smallest_visible_effect_is_seen_about_every_second_time(control: float, m: int) -> None:
    terms = Terms(predicted=(control, 0.0), floor=control / 4)
    effect = smallest_visible_effect(terms, control, m, correlation=0.0)
    assert effect is not None
    _, _, share = simulate((control, control - effect), m, 0.0, terms)
    _, _, half = simulate((control, control - effect / 2), m, 0.0, terms)
    _, _, more = simulate((control, max(0.0, control - 1.5 * effect)), m, 0.0, terms)
    assert 0.3 < share < 0.85
    assert half < 0.15
    assert more > 0.85


def test_too_few_sessions_see_nothing() -> None:
    assert smallest_visible_effect(Terms(predicted=(0.02, 0.0), floor=0.005), 0.02, 5) is None


def test_bound_without_a_hit() -> None:
    assert bound_without_hit(60, TERMS) == rate_interval(0, 60)[1]
    assert bound_without_hit(240, TERMS, 20) == rate_interval(0, 240 / 1.38)[1]
    trial = Terms(floor=0.0425, cluster=Cluster.TRIAL)
    assert bound_without_hit(240, trial, 20) == rate_interval(0, 240)[1]


@pytest.mark.parametrize(("price", "published"), [(10, 22), (40, 44), (160, 89)])
def test_block_size_follows_the_published_formula(price: int, published: int) -> None:
    assert block_size(1, price, 1) == published
    cost = {m: (price + m) * (1 + 0.02 * (m - 1)) / m for m in range(1, 400)}
    assert min(cost, key=lambda m: cost[m]) == pytest.approx(published, abs=1)


def test_block_size_respects_the_load_and_the_unit() -> None:
    assert block_size(60, 10, 1) == 60
    assert block_size(1, 0, 1) == 1
    assert block_size(1, 40, 1, cluster=Cluster.TRIAL) == 20


@pytest.mark.parametrize(
    "bad", [(1.2, 0.0, 20, 0.0), (0.1, -0.1, 20, 0.0), (0.1, 0.0, 0, 0.0), (0.1, 0.0, 20, 2.0)]
)
def test_nonsense_is_refused(bad: tuple[float, float, int, float]) -> None:
    with pytest.raises(ValueError):
        forecast(TERMS, bad[0], bad[1], bad[2], correlation=bad[3])
    with pytest.raises(ValueError):
        block_size(1, 1, 0)
