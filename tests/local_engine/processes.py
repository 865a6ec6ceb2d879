"""Real processes for tests: start an engine, talk to it, end it, and look at what is left."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psutil

from tests.conftest import ROOT
from tests.local_engine import client
from tests.local_engine.client import HttpError

PATIENCE = 60.0
LAUNCH = "workbench.local_engine.launch"


@dataclass
class Engine:
    """A launched engine."""

    process: subprocess.Popen[str]
    url: str = ""
    log: list[str] = field(default_factory=list)
    family: list[psutil.Process] = field(default_factory=list)
    reader: threading.Thread | None = None

    def child(self, module: str) -> psutil.Process:
        """Find a server process by a part of its module's name."""
        return next(each for each in self.family[1:] if module in " ".join(each.cmdline()))

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, str]:
        """Send a request; give status and body."""
        try:
            return 200, asyncio.run(client.request(self.url, method, path, body))
        except HttpError as error:
            return error.status, error.body

    def error(self, method: str, path: str, body: Any = None) -> tuple[int, dict[str, Any]]:
        """Send a request that fails; give the status, and the error in OpenAI's shape."""
        status, text = self.ask(method, path, body)
        error = json.loads(text)["error"]
        assert error.keys() == {"message", "type", "param", "code"}
        return status, error

    def metrics(self) -> dict[str, float]:
        """Give the metrics, those of several servers added up."""
        status, text = self.ask("GET", "/metrics")
        assert status == 200
        values: dict[str, float] = {}
        for line in text.splitlines():
            if not line.startswith("#"):
                name, _, value = line.partition("{")
                values[name] = values.get(name, 0.0) + float(value.rpartition("} ")[2])
        return values

    def cpu_seconds(self) -> float:
        """User and system time of all processes so far."""
        times = [each.cpu_times() for each in self.family]
        return float(sum(each.user + each.system for each in times))

    def finish(self) -> tuple[int, str]:
        """Wait for the launcher's end; give its exit code and what it printed."""
        out, _ = self.process.communicate(timeout=PATIENCE)
        assert self.reader is not None
        self.reader.join(PATIENCE)
        return self.process.returncode, out

    def gone(self) -> bool:
        """Wait until no process of the engine is left."""
        _, alive = psutil.wait_procs(self.family[1:], timeout=PATIENCE)
        self.finish()
        return not alive


def spawn(*argv: str, module: str = LAUNCH, env: Mapping[str, str] | None = None) -> Engine:
    """Start a launcher; its log is read in a thread."""
    process = subprocess.Popen(
        [sys.executable, "-m", module, *argv],
        cwd=ROOT,
        env={**psutil.Process().environ(), **(env or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    engine = Engine(process)
    stream, process.stderr = process.stderr, None  # the thread's, so that nobody else reads it
    assert stream is not None

    def read() -> None:
        with stream:
            engine.log.extend(stream)

    engine.reader = threading.Thread(target=read, daemon=True)
    engine.reader.start()
    return engine


@contextmanager
def running(*argv: str, module: str = LAUNCH, env: Mapping[str, str] | None = None) -> Iterator[Engine]:
    """Run an engine on ports that the system picks."""
    engine = spawn("--port", "0", *argv, module=module, env=env)
    try:
        assert engine.process.stdout is not None
        engine.url = engine.process.stdout.readline().strip()
        assert engine.url.startswith("http://"), "".join(engine.log)
        launcher = psutil.Process(engine.process.pid)
        engine.family = [launcher, *launcher.children(recursive=True)]
        yield engine
    finally:
        if engine.process.poll() is None:
            engine.process.terminate()
            engine.finish()
