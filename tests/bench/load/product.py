"""The product's own path under load: plan, executor, workload, classifier, journal on disk, tally.

All but the engine is what a run uses; the engine is one that is up already, at the URL that is given.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.bench.load.mock_engine import CLEAN
from workbench import plugins
from workbench.campaign import running
from workbench.cli.display import NoDisplay
from workbench.conduct.clock import SystemClock
from workbench.conduct.experiment import Experiment, Parts
from workbench.conduct.knobs import Knobs
from workbench.model.outcome import Counts, Symptom
from workbench.model.plan import Arm, Cluster, Measurement, Part, Plan, Rules
from workbench.model.run import Fingerprint
from workbench.ports import Endpoint, Engine, Turn, untouched

MESSAGES = [{"role": "user", "content": "x" * 400}]
GARBLED = {"patterns": {"garbled": rf"\A(?!\s*{re.escape(CLEAN)}\s*\Z)"}, "within": "content"}


class Up(Engine):
    """An engine that is up already."""

    cluster = Cluster.START

    def __init__(self, url: str) -> None:
        self._url = url

    async def start(self, arm: Arm, turn: Turn = untouched) -> Endpoint:
        return Endpoint(arm=arm.name, url=self._url)

    async def fingerprint(self, arm: Arm, turn: Turn = untouched) -> Fingerprint:
        return Fingerprint(arm=arm.name, config={"url": self._url})

    async def stop(self) -> None:
        pass


def workload_of(kind: str, folder: Path) -> Part:
    """Give a workload that sends one request a session, as `single` or from a file."""
    options: Mapping[str, Any] = {"model": "mock", "messages": MESSAGES}
    if kind == "replay":
        bodies = folder / "bodies.jsonl"
        bodies.write_text(f"{json.dumps({'model': 'mock', 'messages': MESSAGES})}\n")
        options = {"file": str(bodies)}
    return Part(kind=kind, options=options)


def plan_of(workload: Part, sessions: int, in_flight: int) -> Plan:
    """Plan to count so many sessions of one arm."""
    arm = Arm(name="measured", settings={})
    return Plan(
        arms=(arm,),
        comparisons=(),
        measurement=Measurement(arm=arm.name, max_trials=sessions),
        rules=Rules(),
        symptom=Symptom(name="garbled", labels=("garbled",)),
        engine=Part(kind="up"),
        workload=workload,
        classifier=Part(kind="regex", options=GARBLED),
        in_flight=in_flight,
        seed=1,
    )


async def count(kind: str, url: str, sessions: int, in_flight: int, folder: Path) -> Counts:
    """Carry such a run out; give what it counted."""
    folder.mkdir(exist_ok=True)  # noqa: ASYNC240 - nothing runs yet
    plan = plan_of(workload_of(kind, folder), sessions, in_flight)
    parts = Parts(
        engine=Up(url),
        workload=plugins.build(plugins.Group.WORKLOAD, plan.workload),
        classifier=plugins.build(plugins.Group.CLASSIFIER, plan.classifier),
        knobs=Knobs({}),
    )
    with running.begin(running.planned("measure", plan), folder / "runs") as run:
        seen = await Experiment(plan, run, parts, SystemClock(), NoDisplay()).run()
    return seen.measured


def counted(kind: str, url: str, sessions: int, in_flight: int, folder: Path) -> Counts:
    """Do the same in an event loop of its own."""
    return asyncio.run(count(kind, url, sessions, in_flight, folder))
