"""Tests of hypotheses with simulated plug-ins: whole campaigns in one process, no events, no files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.simulated import Gone, Stops
from workbench.campaign import testing
from workbench.cli.display import NoDisplay
from workbench.conduct.tests import plan_tests
from workbench.model.campaign import CampaignSpec, EngineSpec, Knob, SymptomSpec, WorkloadSpec
from workbench.model.event import VerdictGiven
from workbench.model.hypothesis import Hypothesis, Test
from workbench.model.plan import Part, Plan
from workbench.model.prediction import Prediction
from workbench.model.run import Served
from workbench.ports import Observer
from workbench.store import list_runs

__all__ = ["Gone", "Stops", "begin", "campaign", "go_on", "plan", "runs", "serves", "suspect"]

BLOCK = 10


def campaign(rates: Mapping[str, float], **engine: Any) -> CampaignSpec:
    """Give a campaign whose arms fail at these rates, by name of the arm."""
    options = {"cluster": "trial", **engine}
    return CampaignSpec(
        title="Sometimes it fails",
        symptoms={
            "fails": SymptomSpec(
                name="fails", classifier=Part(kind="exit_code"), labels=("failed", "crashed")
            )
        },
        engines={"sim": EngineSpec(name="sim", lifecycle="simulated", options=options)},
        workloads={
            "w": WorkloadSpec(
                name="w", kind="simulated", sessions=BLOCK, options={"rates": dict(rates)}
            )
        },
        knobs={
            "cache": Knob(
                name="cache", kind="env", levels={"on": "1", "off": None}, options={"name": "CACHE"}
            ),
            "gate": Knob(
                name="gate", kind="flag", levels={"on": True, "off": False}, options={"flag": "--gate"}
            ),
        },
    )


def suspect(id: str = "H1", predict: str = "0.3:0.1", off: str = "cache", **test: Any) -> Hypothesis:
    """Give a suspect whose treatment has one knob off."""
    control = {"cache": "on", "gate": "on"}
    return Hypothesis(
        id=id,
        title="A suspect",
        file=f"hypotheses/{id}-x.yaml",
        prediction=Prediction.parse(predict),
        test=Test(control=control, treatment={**control, off: "off"}, **test),
    )


def plan(spec: CampaignSpec, *hypotheses: Hypothesis, **asked: Any) -> Plan:
    """Plan a test of them."""
    return plan_tests(spec, hypotheses, {"seed": 1, **asked})


def serves(hypotheses: Sequence[Hypothesis], text: str = "id: H1\n") -> list[Served]:
    """Give what a run of them serves."""
    return [
        Served(
            hypothesis=each.id, file=each.file, sha256="0" * 64, text=text, workload="w", engine="sim"
        )
        for each in hypotheses
    ]


def begin(
    root: Path,
    spec: CampaignSpec,
    *hypotheses: Hypothesis,
    observer: Observer | None = None,
    **asked: Any,
) -> tuple[VerdictGiven, ...]:
    """Run a test, of H1 unless told otherwise, and give its verdicts."""
    hypotheses = hypotheses or (suspect(),)
    planned = plan(spec, *hypotheses, **asked)
    root.mkdir(exist_ok=True)
    return testing.start(root, planned, serves(hypotheses), observer or NoDisplay())[1]


def go_on(
    root: Path, run: str, observer: Observer | None = None, **asked: Any
) -> tuple[VerdictGiven, ...]:
    """Resume a run and give its verdicts."""
    return testing.resume(root, run, asked, observer or NoDisplay())[1]


def runs(root: Path) -> list[str]:
    """Give the ids of all runs, oldest first."""
    found = [each.manifest for each in list_runs(root / "runs") if each.manifest is not None]
    return [each.id for each in sorted(found, key=lambda each: (each.created, each.id))]


def same_but_for_its_run(given: VerdictGiven) -> VerdictGiven:
    """Give a verdict without what two runs of one process differ in."""
    return replace(given, run="", earlier=(), seconds=0.0, circumstances=None)
