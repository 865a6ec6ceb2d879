"""A writer killed at random instants, again and again on one run: what it acknowledged is there."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.store.examples import manifest, sample
from workbench.errors import LockHeld
from workbench.model.run import RunState
from workbench.store import RunFolder, RunView, is_alive

ROOT = Path(__file__).parents[2]


def writer(path: Path, first: int, count: int = 1_000_000, size: int = 700) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-m", "tests.store.writer", str(path), str(first), str(count), str(size)]
    process = subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def kill_after(process: subprocess.Popen[bytes], acknowledgements: int) -> int:
    """Read so many acknowledgements, kill the process wherever it is by then, and give the last one."""
    assert process.stdout is not None
    for _ in range(acknowledgements):
        process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    rest = process.stdout.read().decode().split("\n")
    process.stdout.close()
    process.wait()
    whole = [line for line in rest[:-1] if line]
    return int(whole[-1]) if whole else -1


@pytest.mark.parametrize("size", [700, 60_000, 300_000])
def test_a_killed_writer_loses_nothing_that_it_acknowledged(tmp_path: Path, size: int) -> None:
    dice = random.Random(size)
    with RunFolder.create(tmp_path, manifest()) as folder:
        path = folder.path
    first, acknowledged = 0, -1
    for opening in range(2, 14):
        process = writer(path, first, size=size)
        acknowledged = max(acknowledged, kill_after(process, dice.randrange(1, 60)))

        view = RunView.read(path)
        assert view.manifest.state is RunState.RUNNING  # P4: nothing but `finished` is a verdict
        sessions = [found.exchange.key.session.session for found in view.samples()]
        assert sessions == list(range(len(sessions)))  # P5: none twice, none missing, none invented
        assert len(sessions) - 1 >= acknowledged  # P1
        damage = view.damage()  # P2
        assert not damage.bad
        assert not damage.files
        assert len(damage.torn) <= 2  # the last shard and the events
        for found in view.samples():
            number = found.exchange.key.session.session
            assert found == sample(number, text="x" * (number * 37 % size))

        first = len(sessions)
        with RunFolder.resume(path) as folder:
            assert folder.manifest.state is RunState.CRASHED
            assert not folder.damage().torn
            assert folder.manifest.openings == 2 * opening - 1  # the writer's and ours
    with RunFolder.resume(path) as folder:
        folder.close(RunState.FINISHED)
    assert RunView.read(path).altered() == ()
    assert [shard.lines for shard in RunView.read(path).manifest.shards if shard.lines]


def test_a_live_owner_is_refused_to_others_and_its_death_frees_the_run(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path, manifest()) as folder:
        path = folder.path
    process = writer(path, 0)
    try:
        before = (path / "manifest.json").read_bytes()
        with pytest.raises(LockHeld, match=f"process {process.pid} since"):
            RunFolder.resume(path)
        assert (path / "manifest.json").read_bytes() == before
        assert is_alive(RunView.read(path).manifest.owner)
    finally:
        kill_after(process, 1)
    assert not is_alive(RunView.read(path).manifest.owner)
    with RunFolder.resume(path) as folder:
        assert folder.manifest.state is RunState.CRASHED
