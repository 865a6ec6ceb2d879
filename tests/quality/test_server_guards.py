"""Guards of real servers: each tripped by what it is for, and told in words.

Nothing here is simulated but the fault: a misspelt variable, a client of somebody else, a kill.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.quality.servers import (
    ENVIRONMENT,
    SERVER,
    campaign,
    record,
    run_of,
    suspect,
    workbench,
    write,
)
from workbench.http.control import Control
from workbench.model.outcome import Ending, Status

pytestmark = pytest.mark.quality

TEMPERATURE = {
    "temperature": {"kind": "request", "field": "temperature", "levels": {"high": 1, "low": 0}}
}
ATTACHED = {"control": {"temperature": "high"}, "treatment": {"temperature": "low"}}


def invalid(folder: Path, guard: str, *words: str, said: str = "", **env: str) -> dict[str, Any]:
    """Run H1; it must end invalid by this guard, with exit code 5 and the reason in words."""
    done = workbench(folder, "test", "H1", "--display", "none", *words, **env)
    assert done.returncode == 5, done.stdout + done.stderr
    assert done.stdout.startswith("invalid\nsomething other than what was asked has been tested: ")
    assert said in done.stdout
    (found, *_) = run_of(folder).manifest.guards
    assert found.name == guard, found
    counted = workbench(folder, "list", "--json").stdout
    assert json.loads(counted.splitlines()[0])["state"] == "open"  # it counts for nothing
    return {"name": found.name, "detail": found.detail}


def test_a_flag_that_does_not_take_effect(tmp_path: Path) -> None:
    spec = campaign(knobs__index_k__name="SGLANG_DSV4_BF16_INDEXK")  # nobody reads that
    folder = write(tmp_path, spec, suspect())
    invalid(folder, "readback-differs", said="server_info index_k_dtype of server is")
    *_, found = run_of(folder).fingerprints()
    assert found.start is not None
    assert [reading.ok for reading in found.start.readbacks] == [False]
    assert found.start.load is None  # nothing was sent to it


def test_two_arms_with_one_effective_configuration(tmp_path: Path) -> None:
    spec = campaign(knobs__index_k__name="SGLANG_DSV4_BF16_INDEXK")
    del spec["knobs"]["index_k"]["readback"]
    folder = write(tmp_path, spec, suspect())
    invalid(folder, "same-config", said="nothing that was read back of control and treatment differs")


def test_a_difference_that_is_not_the_knobs(tmp_path: Path) -> None:
    spec = campaign(knobs__index_k__moves=[])
    folder = write(tmp_path, spec, suspect())
    invalid(folder, "differs-elsewhere", said="name what belongs to the knob in its `moves`")


def test_exposure_that_is_not_reached(tmp_path: Path) -> None:
    asked = [{"metric": "hicache_loaded_pages_total", "at_least": 1, "in": "both"}]
    folder = write(tmp_path, campaign(), suspect(exposure=asked))  # the cache is off
    invalid(folder, "exposure-not-reached", said="is 0, not at least 1")


def test_a_client_that_cannot_keep_up(tmp_path: Path) -> None:
    """A classifier of a stranger's holds up the loop in which the load is driven."""
    plugin = tmp_path / "plugin"
    info = plugin / "slow-1.0.dist-info"
    info.mkdir(parents=True)
    (plugin / "slow.py").write_text(
        "import time\n"
        "from dataclasses import dataclass\n"
        "from workbench.model.outcome import Label\n"
        "@dataclass(frozen=True, kw_only=True)\n"
        "class Options:\n    pass\n"
        "class Slow:\n"
        "    Options = Options\n"
        "    words = {'ok': 'slowly', 'bad': 'never'}\n"
        "    clean = ('ok',)\n"
        "    void = ()\n"
        "    def __init__(self, options):\n        pass\n"
        "    def label(self, exchange):\n"
        "        time.sleep(0.6)\n"
        "        return Label(word='ok', rule='')\n"
    )
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: slow\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[workbench.classifiers]\nslow = slow:Slow\n")
    spec = campaign(symptoms__garbled__classifier={"kind": "slow"}, symptoms__garbled__labels=["bad"])
    folder = write(tmp_path / "campaign", spec, suspect())
    invalid(folder, "client-bottleneck", said="the load was held up here", PYTHONPATH=str(plugin))


class Server:
    """A server that somebody else runs."""

    def __init__(self, port: int, log: Path) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self._log = log.open("ab")
        self.process = self.start()

    def start(self) -> subprocess.Popen[bytes]:
        self.process = subprocess.Popen(
            [sys.executable, "-m", SERVER, "--port", str(self.port)],
            env=ENVIRONMENT,
            stdout=self._log,
            stderr=self._log,
        )
        asyncio.run(self._ready())
        return self.process

    async def _ready(self) -> None:
        """Wait on its socket, and then for its word: the first answer comes when it is healthy."""
        control = Control(deadline=60)
        async with asyncio.timeout(60):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                except OSError:
                    assert self.process.poll() is None, "the server has ended"
                    await asyncio.sleep(0.05)
                    continue
                writer.close()
                await writer.wait_closed()
                assert (await control.get(f"{self.url}/health")).good
                return

    def end(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)

    def close(self) -> None:
        if self.process.poll() is None:
            self.end()
        self._log.close()


