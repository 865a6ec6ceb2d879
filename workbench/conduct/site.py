"""What a run takes from its campaign whatever it is for: engine, workload, symptom, rules, knobs.

A name may be left out where there is one that it can mean. What is not as it must be is refused, with
what to write in the campaign's file.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from workbench import plugins
from workbench.conduct import feasible
from workbench.conduct.knobs import Knobs, part_of
from workbench.errors import PluginError, UsageError, nearest
from workbench.model.campaign import CampaignSpec, EngineSpec, SymptomSpec, WorkloadSpec
from workbench.model.plan import Arm, Cluster, Part, Rules
from workbench.ports import Launch
from workbench.store.layout import CAMPAIGN_FILE as CAMPAIGN

TIMEOUT = "timeout"  # option of a workload: seconds after which an exchange counts as timed out
COMMAND = "command"  # the lifecycle, and the workload that every campaign with one has
_TRIAL_BLOCKS, _START_BLOCKS = 60, 12  # blocks at most, where each trial is a start, and where not
_One = TypeVar("_One")


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


def engine_of(spec: CampaignSpec, named: str, asked: Mapping[str, Any]) -> EngineSpec:
    """Give the engine that is asked for, or named, or the campaign's."""
    name = asked.get("engine") or named or spec.engine
    if name:
        return _named("engine", name, spec.engines)
    return _only("engine", spec.engines, "engines: {script: {lifecycle: command, argv: [./repro.sh]}}")


def workload_of(
    spec: CampaignSpec, engine: EngineSpec, named: str, asked: Mapping[str, Any]
) -> WorkloadSpec:
    """Give the workload that is asked for, or named, or the only one."""
    name = asked.get("workload") or named
    if name:
        return _named("workload", name, spec.workloads)
    if not spec.workloads and engine.lifecycle == COMMAND:  # a command is executed; what else is sent?
        return WorkloadSpec(name=COMMAND, kind=COMMAND)
    return _only("workload", spec.workloads, "workloads: {runs: {kind: command, sessions: 20}}")


def symptom_of(spec: CampaignSpec, named: str) -> SymptomSpec:
    """Give the symptom that is named, or the only one."""
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


def rules_of(
    spec: CampaignSpec,
    engine: EngineSpec,
    workload: WorkloadSpec,
    symptom: SymptomSpec,
    margin: float | None,
    asked: Mapping[str, Any],
) -> Rules:
    """Give what the verdicts depend on."""
    defaults = spec.defaults
    cluster, restarts = _clusters(engine)
    most = _TRIAL_BLOCKS if cluster is Cluster.TRIAL else _START_BLOCKS
    max_blocks = positive("max_blocks", asked.get("max_blocks") or defaults.max_blocks or most)
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
        block_size=positive("sessions", asked.get("sessions", workload.sessions)),
        cluster=cluster,
        restarts=restarts,
    )


def _clusters(engine: EngineSpec) -> tuple[Cluster, bool]:
    """Say what sessions share on an engine, and whether each block has starts of its own."""
    kind = plugins.engine_type(engine.lifecycle)
    stated = engine.options.get("cluster")  # an engine may say it
    cluster = Cluster(stated) if stated in set(Cluster) else kind.cluster
    return cluster, cluster is Cluster.TRIAL or kind.disturbs


def spoken(engine: EngineSpec) -> Part:
    """Give the part of an engine, with the dialect in which it is spoken to."""
    named = {plugins.DIALECT: engine.dialect} if engine.dialect else {}
    return Part(kind=engine.lifecycle, options={**engine.options, **named})


def patient(workload: WorkloadSpec, symptom: SymptomSpec) -> Part:
    """Give the part of a workload that waits as long as the symptom says, where it says so."""
    options = dict(workload.options)
    if symptom.after is not None and TIMEOUT in plugins.option_names(
        plugins.Group.WORKLOAD, workload.kind
    ):
        options[TIMEOUT] = symptom.after
    return Part(kind=workload.kind, options=options)


def knobs_of(
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


def seed_of(workload: WorkloadSpec, asked: Mapping[str, Any]) -> int:
    """Give the seed asked for, or the workload's, or a fresh one."""
    stated = asked.get("seed", workload.seed)
    return secrets.randbits(31) if stated is None else int(stated)


def positive(name: str, value: Any) -> int:
    """Give a number from 1 on, or refuse it by its name."""
    if not isinstance(value, int) or value < 1:
        raise UsageError(f"{name} must be a number from 1 on, not {value!r}")
    return value
