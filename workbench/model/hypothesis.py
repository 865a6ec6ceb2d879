"""A hypothesis as its file states it: a claimed cause, its prediction, and the test that can fell it.

People and agents write these files and the workbench never rewrites them. What became of a hypothesis
stands in the event log, and its state is derived from that (`judge.states`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.model.prediction import Prediction

HYPOTHESIS_SCHEMA = "workbench/hypothesis@1"
HYPOTHESIS_ID = re.compile(r"^H[1-9][0-9]{0,8}$")
Settings = Mapping[str, str]  # knob to level


def number(hypothesis: str) -> int:
    """Give the number of a hypothesis id, by which lists are ordered."""
    return int(hypothesis[1:])


def levels_of(condition: str) -> tuple[str, ...]:
    """Give the levels that meet a condition of `fails_when` on a knob: `broken`, or `broken|older`."""
    return tuple(condition.split("|"))


def differing(control: Settings, treatment: Settings) -> tuple[str, ...]:
    """Name the knobs in which two arms differ, in the order in which they were written."""
    knobs = {**control, **treatment}
    return tuple([knob for knob in knobs if control.get(knob) != treatment.get(knob)])


@dataclass(frozen=True, kw_only=True, slots=True)
class PutBack:
    """The cause put back into the fixed system: control has it again, treatment has not."""

    control: Settings
    treatment: Settings


@dataclass(frozen=True, kw_only=True, slots=True)
class Test:
    """The A/B that a hypothesis stands or falls by.

    Attributes:
        control: Settings predicted to show the symptom: the suspect as found.
        treatment: Settings with the suspect removed or fixed.
        workload: Name of the workload; empty for the campaign's only one.
        engine: Name of the engine; empty for the campaign's.
        put_back: Settings of the put-back run.
        exposure: What proves that the suspect's path was exercised, as written.
        why_many: Why more than one knob differs; empty when only one does.
        margin: An absolute risk difference, None for the campaign's default.
    """

    __test__ = False  # it is no test of ours, whatever a test runner thinks of the name

    control: Settings
    treatment: Settings
    workload: str = ""
    engine: str = ""
    put_back: PutBack | None = None
    exposure: tuple[Mapping[str, Any], ...] = ()
    why_many: str = ""
    margin: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Assumption:
    """An unverified claim that others rest on, with its check."""

    id: str
    text: str
    check: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Intervention:
    """A change made because of a hypothesis: kind is fix, mitigation, instrument or revert.

    It is a commit, by any name of it, or a change of settings (`model.intervention.setting_name`).
    """

    commit: str
    kind: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Hypothesis:
    """A suspect.

    Attributes:
        id: `H` and a number.
        title: The suspect in one line; alone it makes a valid hypothesis.
        file: Path of its file, relative to the campaign's folder.
        parent: Hypothesis that it hangs under in the tree; empty at the top.
        also: Further parents.
        symptom: The primary symptom; empty for the campaign's only one.
        statement: The mechanism in a few sentences.
        component: Where in the system.
        fails_when: Knob to the condition under which it says the symptom shows; an AND. A condition
            on a knob is a level, or several of which any will do: `broken|older`.
        prediction: What a test is claimed to show, None while not runnable.
        test: The A/B, None while not runnable.
        falsified_by: What would speak against it, in words.
        assumptions: What it rests on.
        interventions: Changes made because of it.
    """

    id: str
    title: str
    file: str
    parent: str = ""
    also: tuple[str, ...] = ()
    symptom: str = ""
    statement: str = ""
    component: str = ""
    fails_when: Mapping[str, str] = field(default_factory=dict)
    prediction: Prediction | None = None
    test: Test | None = None
    falsified_by: str = ""
    assumptions: tuple[Assumption, ...] = ()
    interventions: tuple[Intervention, ...] = ()

    @property
    def missing(self) -> tuple[str, ...]:
        """What it lacks to be run, by the names of the fields."""
        fields = (("prediction", self.prediction), ("test", self.test))
        return tuple(name for name, value in fields if value is None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """Something wrong in a file, where it stands and what to do about it.

    Attributes:
        file: Path as a person would type it, relative to the campaign's folder.
        line: From 1.
        column: From 1.
        what: What is wrong, one line.
        hint: What to do about it; may be empty.
    """

    file: str
    line: int
    column: int
    what: str
    hint: str = ""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}:{self.column}: {self.what}"
        return f"{where}; {self.hint}" if self.hint else where
