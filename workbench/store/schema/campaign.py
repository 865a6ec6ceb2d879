"""The shape of `campaign.yaml`: each class is a level of the file and gives its noun of the model."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from workbench.judge.readback import SOURCES
from workbench.model.campaign import (
    CampaignSpec,
    Constraint,
    Defaults,
    EngineSpec,
    Knob,
    SymptomSpec,
    WorkloadSpec,
)
from workbench.model.outcome import Ending
from workbench.model.plan import Part
from workbench.store.schema.fields import (
    Count,
    Duration,
    Level,
    Line,
    Margin,
    Name,
    Open,
    Rate,
    Shape,
    refusal,
)

BadEnding = Literal[
    "timeout",
    "engine_died",
    "refused",
    "reset",
    "truncated",
    "http_error",
    "redirected",
    "too_large",
    "malformed",
    "engine_error",
]


def _classifier(value: Any) -> Any:
    return {"kind": value} if isinstance(value, str) else value


class ClassifierShape(Open):
    """A classifier and its options; its name alone will do."""

    kind: Name


class SymptomShape(Shape):
    """One of `symptoms`."""

    title: Line = ""
    classifier: Annotated[
        ClassifierShape | None,
        BeforeValidator(_classifier),
        WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object", "required": ["kind"]}]}),
    ] = None
    labels: list[Name] = Field(default_factory=list)
    statuses: list[BadEnding] = Field(default_factory=list)
    after: Duration | None = None
    reference_rate: Rate | None = None

    @model_validator(mode="after")
    def _can_be_hit(self) -> Self:
        if not self.labels and not self.statuses:
            raise refusal(
                "can never be hit", "name labels of a classifier, or statuses such as timeout"
            )
        if self.labels and self.classifier is None:
            raise refusal("has labels and nothing that gives them", "add a classifier", ["labels"])
        return self

    def noun(self, name: str) -> SymptomSpec:
        """Give the symptom."""
        found = self.classifier
        return SymptomSpec(
            name=name,
            title=self.title,
            classifier=Part(kind=found.kind, options=found.options) if found else None,
            labels=tuple(self.labels),
            endings=tuple(Ending(each) for each in self.statuses),
            after=self.after,
            reference_rate=self.reference_rate,
        )


class EngineShape(Open):
    """One of `engines`."""

    lifecycle: Name
    dialect: Name = ""
    protected: bool = False
    allow_foreign: bool = False

    def noun(self, name: str) -> EngineSpec:
        """Give the engine."""
        return EngineSpec(
            name=name,
            lifecycle=self.lifecycle,
            dialect=self.dialect,
            protected=self.protected,
            allow_foreign=self.allow_foreign,
            options=self.options,
        )


class WorkloadShape(Open):
    """One of `workloads`."""

    kind: Name
    sessions: Count = 20
    in_flight: Count = 1
    seed: Annotated[int, Field(ge=0)] | None = None
    keep_texts: Literal["all", "failing", "none"] = "failing"

    def noun(self, name: str) -> WorkloadSpec:
        """Give the workload."""
        return WorkloadSpec(
            name=name,
            kind=self.kind,
            sessions=self.sessions,
            in_flight=self.in_flight,
            seed=self.seed,
            keep_texts=self.keep_texts,
            options=self.options,
        )


class ReadbackShape(Shape):
    """`readback` of a knob: one place to look, and what is due there."""

    server_info: Line | None = None
    environ: Line | None = None
    cmdline: Line | None = None
    log: Line | None = None
    command: Annotated[list[Line], Field(min_length=1)] | None = None
    file: Line | None = None
    checkout: Line | None = None
    expect: dict[Level, Any] | None = None
    at_least: dict[Level, float] | None = None
    at_most: dict[Level, float] | None = None

    @model_validator(mode="after")
    def _looks_in_one_place(self) -> Self:
        named = [source for source in SOURCES if getattr(self, source) is not None]
        if len(named) != 1:
            what = f"names {' and '.join(named)}" if named else "looks nowhere"
            raise refusal(what, f"name one of {', '.join(SOURCES)}", named[1:2])
        if self.log is not None:
            try:
                re.compile(self.log)
            except re.error as error:
                raise refusal(f"is no regular expression: {error}", "mend it", ["log"]) from error
        return self

    def noun(self) -> dict[str, Any]:
        """Give the readback as it is written."""
        return self.model_dump(exclude_none=True)


class RealisationShape(Open):
    """Another realisation of a knob, on one engine."""

    kind: Name
    levels: Annotated[dict[Level, Any], Field(min_length=1)] | None = None
    readback: ReadbackShape | None = None
    moves: list[Line] | None = None
    components: list[Name] | None = None

    def noun(self) -> dict[str, Any]:
        """Give the realisation as it is written."""
        return self.model_dump(exclude_none=True) | self.options


class KnobShape(Open):
    """One of `knobs`."""

    kind: Name
    levels: Annotated[dict[Level, Any], Field(min_length=1)]
    readback: ReadbackShape | None = None
    moves: list[Line] = Field(default_factory=list)
    components: list[Name] = Field(default_factory=list)
    on: dict[Name, RealisationShape] = Field(default_factory=dict)

    def noun(self, name: str) -> Knob:
        """Give the knob."""
        return Knob(
            name=name,
            kind=self.kind,
            levels=self.levels,
            readback=self.readback.noun() if self.readback else {},
            moves=tuple(self.moves),
            components=tuple(self.components),
            options=self.options,
            on={engine: each.noun() for engine, each in self.on.items()},
        )


class ConstraintShape(Shape):
    """One of `constraints`."""

    id: Name
    text: Line
    check: dict[str, Any] = Field(default_factory=dict)

    def noun(self) -> Constraint:
        """Give the constraint."""
        return Constraint(id=self.id, text=self.text, check=self.check)


class DefaultsShape(Shape):
    """`defaults`."""

    alpha: Annotated[float, Field(gt=0, lt=0.5)] = 0.01
    margin: Margin = None
    min_blocks: Count = 2
    max_blocks: Count | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.max_blocks is not None and self.max_blocks < self.min_blocks:
            raise refusal("is less than min_blocks", "raise it", ["max_blocks"])
        return self

    def noun(self) -> Defaults:
        """Give the defaults."""
        return Defaults(**self.model_dump())


class CampaignShape(Shape):
    """`campaign.yaml`."""

    version: Literal["workbench/campaign@1"] = Field(default="workbench/campaign@1", alias="schema")
    title: Line
    symptoms: dict[Name, SymptomShape] = Field(default_factory=dict)
    repo: Line = ""
    engine: Name = ""
    engines: dict[Name, EngineShape] = Field(default_factory=dict)
    workloads: dict[Name, WorkloadShape] = Field(default_factory=dict)
    knobs: dict[Name, KnobShape] = Field(default_factory=dict)
    constraints: list[ConstraintShape] = Field(default_factory=list)
    defaults: DefaultsShape = DefaultsShape()

    def noun(self) -> CampaignSpec:
        """Give the campaign."""
        return CampaignSpec(
            title=self.title,
            symptoms={name: each.noun(name) for name, each in self.symptoms.items()},
            repo=self.repo,
            engine=self.engine,
            engines={name: each.noun(name) for name, each in self.engines.items()},
            workloads={name: each.noun(name) for name, each in self.workloads.items()},
            knobs={name: each.noun(name) for name, each in self.knobs.items()},
            constraints=tuple(each.noun() for each in self.constraints),
            defaults=self.defaults.noun(),
        )
