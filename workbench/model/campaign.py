"""A campaign as its file states it: what is watched, what is run, what can be turned, what must stay.

Everything here is as a person wrote it, checked for form and for references, and not yet acted upon.
Plug-in options stay mappings until the plug-in itself is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.model.outcome import Ending
from workbench.model.plan import Part

CAMPAIGN_SCHEMA = "workbench/campaign@1"


@dataclass(frozen=True, kw_only=True, slots=True)
class SymptomSpec:
    """An observable failure class of the campaign. Symptoms are never pooled.

    Attributes:
        name: Its name, such as `garbled`.
        title: What it looks like, for people.
        classifier: What labels exchanges, None for a symptom that only its endings define.
        labels: Labels that are hits.
        endings: Endings that are hits (`statuses` in the file).
        after: Seconds after which an exchange counts as timed out, None for the workload's own.
        reference_rate: Known rate per session, None when nobody has measured it.
    """

    name: str
    title: str = ""
    classifier: Part | None = None
    labels: tuple[str, ...] = ()
    endings: tuple[Ending, ...] = ()
    after: float | None = None
    reference_rate: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineSpec:
    """A system under test and how it is brought up.

    Attributes:
        name: Its name in the campaign.
        lifecycle: How it is started and stopped: the plug-in that does it.
        dialect: How it is spoken to, empty for a command.
        protected: It is never stopped, restarted or edited without leave.
        allow_foreign: Others may use it meanwhile without making a run invalid.
        options: Everything else, for the plug-in.
    """

    name: str
    lifecycle: str
    dialect: str = ""
    protected: bool = False
    allow_foreign: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkloadSpec:
    """What is sent.

    Attributes:
        name: Its name in the campaign.
        kind: The plug-in that sends it.
        sessions: Sessions per arm and block.
        in_flight: Sessions at the same time.
        seed: Fixes what is sent, None to draw one for each run.
        keep_texts: Which replies are kept: `all`, `failing` or `none`.
        options: Everything else, for the plug-in.
    """

    name: str
    kind: str
    sessions: int = 20
    in_flight: int = 1
    seed: int | None = None
    keep_texts: str = "failing"
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Knob:
    """Something settable.

    Attributes:
        name: Its name in the campaign.
        kind: The plug-in that sets it, such as `env` or `flag`.
        levels: Level to the value that it stands for.
        readback: How one knows that it took effect: kind of readback to what is looked up.
        moves: Derived keys of the configuration that change with it.
        components: Components of the engine that it applies to; empty for all.
        options: Everything else, for the plug-in (`name` of a variable, `flag`, ...).
        on: Engine to another realisation of the same knob there.
    """

    name: str
    kind: str
    levels: Mapping[str, Any]
    readback: Mapping[str, Any] = field(default_factory=dict)
    moves: tuple[str, ...] = ()
    components: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    on: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Constraint:
    """What a remedy may not break."""

    id: str
    text: str
    check: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Defaults:
    """Numbers that hold for every test of the campaign unless it says otherwise (RULES 3).

    Attributes:
        alpha: Greatest probability of a false word, each side.
        margin: An absolute risk difference, None for half of the control's rate.
        min_blocks: Blocks before a two-arm word can fall.
        max_blocks: Blocks at most; None for 60 with lifecycle `command`, else 12.
    """

    alpha: float = 0.01
    margin: float | None = None
    min_blocks: int = 2
    max_blocks: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CampaignSpec:
    """`campaign.yaml`.

    Attributes:
        title: The investigation in one line.
        symptoms: By name, in the file's order.
        repo: Git repository of the system under test, relative to the campaign's folder; or empty.
        engine: Name of the engine that tests run on unless told otherwise; empty without engines.
        engines: By name.
        workloads: By name.
        knobs: By name.
        constraints: What a remedy may not break.
        defaults: Numbers for every test.
    """

    title: str
    symptoms: Mapping[str, SymptomSpec] = field(default_factory=dict)
    repo: str = ""
    engine: str = ""
    engines: Mapping[str, EngineSpec] = field(default_factory=dict)
    workloads: Mapping[str, WorkloadSpec] = field(default_factory=dict)
    knobs: Mapping[str, Knob] = field(default_factory=dict)
    constraints: tuple[Constraint, ...] = ()
    defaults: Defaults = field(default_factory=Defaults)
