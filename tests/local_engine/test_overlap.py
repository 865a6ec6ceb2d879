"""The overlap loop: the load fence that it needs, and the cycle that it must not close."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.local_engine.bugs import Holding, Unfenced
from tests.local_engine.driver import ARGS, BF16, FP8, Dose, Hang, drive
from workbench.local_engine.environ import Environment
from workbench.local_engine.managers.unified import UnifiedScheduler

NO_OVERLAP = replace(ARGS, disable_overlap_schedule=True)
FULL_POOL = replace(ARGS, max_total_tokens=16384)
DOSE = Dose(sessions=40, turns=3)
LONG = Dose(sessions=8, turns=4)


@pytest.mark.parametrize("env", [BF16, FP8], ids=["bf16", "fp8"])
def test_an_unfenced_load_meets_the_forward_pass_before_it(env: Environment) -> None:
    assert drive(Unfenced(ARGS, env), DOSE).wrong  # with the gate shut, whatever the format


def test_the_fence_matters_under_overlap_only() -> None:
    assert drive(UnifiedScheduler(ARGS, BF16), DOSE).wrong == []
    assert drive(Unfenced(NO_OVERLAP, BF16), DOSE).wrong == []
    assert drive(Unfenced(ARGS, BF16), Dose(sessions=12, in_flight=1)).wrong == []


def test_a_result_held_for_the_next_batch_deadlocks_a_full_pool() -> None:
    with pytest.raises(Hang, match="no token"):
        drive(Holding(FULL_POOL, BF16), LONG)


@pytest.mark.parametrize("disable_overlap", [False, True])
def test_a_full_pool_is_served_when_results_are_handled_first(disable_overlap: bool) -> None:
    args = replace(FULL_POOL, disable_overlap_schedule=disable_overlap)
    assert drive(UnifiedScheduler(args, BF16), LONG).wrong == []
    assert drive(Holding(replace(args, disable_overlap_schedule=True), BF16), LONG).wrong == []


def test_holding_results_is_harmless_while_there_is_room() -> None:
    assert drive(Holding(ARGS, BF16), Dose(sessions=8, turns=2)).wrong == []


@pytest.mark.quality
@pytest.mark.parametrize("seed", range(3))
def test_full_dose_of_the_missing_fence(seed: int) -> None:
    dose = Dose(seed=seed)
    assert 3 <= len(drive(Unfenced(ARGS, BF16), dose).wrong) <= 24
    assert drive(Unfenced(NO_OVERLAP, BF16), dose).wrong == []
