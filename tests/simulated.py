"""Runs with simulated plug-ins: the whole conductor and the whole store, no processes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench import plugins
from workbench.campaign import commands
from workbench.cli.display import NoDisplay
from workbench.conduct.clock import SystemClock
from workbench.conduct.experiment import Experiment, Parts
from workbench.conduct.knobs import Knobs
from workbench.conduct.plans import CompareRequest
from workbench.model.plan import Part, Plan
from workbench.model.prediction import Prediction
from workbench.model.progress import Snapshot
from workbench.ports import Observer
from workbench.store import RunFolder


def plan(
    control: float,
    treatment: float,
    predict: str | None = None,
    *,
    seed: int = 1,
    block_size: int = 20,
    max_blocks: int = 60,
    in_flight: int = 4,
    timeouts: Mapping[str, float] | None = None,
    engine: Mapping[str, Any] | None = None,
) -> Plan:
    """Plan `ab` of two commands that fail at these rates, with simulated plug-ins in their place."""
    asked = CompareRequest(
        control=f"fails {control}",
        treatment=f"fails {treatment}",
        prediction=Prediction.parse(predict) if predict else Prediction(),
        block_size=block_size,
        max_blocks=max_blocks,
        cwd="/",
        seed=seed,
        in_flight=in_flight,
    ).plan()
    rates = {"control": control, "treatment": treatment}
    options = {"rates": rates, "timeouts": dict(timeouts or {})}
    return replace(
        asked,
        engine=Part(kind="simulated", options=dict(engine or {})),
        workload=Part(kind="simulated", options=options),
    )


def parts(of: Plan) -> Parts:
    """Build the plug-ins of a plan."""
    return Parts(
        engine=plugins.build(plugins.Group.ENGINE, of.engine),
        workload=plugins.build(plugins.Group.WORKLOAD, of.workload),
        classifier=plugins.build(plugins.Group.CLASSIFIER, of.classifier),
        knobs=Knobs(of.knobs),
    )


def run(of: Plan, path: Path, observer: Observer | None = None) -> Snapshot:
    """Run a plan in a new folder at `path`."""
    return go_on(of, commands.begin("ab", of, path), observer)


def go_on(of: Plan, folder: RunFolder, observer: Observer | None = None) -> Snapshot:
    """Run what is left of a plan in a folder that is open for writing."""
    experiment = Experiment(of, folder, parts(of), SystemClock(), observer or NoDisplay())
    with folder:
        return asyncio.run(experiment.run())


class Gone(Exception):
    """The process is gone: nothing above may tidy up after it."""


class Stops(NoDisplay):
    """An observer that ends the run after so many sessions, as a crash of the process would."""

    def __init__(self, after: int) -> None:
        self._left = after

    def ticked(self, look: Callable[[], Snapshot]) -> None:
        """Count a session."""
        self._left -= 1
        if not self._left:
            raise Gone
