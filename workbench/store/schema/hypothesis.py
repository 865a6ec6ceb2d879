"""The shape of a hypothesis file: each class is a level of the file and gives its noun of the model."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from workbench.model.hypothesis import (
    Assumption,
    Hypothesis,
    Intervention,
    PutBack,
    Test,
)
from workbench.model.intervention import setting_name
from workbench.model.prediction import Prediction
from workbench.store.schema.fields import (
    HypothesisId,
    Level,
    Line,
    Name,
    Prose,
    Rate,
    Ref,
    Settings,
    Shape,
    refusal,
)


class PredictionShape(Shape):
    """`prediction`."""

    control: float | None = None
    treatment: float | None = None
    removes: bool | None = None

    @model_validator(mode="after")
    def _claims(self) -> Self:
        if self.treatment is None and not self.removes:
            raise refusal("says nothing of the treatment", "add `treatment: RATE` or `removes: true`")
        try:
            Prediction(control=self.control)
        except ValueError as error:
            raise refusal(f"is impossible: {error}", at=["control"]) from error
        try:
            self.noun()
        except ValueError as error:
            raise refusal(f"is impossible: {error}", at=["treatment"]) from error
        return self

    def noun(self) -> Prediction:
        """Give the prediction; a treatment of 0 removes, unless the file says that it does not."""
        removes = self.removes if self.removes is not None else self.treatment == 0
        treatment = 0.0 if removes and self.treatment is None else self.treatment
        return Prediction(control=self.control, treatment=treatment, removes=removes)


class ExposureShape(Shape):
    """One of `exposure`: what is looked at, and how much of it is enough."""

    metric: Line | None = None
    log: Line | None = None
    component: Name | None = None
    at_least: float | None = None
    at_most: float | None = None
    where: Literal["control", "treatment", "both"] | None = Field(None, alias="in")

    @model_validator(mode="after")
    def _looks_somewhere(self) -> Self:
        if (self.metric is None) == (self.log is None):
            raise refusal("looks at nothing, or at two things", "name one of metric and log")
        if self.at_least is None and self.at_most is None:
            raise refusal("is met by anything", "add at_least or at_most")
        return self

    def noun(self) -> dict[str, Any]:
        """Give the exposure as it is written."""
        return self.model_dump(by_alias=True, exclude_none=True)


class PutBackShape(Shape):
    """`put_back`."""

    control: Settings
    treatment: Settings


class TestShape(Shape):
    """`test`."""

    control: Settings
    treatment: Settings
    workload: Name = ""
    engine: Name = ""
    put_back: PutBackShape | None = None
    exposure: list[ExposureShape] = Field(default_factory=list)
    why_many: Prose = ""
    margin: Rate | None = None

    def noun(self) -> Test:
        """Give the test."""
        back = self.put_back
        return Test(
            control=self.control,
            treatment=self.treatment,
            workload=self.workload,
            engine=self.engine,
            put_back=PutBack(control=back.control, treatment=back.treatment) if back else None,
            exposure=tuple(each.noun() for each in self.exposure),
            why_many=self.why_many.strip(),
            margin=self.margin,
        )


class AssumptionShape(Shape):
    """One of `assumptions`."""

    id: Name
    text: Line
    check: dict[str, Any] = Field(default_factory=dict)

    def noun(self) -> Assumption:
        """Give the assumption."""
        return Assumption(id=self.id, text=self.text, check=self.check)


class InterventionShape(Shape):
    """One of `interventions`."""

    commit: Ref | None = None
    setting: Annotated[dict[Name, Level], Field(min_length=1)] | None = None
    kind: Literal["fix", "mitigation", "instrument", "revert"]

    @model_validator(mode="after")
    def _changes_one_thing(self) -> Self:
        if (self.commit is None) == (self.setting is None):
            raise refusal("names no one change", "give `commit`, or the `setting` that was changed")
        return self

    def noun(self) -> Intervention:
        """Give the intervention."""
        name = self.commit or setting_name(self.setting or {})
        return Intervention(commit=name, kind=self.kind)


class HypothesisShape(Shape):
    """A hypothesis file."""

    version: Literal["workbench/hypothesis@1"] = Field(default="workbench/hypothesis@1", alias="schema")
    id: HypothesisId
    title: Line
    parent: HypothesisId = ""
    also: list[HypothesisId] = Field(default_factory=list)
    symptom: Name = ""
    statement: Prose = ""
    component: Line = ""
    fails_when: dict[Name, Level] = Field(default_factory=dict)
    prediction: PredictionShape | None = None
    test: TestShape | None = None
    falsified_by: Prose = ""
    assumptions: list[AssumptionShape] = Field(default_factory=list)
    interventions: list[InterventionShape] = Field(default_factory=list)

    def noun(self, file: str) -> Hypothesis:
        """Give the hypothesis that stands in `file`."""
        return Hypothesis(
            id=self.id,
            title=self.title,
            file=file,
            parent=self.parent,
            also=tuple(self.also),
            symptom=self.symptom,
            statement=self.statement.strip(),
            component=self.component,
            fails_when=self.fails_when,
            prediction=self.prediction.noun() if self.prediction else None,
            test=self.test.noun() if self.test else None,
            falsified_by=self.falsified_by.strip(),
            assumptions=tuple(each.noun() for each in self.assumptions),
            interventions=tuple(each.noun() for each in self.interventions),
        )
