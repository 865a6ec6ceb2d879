"""Plans of hypothesis tests: what suspects share, and what is refused with a place and a hint."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from workbench.conduct.tests import plan_tests
from workbench.errors import PluginError, UsageError
from workbench.model.campaign import (
    CampaignSpec,
    Defaults,
    EngineSpec,
    Knob,
    SymptomSpec,
    WorkloadSpec,
)
from workbench.model.hypothesis import Hypothesis, Test
from workbench.model.outcome import Ending
from workbench.model.plan import Cluster, Part
from workbench.model.prediction import Prediction

ON = {"cache": "on", "mode": "old"}
OFF = {"cache": "off", "mode": "old"}
SPEC = CampaignSpec(
    title="Sometimes it fails",
    symptoms={
        "fails": SymptomSpec(
            name="fails", classifier=Part(kind="exit_code"), labels=("failed",), reference_rate=0.3
        )
    },
    engines={"script": EngineSpec(name="script", lifecycle="command", options={"argv": ["./run"]})},
    workloads={"runs": WorkloadSpec(name="runs", kind="command", sessions=15, in_flight=3, seed=9)},
    knobs={
        "cache": Knob(
            name="cache", kind="flag", levels={"on": True, "off": False}, options={"flag": "--cache"}
        ),
        "mode": Knob(
            name="mode", kind="env", levels={"old": "1", "new": "2"}, options={"name": "MODE"}
        ),
    },
    defaults=Defaults(alpha=0.02, margin=0.1),
)


def suspect(id: str, control: dict[str, str], treatment: dict[str, str], **test: Any) -> Hypothesis:
    return Hypothesis(
        id=id,
        title="A suspect",
        file=f"hypotheses/{id}.yaml",
        prediction=Prediction(control=0.3, treatment=0.0, removes=True),
        test=Test(control=control, treatment=treatment, **test),
    )


CACHE = suspect("H1", ON, {**ON, "cache": "off"})
MODE = suspect("H2", ON, {**ON, "mode": "new"})


def test_one_suspect_has_a_control_and_a_treatment() -> None:
    plan = plan_tests(SPEC, [CACHE], {"seed": 5})
    assert [arm.name for arm in plan.arms] == ["control", "treatment"]
    assert plan.comparisons[0].hypothesis == "H1"
    assert (plan.rules.block_size, plan.in_flight, plan.seed) == (15, 3, 5)
    assert (plan.rules.alpha, plan.rules.margin, plan.rules.reference) == (0.02, 0.1, 0.3)
    assert (plan.rules.min_blocks, plan.rules.max_blocks) == (2, 60)
    assert plan.rules.cluster is Cluster.TRIAL
    assert plan.symptom.labels == ("failed",)
    assert (plan.symptom.clean, plan.symptom.void) == (("clean",), ("skipped", "killed"))
    assert plan.measurement is None
    assert plan.engine == Part(kind="command", options={"argv": ["./run"]})
    assert plan.knobs["cache"] == Part(
        kind="flag", options={"flag": "--cache", "levels": {"on": True, "off": False}}
    )


def test_suspects_with_an_equal_control_share_it() -> None:
    plan = plan_tests(SPEC, [CACHE, MODE], {})
    assert [arm.name for arm in plan.arms] == ["control", "treatment-H1", "treatment-H2"]
    pairs = [(each.control, each.treatment) for each in plan.comparisons]
    assert pairs == [("control", "treatment-H1"), ("control", "treatment-H2")]


def test_arms_that_are_equal_across_roles_are_one() -> None:
    chain = suspect("H3", {**ON, "cache": "off"}, {"cache": "off", "mode": "new"})
    plan = plan_tests(SPEC, [CACHE, chain], {})
    assert [arm.name for arm in plan.arms] == ["control-H1", "treatment-H1", "treatment-H3"]
    assert plan.comparisons[1].control == "treatment-H1"


def test_the_seed_is_the_one_asked_for_or_the_workloads_or_a_fresh_one() -> None:
    assert plan_tests(SPEC, [CACHE], {"seed": 0}).seed == 0
    assert plan_tests(SPEC, [CACHE], {}).seed == 9
    unseeded = replace(SPEC, workloads={"runs": replace(SPEC.workloads["runs"], seed=None)})
    assert len({plan_tests(unseeded, [CACHE], {}).seed for _ in range(3)}) > 1


def test_what_is_asked_is_laid_over_the_files() -> None:
    asked = {"max_blocks": 4, "in_flight": 2, "sessions": 7, "budget": 60.0, "keep_texts": "all"}
    plan = plan_tests(SPEC, [CACHE], asked)
    assert (plan.rules.max_blocks, plan.in_flight, plan.rules.block_size) == (4, 2, 7)
    assert (plan.budget, plan.keep_texts) == (60.0, "all")


def test_a_margin_of_the_hypothesis_goes_before_the_campaigns() -> None:
    own = suspect("H1", ON, OFF, margin=0.2)
    assert plan_tests(SPEC, [own], {}).rules.margin == 0.2


def test_without_a_known_rate_the_control_is_sampled_first() -> None:
    unknown = replace(SPEC, symptoms={"fails": replace(SPEC.symptoms["fails"], reference_rate=None)})
    bold = replace(CACHE, prediction=Prediction(treatment=0.0, removes=True))
    measurement = plan_tests(unknown, [bold], {}).measurement
    assert measurement is not None
    assert (measurement.arm, measurement.max_trials, measurement.until_hits) == ("control", 200, 5)
    assert plan_tests(unknown, [CACHE], {}).measurement is None
    assert plan_tests(SPEC, [bold], {}).measurement is None
    chain = suspect("H3", {**ON, "cache": "off"}, {"cache": "off", "mode": "new"})
    with pytest.raises(UsageError, match=r"hypotheses/H1\.yaml: H1 predicts no rate of its control"):
        plan_tests(unknown, [bold, chain], {})


def test_a_campaign_of_one_command_needs_no_workload() -> None:
    plan = plan_tests(replace(SPEC, workloads={}), [CACHE], {})
    assert (plan.workload.kind, plan.rules.block_size) == ("command", 20)


def test_an_engine_that_serves_many_sessions_a_start_has_fewer_blocks() -> None:
    engine = EngineSpec(name="sim", lifecycle="simulated", options={"cluster": "start"})
    plan = plan_tests(replace(SPEC, engines={"sim": engine}), [CACHE], {})
    assert (plan.rules.cluster, plan.rules.max_blocks) == (Cluster.START, 12)


def test_endings_can_be_the_symptom() -> None:
    wedged = SymptomSpec(name="wedged", endings=(Ending.TIMEOUT,))
    plan = plan_tests(replace(SPEC, symptoms={"wedged": wedged}), [CACHE], {})
    assert plan.symptom.endings == (Ending.TIMEOUT,)


def without(**fields: Any) -> Hypothesis:
    return replace(CACHE, **fields)


@pytest.mark.parametrize(
    ("hypotheses", "what", "hint"),
    [
        ([], "no hypothesis", "H1"),
        (
            [without(test=None)],
            "hypotheses/H1.yaml: H1 cannot be run: it has no test",
            "test: {control",
        ),
        (
            [without(test=None, prediction=None)],
            "it has no prediction and test",
            "prediction: {control: 0.4, treatment: 0}",
        ),
        ([suspect("H1", ON, ON)], "control and treatment are the same settings", "the knob"),
        (
            [suspect("H1", ON, {"cache": "off", "mode": "new"})],
            "differ in 2 knobs (cache, mode)",
            "why_many",
        ),
        (
            [CACHE, suspect("H2", ON, {**ON, "mode": "new"}, margin=0.2)],
            "H1 and H2 cannot share a run: margin is not stated in hypotheses/H1.yaml and 0.2 in"
            " hypotheses/H2.yaml",
            "one after the other",
        ),
        ([CACHE, replace(MODE, symptom="fails")], "symptom is not stated", "one after the other"),
        ([CACHE, suspect("H2", ON, {**ON, "mode": "new"}, engine="script")], "engine is not", ""),
        ([CACHE, suspect("H2", ON, {**ON, "mode": "new"}, workload="runs")], "workload is not", ""),
        ([suspect("H1", ON, {**ON, "mode": "nwe"})], "knob mode: it has no level 'nwe'", ""),
        ([suspect("H1", ON, {**ON, "mod": "new"})], "there is no knob 'mod'", "did you mean 'mode'?"),
        (
            [suspect("H1", ON, OFF, engine="scrpt")],
            "campaign.yaml: there is no engine 'scrpt'",
            "did you mean 'script'?",
        ),
        ([replace(CACHE, symptom="wedged")], "there is no symptom 'wedged'", "known: fails"),
    ],
)
def test_what_cannot_be_run_says_where_and_what_to_write(
    hypotheses: list[Hypothesis], what: str, hint: str
) -> None:
    with pytest.raises(UsageError) as raised:
        plan_tests(SPEC, hypotheses, {})
    assert what in raised.value.what
    assert hint in raised.value.hint


@pytest.mark.parametrize(
    ("asked", "what"),
    [
        ({"bloks": 3}, "cannot be asked for 'bloks'"),
        ({"sessions": 0}, "sessions must be a number from 1 on"),
        ({"in_flight": -1}, "in_flight must be a number"),
        ({"max_blocks": 1}, "1 blocks at most are fewer than a word needs"),
        ({"budget": 0}, "the budget must be positive"),
        ({"engine": "x"}, "there is no engine 'x'"),
    ],
)
def test_what_cannot_be_asked_is_refused(asked: dict[str, Any], what: str) -> None:
    with pytest.raises(UsageError, match=what):
        plan_tests(SPEC, [CACHE], asked)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"engines": {}}, "there is no engine"),
        ({"symptoms": {}}, "there is no symptom"),
        ({"symptoms": {"x": SymptomSpec(name="x")}}, "says neither which labels"),
        ({"symptoms": {"x": SymptomSpec(name="x", labels=("faild",))}}, "gives no label 'faild'"),
        (
            {"workloads": {n: WorkloadSpec(name=n, kind="command") for n in "ab"}},
            "which workload is meant",
        ),
        (
            {
                "engines": {
                    "script": replace(SPEC.engines["script"], options={"argv": ["./run", "--cache"]})
                }
            },
            "campaign.yaml: knob cache: --cache stands in the command already",
        ),
        (
            {"knobs": {**SPEC.knobs, "mode": replace(SPEC.knobs["mode"], options={"name": "A=B"})}},
            "campaign.yaml: knob 'env'",
        ),
    ],
)
def test_what_the_campaign_lacks_is_named(changes: dict[str, Any], what: str) -> None:
    with pytest.raises(UsageError, match=what):
        plan_tests(replace(SPEC, **changes), [CACHE], {})


def test_an_unknown_classifier_is_named() -> None:
    symptom = SymptomSpec(name="x", classifier=Part(kind="exit_cod"), labels=("failed",))
    with pytest.raises(PluginError, match="no classifier 'exit_cod'"):
        plan_tests(replace(SPEC, symptoms={"x": symptom}), [CACHE], {})