@contextmanager
def served(folder: Path) -> Iterator[Server]:
    """A server on a port of its own, and a campaign that attaches to it."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    folder.mkdir(exist_ok=True)
    server = Server(port, folder / "server.log")
    try:
        attached = {"lifecycle": "attach", "dialect": "sglang", "url": server.url}
        spec = campaign(engines={"local": attached}, knobs=TEMPERATURE)
        spec["workloads"]["calls"] |= {"sessions": 40, "in_flight": 2, "turns": 4}
        write(folder, spec, suspect(**ATTACHED))
        yield server
    finally:
        server.close()


@contextmanager
def once_driven(folder: Path, act: Any) -> Iterator[None]:
    """Do something as soon as the run under way has its first sample."""
    stop = threading.Event()

    def watch() -> None:
        while not stop.wait(0.02):
            if any(path.stat().st_size for path in folder.glob("runs/*/samples-*.jsonl")):
                act()
                return

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join(60)


def test_a_request_of_somebody_else(tmp_path: Path) -> None:
    with served(tmp_path / "campaign") as server:
        body = json.dumps({"messages": [{"role": "user", "content": "ask amber kelp"}]}).encode()
        request = urllib.request.Request(
            f"{server.url}/v1/chat/completions", body, {"Content-Type": "application/json"}
        )

        def ask() -> None:
            with urllib.request.urlopen(request, timeout=60) as answer:
                answer.read()

        with once_driven(tmp_path / "campaign", ask):
            invalid(tmp_path / "campaign", "foreign-traffic", said="others use it")


def test_others_may_be_allowed(tmp_path: Path) -> None:
    """The same, where the campaign says that it does not matter."""
    with served(tmp_path / "campaign") as server:
        path = tmp_path / "campaign" / "campaign.yaml"
        spec = json.loads(path.read_text())
        spec["engines"]["local"]["allow_foreign"] = True
        path.write_text(json.dumps(spec))
        url = f"{server.url}/generate"
        body = json.dumps({"text": "ask amber kelp", "sampling_params": {"max_new_tokens": 4}}).encode()
        request = urllib.request.Request(url, body, {"Content-Type": "application/json"})

        def ask() -> None:
            with urllib.request.urlopen(request, timeout=60) as answer:
                answer.read()

        with once_driven(tmp_path / "campaign", ask):
            done = workbench(tmp_path / "campaign", "test", "H1", "--json", "--display", "none")
        assert done.returncode in (0, 4), done.stderr
        assert record(done)["guards"] == []


def test_a_restart_by_somebody_else(tmp_path: Path) -> None:
    with served(tmp_path / "campaign") as server:

        def restart() -> None:
            server.process.kill()
            server.process.wait(30)
            server.start()

        with once_driven(tmp_path / "campaign", restart):
            invalid(tmp_path / "campaign", "restarted")


def test_an_engine_that_dies_is_started_again_and_its_death_is_a_symptom(tmp_path: Path) -> None:
    """No guard: what it took with it says so, and the sessions that had not begun get another start."""
    spec = campaign()
    spec["symptoms"]["crashed"] = {"statuses": ["engine_died"]}
    spec["workloads"]["calls"] |= {"sessions": 12, "in_flight": 2, "turns": 4}
    folder = write(tmp_path, spec, suspect() | {"symptom": "garbled"})

    def kill() -> None:
        (found, *_) = run_of(folder).fingerprints()
        os.kill(int(found.volatile["server pid"]), signal.SIGKILL)

    with once_driven(folder, kill):
        done = workbench(folder, "test", "H1", "--json", "--display", "none")
    assert done.returncode in (0, 4), done.stderr
    told = record(done)
    assert told["guards"] == []
    starts = [each.start for each in run_of(folder).fingerprints() if each.start is not None]
    (first,) = (start for start in starts if start.died)
    assert "SIGKILL" in first.died
    assert [(each.arm, each.block) for each in starts if each.number == 2] == [(first.arm, 1)]
    dead = [
        sample for sample in run_of(folder).samples() if sample.exchange.ending is Ending.ENGINE_DIED
    ]
    assert 1 <= len(dead) <= 2  # what was in flight, and nothing else
    assert {sample.status for sample in dead} == {Status.ERRORED}
    assert {sample.seen("crashed").status for sample in dead} == {Status.HIT}
    arm = told["arms"][first.arm]
    assert arm["errored"] == len(dead)
    assert sum(arm.values()) == 24  # two blocks, and no session was lost or counted twice
