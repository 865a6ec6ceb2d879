"""`kill -9` of a hypothesis test at random moments, then a resume: as if nothing had happened."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.campaign.hypothesis_run import SEED
from tests.conduct.test_kill import Bench, check_kills
from tests.conftest import EXAMPLES, ROOT
from workbench.conduct.schedule import session_seed
from workbench.store import list_runs
from workbench.store.view import RunView


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
        root.mkdir(exist_ok=True)
        driver = [sys.executable, "-m", "tests.campaign.hypothesis_run"]
        return subprocess.Popen(
            [*driver, str(root), str(self.home / "rate.sh"), *arguments],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def journalled(self, run: str) -> list[int]:
        views = [RunView.read(run.path) for run in list_runs(self.home / run / "runs") if run.manifest]
        samples = [sample for view in views for sample in view.samples()]
        return [session_seed(SEED, sample.exchange.key.session) for sample in samples]


def test_a_few_moments(tmp_path: Path) -> None:
    bench = CampaignBench(tmp_path)
    check_kills(bench, 4, in_flight_too=0)
    last = bench.finish("another")
    assert (last["verified"], last["earlier"]) == ([], [])


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
    assert len(said) == 1  # its word has fallen: those who come later find it decided


@pytest.mark.quality
def test_fifty_moments(tmp_path: Path) -> None:
    check_kills(CampaignBench(tmp_path), 50, in_flight_too=0)
