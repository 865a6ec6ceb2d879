"""Runs that remove a cause and put it back, for tests of what they confirm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from tests.judge.events import AT, verdict
from workbench.model.event import ArmResult, Circumstances, Exposed, VerdictGiven
from workbench.model.outcome import Counts
from workbench.model.verdict import Held, Verdict

BROKEN = {"build": "broken", "cache": "on"}
FIXED = {"build": "fixed", "cache": "on"}
AGAIN = {"build": "fixed-plus-cause", "cache": "on"}
FULL = Exposed(what="metric pages_total", control=True, treatment=True)


def arms(control: Mapping[str, str], treatment: Mapping[str, str]) -> dict[str, ArmResult]:
    """Give both arms of a verdict with these settings."""
    return {
        "control": ArmResult(settings=control, counts=Counts(24, 36), interval=(0.2, 0.6)),
        "treatment": ArmResult(settings=treatment, counts=Counts(0, 60), interval=(0.0, 0.1)),
    }


def removal(word: Verdict = Verdict.PRESENT, hour: int = 1, **changes: Any) -> VerdictGiven:
    """Give the verdict of a run that removes the cause, planned at an hour and over within it."""
    return _run(word, hour, arms(BROKEN, FIXED), put_back=False, **changes)


def back(word: Verdict = Verdict.PRESENT, hour: int = 3, **changes: Any) -> VerdictGiven:
    """Give the verdict of a run that puts it back."""
    return _run(word, hour, arms(AGAIN, FIXED), put_back=True, **changes)


def _run(
    word: Verdict, hour: int, results: Mapping[str, ArmResult], *, put_back: bool, **changes: Any
) -> VerdictGiven:
    planned = AT + timedelta(hours=hour)
    came_about = Circumstances(
        put_back=put_back,
        planned=planned,
        began=planned + timedelta(seconds=1),
        ended=planned + timedelta(minutes=30),
        reset="a new process",
        exposed=(FULL,),
    )
    told = {name: changes.pop(name) for name in list(changes) if name in _CIRCUMSTANCES}
    plain = replace(
        verdict(word, run=f"{'back' if put_back else 'away'}{hour}"),
        prediction=Held.HELD,
        arms=results,
        symptom="garbled",
        workload="agents",
        engine="local",
        circumstances=replace(came_about, **told),
    )
    return replace(plain, **changes)


_CIRCUMSTANCES = set(Circumstances.__dataclass_fields__)
