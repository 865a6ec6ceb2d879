"""What makes two runs one test, what makes them two, and which blocks are carried over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.store.examples import manifest as example
from workbench.judge.continuation import Beginning, complete_blocks, digest_of_test
from workbench.judge.docket import Docket, Work, replay
from workbench.judge.fold import Tally
from workbench.judge.jury import Jury
from workbench.model.ids import SessionKey
from workbench.model.outcome import Counts, Ending, Status, Symptom
from workbench.model.plan import Arm, Cluster, Measurement, Part, Plan, Rules
from workbench.model.prediction import Prediction
from workbench.model.run import Fingerprint
from workbench.model.verdict import Comparison, Reason, Verdict
from workbench.stats import ABTest, Terms
from workbench.store.documents import encode_manifest, read_manifest

PAIR = Comparison(
    control="control",
    treatment="treatment",
    prediction=Prediction(control=0.4, treatment=0.1),
    hypothesis="H1",
)
PLAN = Plan(
    arms=(
        Arm(name="control", settings={"cache": "on", "mode": "old"}),
        Arm(name="treatment", settings={"cache": "off", "mode": "old"}),
    ),
    comparisons=(PAIR,),
    measurement=None,
    rules=Rules(block_size=4, max_blocks=3, cluster=Cluster.TRIAL),
    symptom=Symptom(name="fails", labels=("failed", "crashed"), void=("skipped",)),
    engine=Part(kind="command", options={"argv": ["./run"], "limit": 1.5}),
    workload=Part(kind="command", options={"timeout": 60.0}),
    classifier=Part(kind="exit_code", options={"hit_exit": [1, 2]}),
    in_flight=4,
    seed=7,
    knobs={
        "cache": Part(kind="flag", options={"flag": "--cache", "levels": {"on": True, "off": False}}),
        "mode": Part(kind="env", options={"name": "MODE", "levels": {"old": "1", "new": "2"}}),
    },
)
FOUND = {
    name: Fingerprint(arm=name, config={"command": f"./run {name}"}, files={"run": "0" * 64})
    for name in ("control", "treatment")
}


def digest(plan: Plan = PLAN, found: Mapping[str, Fingerprint] = FOUND) -> str:
    return digest_of_test(plan, plan.comparisons[0], found)


def with_rules(**changes: Any) -> Plan:
    return replace(PLAN, rules=replace(PLAN.rules, **changes))


def with_pair(**changes: Any) -> Plan:
    return replace(PLAN, comparisons=(replace(PAIR, **changes),))


RENAMED = replace(
    PLAN,
    arms=tuple(
        Arm(name=arm.name, settings={"store": arm.settings["cache"], "mode": "was"})
        for arm in PLAN.arms
    ),
    knobs={
        "store": PLAN.knobs["cache"],
        "mode": Part(kind="env", options={"levels": {"was": "1", "is": "9"}, "name": "MODE"}),
    },
)
WIDER = replace(
    PLAN,
    arms=(*PLAN.arms, Arm(name="other", settings={})),
    comparisons=(PAIR, replace(PAIR, treatment="other", hypothesis="H2")),
)
LOOSE = {name: replace(each, volatile={"pid": "1"}) for name, each in FOUND.items()}


@pytest.mark.parametrize(
    ("plan", "found"),
    [
        (replace(PLAN, seed=8), FOUND),
        (with_rules(min_blocks=1), FOUND),
        (with_rules(max_blocks=60), FOUND),
        (with_rules(block_size=20), FOUND),
        (replace(PLAN, keep_texts="all"), FOUND),
        (replace(PLAN, in_flight=1), FOUND),
        (replace(PLAN, budget=5.0), FOUND),
        (replace(PLAN, first_block=4), FOUND),
        (with_pair(hypothesis="H9"), FOUND),
        (WIDER, FOUND),
        (RENAMED, FOUND),
        (PLAN, LOOSE),
    ],
)
def test_what_is_not_tested_is_not_in_the_digest(plan: Plan, found: Mapping[str, Fingerprint]) -> None:
    assert digest(plan, found) == digest()


def turned(knob: str, **options: Any) -> Plan:
    part = PLAN.knobs[knob]
    changed = Part(kind=part.kind, options={**part.options, **options})
    return replace(PLAN, knobs={**PLAN.knobs, knob: changed})


@pytest.mark.parametrize(
    "plan",
    [
        with_rules(margin=0.1),
        with_rules(alpha=0.05),
        with_rules(reference=0.3),
        with_rules(noise_bound=0.02),
        with_rules(cluster=Cluster.START),
        with_rules(design_effect=False),
        with_pair(prediction=Prediction(control=0.4, treatment=0.2)),
        with_pair(prediction=Prediction(control=0.4000001, treatment=0.1)),
        with_pair(prediction=Prediction(control=0.4, treatment=0.0)),
        with_pair(prediction=Prediction(control=0.4, treatment=0.0, removes=True)),
        with_pair(control="treatment", treatment="control"),
        replace(PLAN, symptom=replace(PLAN.symptom, labels=("failed",))),
        replace(PLAN, symptom=replace(PLAN.symptom, endings=(Ending.TIMEOUT,))),
        replace(PLAN, workload=Part(kind="command", options={"timeout": 61.0})),
        replace(PLAN, engine=Part(kind="command", options={"argv": ["./run", "x"]})),
        replace(PLAN, classifier=Part(kind="exit_code")),
        turned("mode", levels={"old": "3"}),
        turned("cache", flag="--store"),
        turned("mode", components=["prefill"]),
        replace(PLAN, arms=(replace(PLAN.arms[0], settings={"cache": "on"}), PLAN.arms[1])),
    ],
)
def test_what_is_tested_is_in_the_digest(plan: Plan) -> None:
    assert digest(plan) != digest()


def test_other_code_is_another_test() -> None:
    for changed in (
        replace(FOUND["treatment"], files={"run": "1" * 64}),
        replace(FOUND["treatment"], config={"command": "./run else"}),
    ):
        assert digest(found={**FOUND, "treatment": changed}) != digest()


def test_the_digest_is_the_same_once_it_has_been_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    path.write_bytes(encode_manifest(replace(example(), plan=PLAN, fingerprints=FOUND)))
    kept = read_manifest(path)
    assert digest_of_test(kept.plan, kept.plan.comparisons[0], kept.fingerprints) == digest()


def test_it_is_what_it_was() -> None:
    """Runs on disk are found by it: a workbench that computed another one would forget them."""
    assert digest() == "a957def2cab9090c3aaa0843a2e241f4dc7b91d7bc1e8d85a8802bd66aac6512"


# --- carrying over --------------------------------------------------------------------------------


def walk(plan: Plan, beginning: Beginning, statuses: Mapping[str, str], stop: int) -> Tally:
    """Fill a tally with the sessions of a run that repeats these statuses, up to `stop` sessions."""
    tally, done = Tally(), 0
    letters = {"h": Status.HIT, "c": Status.CLEAN, "e": Status.ERRORED, "i": Status.INCOMPLETE}
    for step in Docket(plan, tally, beginning).steps():
        if not isinstance(step, Work):
            continue
        for session in step.sessions:
            if done == stop:
                return tally
            pattern = statuses[step.arm]
            place = (step.block * plan.rules.block_size + session) % len(pattern)
            key = SessionKey(step.arm, step.block, session)
            tally.add(key, letters[pattern[place]], last=True)
            done += 1
    return tally


@settings(deadline=None)
@given(
    statuses=st.fixed_dictionaries(
        {
            "control": st.text("hce", min_size=3, max_size=9),
            "treatment": st.text("hcei", min_size=3, max_size=9),
        }
    ),
    cuts=st.lists(st.integers(0, 60), min_size=1, max_size=4),
    seed=st.integers(0, 1000),
)
def test_cut_anywhere_and_continued_it_is_one_process(
    statuses: dict[str, str], cuts: list[int], seed: int
) -> None:
    """Runs that stop anywhere, one after the other, give the words and numbers of one long run."""
    whole = replace(with_rules(max_blocks=60), seed=seed)
    blocks: tuple[Any, ...] = ()
    for cut in cuts:
        plan = replace(whole, first_block=len(blocks) + 1)
        tally = walk(plan, Beginning(blocks=(blocks,)), statuses, cut)
        blocks += tuple(complete_blocks(plan, tally, PAIR))
    jury = Jury(whole, Beginning(blocks=(blocks,)))
    straight = Tally()
    for block in range(1, len(blocks) + 1):
        for arm, pattern in statuses.items():
            for session in range(4):
                letter = pattern[(block * 4 + session) % len(pattern)]
                status = {"h": "hit", "c": "clean", "e": "errored", "i": "incomplete"}[letter]
                straight.add(SessionKey(arm, block, session), Status(status), last=True)
    assert jury.judgements == replay(whole, straight).jury.judgements


def test_a_run_may_add_as_many_blocks_as_planned_whatever_went_before() -> None:
    first = walk(PLAN, Beginning(), {"control": "hccc", "treatment": "hccc"}, 999)
    blocks = tuple(complete_blocks(PLAN, first, PAIR))
    assert len(blocks) == 3
    again = replace(PLAN, first_block=4)
    beginning = Beginning(blocks=(blocks,))
    second = walk(again, beginning, {"control": "hccc", "treatment": "hccc"}, 999)
    docket = replay(again, second, beginning)
    judgement = docket.jury.judgements[0]
    assert (docket.block, judgement.blocks) == (6, 6)
    assert (judgement.verdict, judgement.reason) == (Verdict.INCONCLUSIVE, Reason.BUDGET)


def test_blocks_count_up_to_the_first_that_is_not_complete() -> None:
    tally = walk(PLAN, Beginning(), {"control": "h", "treatment": "h"}, 999)
    holed = Tally()
    for block in (1, 3):
        for arm in ("control", "treatment"):
            for session in range(4):
                holed.add(SessionKey(arm, block, session), Status.HIT, last=True)
    assert len(list(complete_blocks(PLAN, tally, PAIR))) >= 2
    assert len(list(complete_blocks(PLAN, holed, PAIR))) == 1


def test_the_arm_that_was_first_stays_the_first() -> None:
    """Evidence across restarts rests on the order that was drawn when the blocks were run."""
    plan = with_rules(max_blocks=60)
    tally = walk(plan, Beginning(), {"control": "hhcc", "treatment": "hhcc"}, 8 * 8)
    blocks = list(complete_blocks(plan, tally, PAIR))
    test = ABTest.under(Terms.of(plan.rules, PAIR.prediction))
    for block in blocks:
        test.add_block(block.control, block.treatment, block.first)
    assert {block.first for block in blocks} == {"control", "treatment"}
    assert [each.first for each in blocks[:2]] in (["control", "treatment"], ["treatment", "control"])
    assert test.evidence == replay(plan, tally).jury.judgements[0].evidence


def test_an_earlier_measurement_is_not_made_again() -> None:
    measured = replace(
        with_pair(prediction=Prediction()), measurement=Measurement(arm="control", max_trials=9)
    )
    beginning = Beginning(blocks=((),), measured=Counts(3, 6))
    docket = Docket(measured, Tally(), beginning)
    step = next(iter(docket.steps()))
    assert isinstance(step, Work)
    assert step.block == 1
    assert docket.measured == Counts(3, 6)
