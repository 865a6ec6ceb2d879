"""`kill -9` of the real command at random moments, then `--resume`: as if nothing had happened."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import EXAMPLES, ROOT
from workbench.conduct.schedule import session_seed
from workbench.model.ids import SessionKey
from workbench.store import RunView

SEED = 11
LOGGED = f"""#!/bin/sh
echo "$WORKBENCH_SEED" >> executed
exec {EXAMPLES}/flaky.sh "$1"
"""


class Bench:
    """A folder in which an A/B is run, killed and resumed; each execution leaves its seed in a file."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.log = home / "executed"
        script = home / "logged.sh"
        script.write_text(LOGGED)
        script.chmod(0o755)
        self.log.touch()

    def start(self, run: str, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "workbench", "ab", "-o", run, "--json", "--display", "none"]
        test = ["--control", "./logged.sh 0.17", "--treatment", "./logged.sh 0.01"]
        return subprocess.Popen(
            [*command, *test, "-j", "3", "--seed", str(SEED), *arguments],
            cwd=self.home,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def finish(self, run: str, *arguments: str) -> dict[str, Any]:
        out, err = (process := self.start(run, *arguments)).communicate(timeout=120)
        assert process.returncode == 0, err
        found = json.loads(out)
        assert isinstance(found, dict)
        return {name: value for name, value in found.items() if name not in ("seconds", "folder")}

    def kill(self, run: str, after: float, *arguments: str) -> None:
        process = self.start(run, *arguments)
        try:
            process.wait(after)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)

    def runs(self, run: str) -> list[Path]:
        """Folders of what has been begun under that name."""
        folder = self.home / run
        return [folder] if (folder / "manifest.json").exists() else []

    def sessions(self, run: str) -> list[SessionKey]:
        """Sessions that are on record, in the order in which they ended."""
        views = [RunView.read(folder) for folder in self.runs(run)]
        return [sample.exchange.key.session for view in views for sample in view.samples()]

    def journalled(self, run: str) -> list[int]:
        """Seeds of the sessions that are on record."""
        return [session_seed(SEED, session) for session in self.sessions(run)]

    def judged(self, run: str) -> set[SessionKey]:
        """Sessions of blocks; those of a measurement may have been in flight when it was complete."""
        return {session for session in self.sessions(run) if session.block}

    def executed(self) -> list[int]:
        return [int(line) for line in self.log.read_text().split()]


def check_kills(bench: Bench, moments: int) -> None:
    """Kill one run at each of so many random moments, some of them twice."""
    begun = time.monotonic()
    unbroken = bench.finish("unbroken")
    longest = time.monotonic() - begun
    draw = random.Random(5)
    for moment in range(moments):
        run = f"run{moment}"
        offset = len(bench.executed())
        bench.kill(run, draw.random() * longest)
        kept = [(len(bench.executed()), set(bench.journalled(run)))]
        if draw.random() < 0.3:
            bench.kill(run, draw.random() * longest, "--resume")
            kept.append((len(bench.executed()), set(bench.journalled(run))))
        assert bench.finish(run, "--resume") == unbroken
        for after, finished in kept:
            again = finished & set(bench.executed()[after:])
            assert not again, "a session on record was run again"
        recorded = bench.journalled(run)
        assert len(recorded) == len(set(recorded)), "a session is on record twice"
        assert set(recorded) <= set(bench.executed()[offset:]), "a session on record was never run"
        assert bench.judged(run) == bench.judged("unbroken")


def test_a_few_moments(tmp_path: Path) -> None:
    check_kills(Bench(tmp_path), 4)


@pytest.mark.quality
def test_fifty_moments(tmp_path: Path) -> None:
    check_kills(Bench(tmp_path), 50)


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_saves_says_how_to_go_on_and_leaves_nothing_running(
    tmp_path: Path, by: signal.Signals
) -> None:
    fifo = tmp_path / "up"
    os.mkfifo(fifo)
    slow = tmp_path / "slow.sh"
    slow.write_text("#!/bin/sh\necho $$ > up\nexec sleep 60\n")
    slow.chmod(0o755)
    process = subprocess.Popen(
        [sys.executable, "-m", "workbench", "measure", "-o", "run", "--", "./slow.sh"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
    )
    child = int(fifo.read_text())  # blocks until the trial runs
    process.send_signal(by)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "everything that had finished is saved" in err
    assert "--resume run" in err
    with pytest.raises(ProcessLookupError):
        os.killpg(child, 0)
    manifest = RunView.read(tmp_path / "run").manifest
    assert (manifest.state, manifest.why) == ("stopped", "interrupted")
