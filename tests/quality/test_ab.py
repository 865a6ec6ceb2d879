"""Does `ab` say the right word? 200 seeded repeats of the whole decision, from sample to verdict."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest

from tests import simulated
from tests.conftest import EXAMPLES, Workbench
from workbench.conduct.schedule import session_seed
from workbench.judge.docket import Docket, Work
from workbench.judge.fold import Tally
from workbench.model.ids import SessionKey
from workbench.model.outcome import Status
from workbench.model.plan import Plan
from workbench.model.verdict import Judgement, Reason, Verdict

pytestmark = pytest.mark.quality
REPEATS = 200


def decide(plan: Plan, rates: dict[str, float], timeouts: dict[str, float] | None = None) -> Judgement:
    """Walk a run whose sessions fail at these rates, each by its own seed."""
    tally = Tally()
    docket = Docket(plan, tally)
    for step in docket.steps():
        if not isinstance(step, Work):
            continue
        for session in step.sessions:
            key = SessionKey(step.arm, step.block, session)
            draw = random.Random(session_seed(plan.seed, key))
            status = Status.HIT if draw.random() < rates[step.arm] else Status.CLEAN
            if draw.random() < (timeouts or {}).get(step.arm, 0.0):
                status = Status.ERRORED
            tally.add(key, status, last=True)
            if step.enough():
                break
    return docket.jury.judgements[0]


def repeats(control: float, treatment: float, predict: str | None = None) -> list[Judgement]:
    rates = {"control": control, "treatment": treatment}
    plans = (simulated.plan(control, treatment, predict, seed=seed) for seed in range(REPEATS))
    return [decide(plan, rates) for plan in plans]


def words(judgements: list[Judgement]) -> Counter[Verdict | None]:
    found = Counter(judgement.verdict for judgement in judgements)
    print(", ".join(f"{word} {times}/{len(judgements)}" for word, times in found.most_common()))
    return found


@pytest.mark.parametrize("predict", [None, "0.17:removes"])
def test_a_cause_is_present(predict: str | None) -> None:
    assert words(repeats(0.17, 0.0, predict))[Verdict.PRESENT] >= 0.99 * REPEATS


def test_no_difference_is_falsified_and_hardly_ever_present() -> None:
    found = words(repeats(0.17, 0.17))
    assert found[Verdict.FALSIFIED] >= 0.9 * REPEATS
    assert found[Verdict.PRESENT] + found[Verdict.PRESENT_BUT_SMALL] <= 0.01 * REPEATS


def test_nothing_against_nothing_is_not_reproduced() -> None:
    assert words(repeats(0.0, 0.0))[Verdict.NOT_REPRODUCED] == REPEATS


def test_a_rare_cause_is_never_called_no_cause() -> None:
    found = words(repeats(0.02, 0.0))
    assert found[Verdict.FALSIFIED] + found[Verdict.PRESENT_BUT_SMALL] <= 1


def test_a_wrong_claim_of_removal_is_refuted_cheaply() -> None:
    judgements = repeats(0.17, 0.17, "0.17:removes")
    assert words(judgements)[Verdict.PREDICTION_REFUTED] >= 0.95 * REPEATS
    spent = [judgement.arms["treatment"].total for judgement in judgements]
    print(f"treatment sessions: mean {sum(spent) / REPEATS:.1f}")
    assert sum(spent) / REPEATS <= 60


def test_timeouts_in_one_arm_never_give_a_word_that_they_could_turn() -> None:
    rates, timeouts = {"control": 0.17, "treatment": 0.0}, {"treatment": 0.3}
    plans = (simulated.plan(0.17, 0.0, "0.17:removes", seed=seed) for seed in range(REPEATS))
    judgements = [decide(plan, rates, timeouts) for plan in plans]
    assert words(judgements)[Verdict.INCONCLUSIVE] == REPEATS
    assert {judgement.reason for judgement in judgements} == {Reason.ERRORS}


@pytest.mark.parametrize(
    ("rates", "more", "accepted"),
    [
        (("0.17", "0"), [], {"present"}),
        (("0.17", "0.17"), [], {"falsified"}),
        (("0", "0"), [], {"not-reproduced"}),
        (("0.02", "0"), [], {"present", "not-reproduced", "inconclusive"}),
        (("0.17", "0.17"), ["--predict", "0.17:removes"], {"prediction-refuted"}),
    ],
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_real_command_says_the_same(
    workbench: Workbench, rates: tuple[str, str], more: list[str], accepted: set[str], seed: int
) -> None:
    control, treatment = (f"{EXAMPLES}/flaky.sh {rate}" for rate in rates)
    result = workbench(
        "ab",
        "--control",
        control,
        "--treatment",
        treatment,
        "-j",
        "2",
        "--seed",
        str(seed),
        "--json",
        *more,
    )
    assert json.loads(result.stdout)["verdict"] in accepted


def test_the_real_command_with_timeouts_in_one_arm_is_inconclusive(workbench: Workbench) -> None:
    sometimes = "if [ $((WORKBENCH_SEED % 10)) -lt 3 ]; then sleep 60; fi"
    result = workbench(
        *("ab", "--control", f"{EXAMPLES}/flaky.sh 0.17", "--treatment", f"sh -c '{sometimes}'"),
        *("--predict", "0.17:removes", "--timeout", "200ms", "-j", "8", "--max-blocks", "8"),
        *("--seed", "1", "--json"),
    )
    found = json.loads(result.stdout)
    assert (found["verdict"], found["reason"], result.returncode) == ("inconclusive", "errors", 4)
