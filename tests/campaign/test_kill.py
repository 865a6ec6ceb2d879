"""`kill -9` of a hypothesis test at random moments, then a resume: as if nothing had happened."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conduct.test_kill import SEED, Bench, check_kills
from tests.conftest import EXAMPLES, ROOT
from workbench.store import list_runs
from workbench.store.eventlog import EventLog

CAMPAIGN = """schema: workbench/campaign@1
title: Sometimes it fails
symptoms: {fails: {classifier: exit_code, labels: [failed, crashed]}}
engines: {script: {lifecycle: command, argv: [SCRIPT]}}
workloads: {trials: {kind: command, sessions: 10, in_flight: 3}}
knobs: {rate: {kind: env, name: RATE, levels: {high: "0.3", low: "0.12"}}}
"""
HYPOTHESIS = """schema: workbench/hypothesis@1
id: H1
title: The rate
prediction: {control: 0.3, treatment: 0.1}
test: {control: {rate: high}, treatment: {rate: low}}
"""


class CampaignBench(Bench):
    """A folder of campaigns of one script; each execution leaves its seed in a file beside them."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        script = self.home / "rate.sh"
        logged = f'echo "$WORKBENCH_SEED" >> {self.log}'
        script.write_text(f'#!/bin/sh\n{logged}\nexec {EXAMPLES}/flaky.sh "$RATE"\n')
        script.chmod(0o755)

    def start(self, run: str, *arguments: str) -> subprocess.Popen[str]:
        root = self.home / run
        (root / "hypotheses").mkdir(parents=True, exist_ok=True)
        (root / "campaign.yaml").write_text(CAMPAIGN.replace("SCRIPT", str(self.home / "rate.sh")))
        (root / "hypotheses" / "H01-the-rate.yaml").write_text(HYPOTHESIS)
        what = ["H1", "--seed", str(SEED)]
        begun = [path.name for path in self.runs(run)]
        if (
            "--resume" in arguments and begun
        ):  # a run that was killed before its plan was on record is begun
            what = ["--resume", begun[0]]
        return subprocess.Popen(
            [sys.executable, "-m", "workbench", "test", *what, "--json", "--display", "none"],
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(ROOT), "WORKBENCH_ACTOR": "ana"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def finish(self, run: str, *arguments: str) -> dict[str, Any]:
        found = super().finish(run, *arguments)
        del found["run"]
        return found

    def runs(self, run: str) -> list[Path]:
        listed = list_runs(self.home / run / "runs")
        return [each.path for each in listed if each.manifest is not None]

    def agrees(self, run: str) -> None:
        """Hold what is on record against what the runs say: one verdict, and the same."""
        home = self.home / run
        log = EventLog(home).read()
        assert log.problems == ()
        assert len([event for event in log.events if event.kind == "verdict"]) == 1
        done = subprocess.run(
            [sys.executable, "-m", "workbench", "verify"],
            cwd=home,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout


def test_a_few_moments(tmp_path: Path) -> None:
    bench = CampaignBench(tmp_path)
    check_kills(bench, 4)
    for moment in range(4):
        bench.agrees(f"run{moment}")


def test_many_at_once_make_one_process(tmp_path: Path) -> None:
    """Whoever comes while a run of the test is under way is refused; nobody begins beside it."""
    bench = CampaignBench(tmp_path)
    started = [bench.start("shared") for _ in range(5)]
    ended = [(*process.communicate(timeout=120), process.returncode) for process in started]
    said = [json.loads(out) for out, _, code in ended if code == 0]
    refused = [err for _, err, code in ended if code != 0]
    assert said
    assert all("is under way" in err or "decided already" in err for err in refused), refused
    seeds = bench.journalled("shared")
    assert len(seeds) == len(set(seeds))
    assert len({each["run"] for each in said}) == 1  # those who come later find its word


@pytest.mark.quality
def test_fifty_moments(tmp_path: Path) -> None:
    check_kills(CampaignBench(tmp_path), 50)
