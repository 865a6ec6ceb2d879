"""Tests one hypothesis in a folder of its own, to be killed: `ROOT SCRIPT [--resume]`."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from workbench.campaign import testing
from workbench.cli.display import NoDisplay
from workbench.conduct.tests import plan_tests
from workbench.model.campaign import CampaignSpec, EngineSpec, Knob, SymptomSpec, WorkloadSpec
from workbench.model.hypothesis import Hypothesis, Test
from workbench.model.plan import Part
from workbench.model.prediction import Prediction
from workbench.model.run import Served
from workbench.store import list_runs

SEED = 11


def campaign(script: str) -> CampaignSpec:
    """Give the campaign of one script, which fails at the rate that its argument says."""
    fails = SymptomSpec(name="fails", classifier=Part(kind="exit_code"), labels=("failed", "crashed"))
    return CampaignSpec(
        title="Sometimes it fails",
        symptoms={"fails": fails},
        engines={"script": EngineSpec(name="script", lifecycle="command", options={"argv": [script]})},
        workloads={"w": WorkloadSpec(name="w", kind="command", sessions=10, in_flight=3)},
        knobs={
            "rate": Knob(
                name="rate", kind="env", levels={"high": "0.3", "low": "0.12"}, options={"name": "RATE"}
            )
        },
    )


def main(root: Path, script: str, *, resume: bool) -> None:
    """Begin the test, or go on with the run that is there; print its verdict."""
    suspect = Hypothesis(
        id="H1",
        title="The rate",
        file="hypotheses/H01-rate.yaml",
        prediction=Prediction(control=0.3, treatment=0.1),
        test=Test(control={"rate": "high"}, treatment={"rate": "low"}),
    )
    served = Served(hypothesis="H1", file=suspect.file, sha256="0" * 64, text="id: H1\n")
    there = [run.path.name for run in list_runs(root / "runs") if run.manifest is not None]
    if resume and there:
        _, (given,) = testing.resume(root, there[0], {}, NoDisplay())
    else:
        plan = plan_tests(campaign(script), [suspect], {"seed": SEED})
        _, (given,) = testing.start(root, plan, [served], NoDisplay())
    verified = testing.verify(root, given.run, [given])
    record = msgspec.to_builtins(given) | {"run": "", "seconds": 0, "verified": verified}
    sys.stdout.write(msgspec.json.encode(record).decode())


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], resume="--resume" in sys.argv)
