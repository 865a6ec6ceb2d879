"""A key that a server says back, in a reply or in an error, never reaches the disk."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.bench.load import product
from tests.drivers.serving import PATH
from tests.http.doubles import DONE, PATIENCE, delta, head, says, serving
from workbench import plugins
from workbench.campaign import running
from workbench.cli.display import NoDisplay
from workbench.conduct.clock import SystemClock
from workbench.conduct.experiment import Experiment, Parts
from workbench.conduct.knobs import Knobs
from workbench.model.plan import Part
from workbench.store import RunView

KEY = "quiet-horse-4711"  # which looks like nothing that a pattern would find
HEADER = "walking-boots-12"


def test_what_was_sent_in_secret_is_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CREDS", KEY)  # nor does the variable's name
    options = {
        "prompt": "a",
        "api_key_env": "CREDS",
        "headers": {"X-Api-Key": HEADER},
        "retries": 1,
    }
    plan = product.plan_of(Part(kind="single", options=options), 4, 1)
    plan = replace(plan, keep_texts="all")
    told = json.dumps({"error": {"message": f"{KEY} and {HEADER} are wrong"}}).encode()

    async def go() -> list[tuple[str, bytes]]:
        answers = (
            says(head(), delta(f"{KEY} {HEADER}", KEY), DONE),
            says(head("Connection: close", kind="application/json", length=len(told)), told),
            says(
                head("Retry-After: 0", "Connection: close", f"X-{KEY}: a", status="503 Busy", length=0)
            ),
            says(head(status="401 No", length=len(told)), told),
        )
        async with asyncio.timeout(PATIENCE), serving(*answers) as server:
            parts = Parts(
                engine=product.Up(server.url.removesuffix(PATH)),
                workload=plugins.build(plugins.Group.WORKLOAD, plan.workload),
                classifier=plugins.build(plugins.Group.CLASSIFIER, plan.classifier),
                knobs=Knobs({}),
            )
            with running.begin(running.planned("measure", plan), tmp_path) as run:
                await Experiment(plan, run, parts, SystemClock(), NoDisplay()).run()
            return server.requests

    requests = asyncio.run(go())
    assert all(f"Bearer {KEY}" in top for top, _ in requests)
    (folder,) = tmp_path.iterdir()
    for path in folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert KEY.encode() not in data, path
            assert HEADER.encode() not in data, path
    view = RunView.read(folder)
    assert view.manifest.plan.workload.options["api_key_env"] == "CREDS"
    samples = list(view.samples())
    assert [each.exchange.ending for each in samples][:2] == ["completed", "engine_error"]
    assert "*" * len(KEY) in samples[0].exchange.text
    assert "*" * len(KEY) in samples[1].exchange.detail
    assert samples[2].exchange.earlier
