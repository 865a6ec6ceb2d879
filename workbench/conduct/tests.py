"""Plans one run that tests one or several hypotheses of a campaign; pure once it is given a seed.

Each hypothesis is a comparison of two arms, and arms with equal settings are one: suspects that share
their control share its sessions. So all hypotheses of a run must agree on everything but their arms and
predictions. What is not as it must be is refused, with the file and with what to write there.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from workbench import plugins
from workbench.conduct import feasible
from workbench.conduct.knobs import Knobs, part_of
from workbench.conduct.plans import CONTROL, REFERENCE, TREATMENT
from workbench.errors import PluginError, UsageError, nearest
from workbench.model.campaign import CampaignSpec, EngineSpec, SymptomSpec, WorkloadSpec
from workbench.model.hypothesis import Hypothesis, Settings, Test
from workbench.model.outcome import Symptom
from workbench.model.plan import Arm, Cluster, Measurement, Part, Plan, Rules
from workbench.model.prediction import Prediction
from workbench.model.start import Exposure
from workbench.model.verdict import Comparison
from workbench.ports import Classifier, Launch
from workbench.store.layout import CAMPAIGN_FILE as CAMPAIGN

TIMEOUT = "timeout"  # option of a workload: seconds after which an exchange counts as timed out
COMMAND = "command"  # the lifecycle, and the workload that every campaign with one has
ASKED = ("seed", "max_blocks", "in_flight", "sessions", "engine", "workload", "budget", "keep_texts")
_TRIAL_BLOCKS, _START_BLOCKS = 60, 12  # blocks at most, where each trial is a start, and where not
_EXAMPLES = {
    "prediction": "prediction: {control: 0.4, treatment: 0}",
    "test": 'test: {control: {mode: "on"}, treatment: {mode: "off"}}',
}
_One = TypeVar("_One")


def plan_tests(spec: CampaignSpec, hypotheses: Sequence[Hypothesis], asked: Mapping[str, Any]) -> Plan:
    """Plan one run that serves these hypotheses, one comparison each, in their order.

    Args:
        spec: The campaign.
        hypotheses: At least one.
        asked: What a person asked for beside the files: `seed` (else the workload's, else a fresh
            one), `max_blocks`, `in_flight`, `sessions`, `engine`, `workload`, `keep_texts`, and
            `budget` in seconds.

    Raises:
        UsageError: A hypothesis cannot be run, they cannot share a run, or a name is unknown; says
            which file, what is missing, and an example.
        PluginError: The campaign names a plug-in that is unknown or refuses its options.
    """
    _check_asked(asked)
    tests = {each.id: _runnable(each) for each in hypotheses}
    if not tests:
        raise UsageError("no hypothesis to test", hint="name one, such as H1")
    engine = _engine(spec, _agreed("engine", hypotheses, lambda each: tests[each.id].engine), asked)
    workload = _workload(
        spec, engine, _agreed("workload", hypotheses, lambda each: tests[each.id].workload), asked
    )
    symptom = _symptom(spec, _agreed("symptom", hypotheses, lambda each: each.symptom))
    classifier = symptom.classifier or Part(kind="exit_code")
    arms, pairs = _arms(hypotheses, tests)
    comparisons = tuple(
        Comparison(
            control=pairs[each.id][0],
            treatment=pairs[each.id][1],
            prediction=each.prediction or Prediction(),
            hypothesis=each.id,
            exposure=tuple(_exposure(written) for written in tests[each.id].exposure),
        )
        for each in hypotheses
    )
    margin = _agreed("margin", hypotheses, lambda each: tests[each.id].margin)
    rules = _rules(spec, engine, workload, symptom, margin, asked)
    return Plan(
        arms=arms,
        comparisons=comparisons,
        measurement=_measurement(comparisons, hypotheses, rules),
        rules=rules,
        symptom=_as_judged(symptom, classifier),
        engine=_spoken(engine),
        workload=_patient(workload, symptom),
        classifier=classifier,
        in_flight=_positive("in_flight", asked.get("in_flight", workload.in_flight)),
        seed=_seed(workload, asked),
        keep_texts=asked.get("keep_texts", workload.keep_texts),
        knobs=_knobs(spec, engine, workload, arms),
        budget=asked.get("budget"),
    )


def served_by(spec: CampaignSpec, hypothesis: Hypothesis, asked: Mapping[str, Any]) -> tuple[str, str]:
    """Name the workload and the engine that a hypothesis is tested with; raises UsageError for none."""
    test = _runnable(hypothesis)
    engine = _engine(spec, test.engine, asked)
    return _workload(spec, engine, test.workload, asked).name, engine.name


def _check_asked(asked: Mapping[str, Any]) -> None:
    unknown = sorted(asked.keys() - set(ASKED))
    if unknown:
        raise UsageError(
            f"a test cannot be asked for {unknown[0]!r}", hint=f"known: {', '.join(ASKED)}"
        )
    budget = asked.get("budget")
    if budget is not None and not budget > 0:
        raise UsageError(f"the budget must be positive, not {budget}", hint="give it in seconds")


def _runnable(hypothesis: Hypothesis) -> Test:
    """Give the test of a hypothesis, or say what its file lacks."""
    where = f"{hypothesis.file}: {hypothesis.id}"
    if hypothesis.missing or hypothesis.test is None:
        lacks = " and ".join(hypothesis.missing)
        example = "; ".join(_EXAMPLES[name] for name in hypothesis.missing)
        raise UsageError(
            f"{where} cannot be run: it has no {lacks}", hint=f"write there, say, {example}"
        )
    test = hypothesis.test
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


def _named(what: str, name: str, known: Mapping[str, _One]) -> _One:
    if name in known:
        return known[name]
    hint = nearest(name, known) or "known: none"
    raise UsageError(f"{CAMPAIGN}: there is no {what} {name!r}", hint=hint)


def _only(what: str, known: Mapping[str, _One], example: str) -> _One:
    """Give the only one there is where none is named."""
    if len(known) == 1:
        return next(iter(known.values()))
    if known:
        raise UsageError(
            f"{CAMPAIGN}: which {what} is meant? there are {', '.join(known)}",
            hint=f"name one in the hypothesis or with --{what}",
        )
    raise UsageError(f"{CAMPAIGN}: there is no {what}", hint=f"write there, say, {example}")


def _engine(spec: CampaignSpec, named: str, asked: Mapping[str, Any]) -> EngineSpec:
    name = asked.get("engine") or named or spec.engine
    if name:
        return _named("engine", name, spec.engines)
    return _only("engine", spec.engines, "engines: {script: {lifecycle: command, argv: [./repro.sh]}}")


def _workload(
    spec: CampaignSpec, engine: EngineSpec, named: str, asked: Mapping[str, Any]
) -> WorkloadSpec:
    name = asked.get("workload") or named
    if name:
        return _named("workload", name, spec.workloads)
    if not spec.workloads and engine.lifecycle == COMMAND:  # a command is executed; what else is sent?
        return WorkloadSpec(name=COMMAND, kind=COMMAND)
    return _only("workload", spec.workloads, "workloads: {runs: {kind: command, sessions: 20}}")


def _symptom(spec: CampaignSpec, named: str) -> SymptomSpec:
    example = "symptoms: {fails: {classifier: exit_code, labels: [failed, crashed]}}"
    found = (
        _named("symptom", named, spec.symptoms) if named else _only("symptom", spec.symptoms, example)
    )
    if not found.labels and not found.endings:
        raise UsageError(
            f"{CAMPAIGN}: symptom {found.name!r} says neither which labels nor which statuses are hits",
            hint="write there, say, labels: [failed, crashed]",
        )
    return found


def _as_judged(symptom: SymptomSpec, classifier: Part) -> Symptom:
    """Give the symptom with what its classifier knows: which labels are clean, which say nothing."""
    judge: Classifier = plugins.build(plugins.Group.CLASSIFIER, classifier)
    for label in symptom.labels:
        if label not in judge.words:
            raise UsageError(
                f"{CAMPAIGN}: symptom {symptom.name!r}: {classifier.kind} gives no label {label!r}",
                hint=nearest(label, judge.words),
            )
    return Symptom(
        name=symptom.name,
        labels=symptom.labels,
        clean=tuple(word for word in judge.clean if word not in symptom.labels),
        void=tuple(word for word in judge.void if word not in symptom.labels),
        endings=symptom.endings,
    )


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


def _rules(
    spec: CampaignSpec,
    engine: EngineSpec,
    workload: WorkloadSpec,
    symptom: SymptomSpec,
    margin: float | None,
    asked: Mapping[str, Any],
) -> Rules:
    defaults = spec.defaults
    cluster, restarts = _clusters(engine)
    most = _TRIAL_BLOCKS if cluster is Cluster.TRIAL else _START_BLOCKS
    max_blocks = _positive("max_blocks", asked.get("max_blocks") or defaults.max_blocks or most)
    if max_blocks < defaults.min_blocks:
        raise UsageError(
            f"{max_blocks} blocks at most are fewer than a word needs",
            hint=f"{defaults.min_blocks} are the least, by min_blocks in {CAMPAIGN}",
        )
    return Rules(
        alpha=defaults.alpha,
        margin=defaults.margin if margin is None else margin,
        reference=symptom.reference_rate,
        min_blocks=defaults.min_blocks,
        max_blocks=max_blocks,
        block_size=_positive("sessions", asked.get("sessions", workload.sessions)),
        cluster=cluster,
        restarts=restarts,
    )


def _clusters(engine: EngineSpec) -> tuple[Cluster, bool]:
    """Say what sessions share on an engine, and whether each block has starts of its own."""
    kind = plugins.engine_type(engine.lifecycle)
    stated = engine.options.get("cluster")  # an engine may say it
    cluster = Cluster(stated) if stated in set(Cluster) else kind.cluster
    return cluster, cluster is Cluster.TRIAL or kind.disturbs


def _spoken(engine: EngineSpec) -> Part:
    """Give the part of an engine, with the dialect in which it is spoken to."""
    named = {plugins.DIALECT: engine.dialect} if engine.dialect else {}
    return Part(kind=engine.lifecycle, options={**engine.options, **named})


def _patient(workload: WorkloadSpec, symptom: SymptomSpec) -> Part:
    """Give the part of a workload that waits as long as the symptom says, where it says so."""
    options = dict(workload.options)
    if symptom.after is not None and TIMEOUT in plugins.option_names(
        plugins.Group.WORKLOAD, workload.kind
    ):
        options[TIMEOUT] = symptom.after
    return Part(kind=workload.kind, options=options)


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


def _knobs(
    spec: CampaignSpec, engine: EngineSpec, workload: WorkloadSpec, arms: Sequence[Arm]
) -> dict[str, Part]:
    """Give the knobs that the arms set, each tried out at the levels that they set it to."""
    names = dict.fromkeys(name for arm in arms for name in arm.settings)
    parts = {name: part_of(_named("knob", name, spec.knobs), engine.name) for name in names}
    launch = Launch(argv=tuple(engine.options.get("argv", ())))
    try:
        knobs = Knobs(parts)
        for arm in arms:
            for component in _components(parts):
                knobs.apply(arm, launch, component)
            feasible.check(knobs, arm, engine, workload)
    except (PluginError, ValueError) as error:
        raise UsageError(f"{CAMPAIGN}: {error}") from error
    return parts


def _components(parts: Mapping[str, Part]) -> set[str]:
    return {name for part in parts.values() for name in part.options.get("components", ())} | {""}


def _seed(workload: WorkloadSpec, asked: Mapping[str, Any]) -> int:
    stated = asked.get("seed", workload.seed)
    return secrets.randbits(31) if stated is None else int(stated)


def _positive(name: str, value: Any) -> int:
    if not isinstance(value, int) or value < 1:
        raise UsageError(f"{name} must be a number from 1 on, not {value!r}")
    return value
