"""Plans one run that tests one or several hypotheses of a campaign; pure once it is given a seed.

Each hypothesis is a comparison of two arms, and arms with equal settings are one: suspects that share
their control share its sessions. So all hypotheses of a run must agree on everything but their arms and
predictions. What is not as it must be is refused, with the file and with what to write there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from workbench.conduct.plans import CONTROL, REFERENCE, TREATMENT
from workbench.conduct.site import (
    engine_of,
    knobs_of,
    patient,
    positive,
    rules_of,
    seed_of,
    spoken,
    symptom_of,
    workload_of,
)
from workbench.conduct.symptoms import as_judged, classifier_of, watched
from workbench.errors import UsageError
from workbench.model.campaign import CampaignSpec
from workbench.model.hypothesis import Hypothesis, Settings, Test
from workbench.model.plan import Arm, Measurement, Plan, Rules
from workbench.model.prediction import Prediction
from workbench.model.start import Exposure
from workbench.model.verdict import Comparison
from workbench.store.layout import CAMPAIGN_FILE as CAMPAIGN

ASKED = ("seed", "max_blocks", "in_flight", "sessions", "engine", "workload", "budget", "keep_texts")
_EXAMPLES = {
    "prediction": "prediction: {control: 0.4, treatment: 0}",
    "test": 'test: {control: {mode: "on"}, treatment: {mode: "off"}}',
    "put_back": "put_back: {control: {build: fixed-plus-cause}, treatment: {build: fixed}}",
}
_One = TypeVar("_One")


def plan_tests(
    spec: CampaignSpec,
    hypotheses: Sequence[Hypothesis],
    asked: Mapping[str, Any],
    *,
    put_back: bool = False,
) -> Plan:
    """Plan one run that serves these hypotheses, one comparison each, in their order.

    Args:
        spec: The campaign.
        hypotheses: At least one.
        asked: What a person asked for beside the files: `seed` (else the workload's, else a fresh
            one), `max_blocks`, `in_flight`, `sessions`, `engine`, `workload`, `keep_texts`, and
            `budget` in seconds.
        put_back: Compare the pairs of `put_back`: the fixed setting with the cause in it again, and as
            it is.

    Raises:
        UsageError: A hypothesis cannot be run, they cannot share a run, or a name is unknown; says
            which file, what is missing, and an example.
        PluginError: The campaign names a plug-in that is unknown or refuses its options.
    """
    _check_asked(asked)
    tests = {each.id: runnable(each, put_back=put_back) for each in hypotheses}
    if not tests:
        raise UsageError("no hypothesis to test", hint="name one, such as H1")
    engine = engine_of(spec, _agreed("engine", hypotheses, lambda each: tests[each.id].engine), asked)
    workload = workload_of(
        spec, engine, _agreed("workload", hypotheses, lambda each: tests[each.id].workload), asked
    )
    symptom = symptom_of(spec, _agreed("symptom", hypotheses, lambda each: each.symptom))
    classifier = classifier_of(symptom)
    arms, pairs = _arms(hypotheses, tests)
    comparisons = tuple(_comparison(each, tests[each.id], *pairs[each.id]) for each in hypotheses)
    margin = _agreed("margin", hypotheses, lambda each: tests[each.id].margin)
    rules = rules_of(spec, engine, workload, symptom, margin, asked)
    return Plan(
        arms=arms,
        comparisons=comparisons,
        measurement=_measurement(comparisons, hypotheses, rules),
        rules=rules,
        symptom=as_judged(symptom, classifier),
        engine=spoken(engine),
        workload=patient(workload, symptom),
        classifier=classifier,
        in_flight=positive("in_flight", asked.get("in_flight", workload.in_flight)),
        seed=seed_of(workload, asked),
        keep_texts=asked.get("keep_texts", workload.keep_texts),
        knobs=knobs_of(spec, engine, workload, arms),
        budget=asked.get("budget"),
        allow_foreign=engine.allow_foreign,
        repo=spec.repo,
        also=watched(spec, symptom, classifier),
    )


def served_by(spec: CampaignSpec, hypothesis: Hypothesis, asked: Mapping[str, Any]) -> tuple[str, str]:
    """Name the workload and the engine that a hypothesis is tested with; raises UsageError for none."""
    test = runnable(hypothesis)
    engine = engine_of(spec, test.engine, asked)
    return workload_of(spec, engine, test.workload, asked).name, engine.name


def _check_asked(asked: Mapping[str, Any]) -> None:
    unknown = sorted(asked.keys() - set(ASKED))
    if unknown:
        raise UsageError(
            f"a test cannot be asked for {unknown[0]!r}", hint=f"known: {', '.join(ASKED)}"
        )
    budget = asked.get("budget")
    if budget is not None and not budget > 0:
        raise UsageError(f"the budget must be positive, not {budget}", hint="give it in seconds")


def runnable(hypothesis: Hypothesis, *, put_back: bool = False) -> Test:
    """Give the test of a hypothesis, or its put-back run as one; raises UsageError without one."""
    where = f"{hypothesis.file}: {hypothesis.id}"
    if hypothesis.missing or hypothesis.test is None:
        lacks = " and ".join(hypothesis.missing)
        example = "; ".join(_EXAMPLES[name] for name in hypothesis.missing)
        raise UsageError(
            f"{where} cannot be run: it has no {lacks}", hint=f"write there, say, {example}"
        )
    test = hypothesis.test
    if put_back and test.put_back is None:
        raise UsageError(
            f"{where} cannot be put back: its test has no put_back",
            hint=f"write there, say, {_EXAMPLES['put_back']}",
        )
    if put_back and test.put_back is not None:
        test = replace(test, control=test.put_back.control, treatment=test.put_back.treatment)
    differ = sorted(
        name
        for name in test.control.keys() | test.treatment.keys()
        if test.control.get(name) != test.treatment.get(name)
    )
    if not differ:
        raise UsageError(
            f"{where}: control and treatment are the same settings",
            hint="let the treatment differ in the knob that the suspect is about",
        )
    if len(differ) > 1 and not test.why_many:
        raise UsageError(
            f"{where}: control and treatment differ in {len(differ)} knobs ({', '.join(differ)})",
            hint="let one knob differ, or say why not in `why_many:`",
        )
    return test


def _agreed(what: str, hypotheses: Sequence[Hypothesis], of: Callable[[Hypothesis], _One]) -> _One:
    """Give what all hypotheses of the run say, or name two that differ."""
    first = hypotheses[0]
    for other in hypotheses[1:]:
        if of(other) != of(first):
            raise UsageError(
                f"{first.id} and {other.id} cannot share a run: {what} is {_said(of(first))} in"
                f" {first.file} and {_said(of(other))} in {other.file}",
                hint="test them one after the other",
            )
    return of(first)


def _said(value: object) -> str:
    return "not stated" if value in ("", None) else str(value)


def _arms(
    hypotheses: Sequence[Hypothesis], tests: Mapping[str, Test]
) -> tuple[tuple[Arm, ...], dict[str, tuple[str, str]]]:
    """Name the arms, each setting once, and say which two of them each hypothesis compares."""
    controls = [tests[each.id].control for each in hypotheses]
    treatments = [tests[each.id].treatment for each in hypotheses]
    arms: list[Arm] = []
    pairs = {}
    for each, control, treatment in zip(hypotheses, controls, treatments, strict=True):
        names = (
            CONTROL if _all_equal(controls) else f"{CONTROL}-{each.id}",
            TREATMENT if _all_equal(treatments) else f"{TREATMENT}-{each.id}",
        )
        pairs[each.id] = (_shared(arms, names[0], control), _shared(arms, names[1], treatment))
    return tuple(arms), pairs


def _all_equal(settings: Iterable[Settings]) -> bool:
    first, *others = settings
    return all(other == first for other in others)


def _shared(arms: list[Arm], name: str, settings: Settings) -> str:
    """Give the name of the arm with these settings, adding it under `name` if there is none."""
    for arm in arms:
        if arm.settings == settings:
            return arm.name
    arms.append(Arm(name=name, settings=dict(settings)))
    return name


def _comparison(hypothesis: Hypothesis, test: Test, control: str, treatment: str) -> Comparison:
    """Give what is judged for one hypothesis, by the names of its arms."""
    return Comparison(
        control=control,
        treatment=treatment,
        prediction=hypothesis.prediction or Prediction(),
        hypothesis=hypothesis.id,
        exposure=tuple(_exposure(written) for written in test.exposure),
    )


def _exposure(written: Mapping[str, Any]) -> Exposure:
    """Read an exposure as its file has it."""
    return Exposure(
        where=written.get("in", "control"),
        **{name: value for name, value in written.items() if name != "in"},
    )


def _measurement(
    comparisons: Sequence[Comparison], hypotheses: Sequence[Hypothesis], rules: Rules
) -> Measurement | None:
    """Sample the control first where nobody knows or predicts how often it fails (RULES 4)."""
    if rules.reference is not None or all(each.prediction.control for each in comparisons):
        return None
    if len({each.control for each in comparisons}) > 1:
        unknown = next(each for each in hypotheses if not (each.prediction and each.prediction.control))
        raise UsageError(
            f"{unknown.file}: {unknown.id} predicts no rate of its control, and these hypotheses have"
            " different ones",
            hint=f"write there, say, {_EXAMPLES['prediction']}, or a reference_rate in {CAMPAIGN}",
        )
    return Measurement(
        arm=comparisons[0].control, max_trials=REFERENCE.max_trials, until_hits=REFERENCE.until_hits
    )
