"""Small doses of the yardsticks, with the bounds that the product must keep.

The long tables come from `python -m tests.bench.agreement`, `ratios` and `null_rates`; the trials here
are fewer, and enough that chance alone stays well inside each bound.
"""

from __future__ import annotations

import pytest

from tests.bench.agreement import SCENARIOS, agreement, product_table
from tests.bench.drive import PAIRS, Null, Pair, ever_present, sessions_over_bound

pytestmark = pytest.mark.quality


@pytest.mark.parametrize("only", SCENARIOS)
def test_same_word_at_the_same_block_as_the_reference(only: str) -> None:
    cells = agreement(product_table(only, reps=50))
    assert len(cells) >= 16
    for label, word, block in cells:
        assert word >= 0.98, label
        assert block >= 0.98, label


@pytest.mark.parametrize(
    ("pair", "sessions", "dispersed", "limit", "reps"),
    [
        *[(pair, 1, False, 1.3, reps) for pair, reps in zip(PAIRS, (2500, 2500, 500), strict=True)],
        *[(pair, 10, False, 1.45, 1500) for pair in PAIRS],
        *[(pair, sessions, True, 1.75, 500) for pair in PAIRS for sessions in (10, 20)],
    ],
)
def test_sessions_over_the_bound(
    pair: Pair, sessions: int, dispersed: bool, limit: float, reps: int
) -> None:
    ratio = sessions_over_bound(pair, sessions, reps, dispersed=dispersed)
    assert ratio.value <= limit
    assert ratio.undecided <= 0.02
    assert ratio.false <= 0.02


@pytest.mark.parametrize(
    ("null", "limit"),
    [
        (Null(), 0.01),
        (Null(turns=4, icc=0.3), 0.01),
        (Null(turns=4, icc=0.7), 0.01),
        (Null(sessions=20, blocks=12, rho=0.05, dispersed=True), 0.02),
        (Null(sessions=60, blocks=12, rho=0.05, dispersed=True), 0.02),
    ],
)
def test_false_present_is_rare(null: Null, limit: float) -> None:
    assert ever_present(null, reps=3000) <= limit


def test_the_simulation_would_notice_too_many_false_words() -> None:
    """Without the design effect, starts that fail together do fool the test."""
    assert ever_present(Null(sessions=60, blocks=12, rho=0.05), reps=500) > 0.02
