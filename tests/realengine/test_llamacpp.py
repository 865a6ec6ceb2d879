"""Tests of suspects on llama.cpp's server: started for each arm, read back, and never left behind."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.cli.campaigns import records, succeeded
from tests.realengine.campaigns import ENVIRONMENT, add, commands, follow, servers_in, snippet

pytestmark = [pytest.mark.quality, pytest.mark.realengine]
QUIET = ("--display", "none")
OTHER = "the reply to another prompt"


def run_of(home: Path) -> Path:
    """Give the folder of the only run."""
    (run,) = (home / "runs").iterdir()
    return run


def samples(home: Path) -> list[dict[str, Any]]:
    lines = [path.read_text().splitlines() for path in sorted(run_of(home).glob("samples-*.jsonl"))]
    return [json.loads(line) for some in lines for line in some]


def found(home: Path, arm: str) -> dict[str, set[str]]:
    """Give what was read back in all starts of an arm, by knob; all of it as it was to be."""
    values: dict[str, set[str]] = {}
    for path in run_of(home).glob(f"fingerprint-{arm}-*.json"):
        for reading in json.loads(path.read_text())["start"]["readbacks"]:
            assert reading["ok"], reading
            values.setdefault(reading["about"], set()).add(reading["found"])
    return values


def plant(home: Path) -> None:
    """Put another right answer to the first prompt on record."""
    path = home / "prompts.jsonl"
    first, *others = path.read_text().splitlines()
    line = json.dumps({**json.loads(first), "expected": OTHER})
    path.write_text("\n".join([line, *others]) + "\n")


@contextmanager
def serving(home: Path) -> Iterator[str]:
    """Serve as somebody else would; give the URL."""
    argv = [
        sys.executable,
        "serve.py",
        "--model",
        "models/tiny.gguf",
        "--port",
        "0",
        "--ctx-size",
        "32768",
    ]
    with subprocess.Popen(
        [*argv, "--parallel", "16"], cwd=home, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as server:
        assert server.stdout is not None
        try:
            yield next(url for line in server.stdout if (url := json.loads(line).get("url")))
        finally:
            server.terminate()


def test_company_makes_other_replies_and_never_corrupt_ones(home: Path) -> None:
    plant(home)
    done = follow(
        ["workbench", "test", "H1", "--seed", "1", "--max-blocks", "2", "--json", *QUIET], home
    )
    assert done.returncode in (0, 4), done.stdout + done.stderr
    (said,) = [json.loads(line) for line in done.stdout.splitlines()]
    assert said["guards"] == []
    assert said["blocks"] == 2
    assert found(home, "control") == {"knob slots": {"16"}, "knob prompt_cache": {"false"}}
    assert found(home, "treatment") == {"knob slots": {"1"}, "knob prompt_cache": {"false"}}
    labels = Counter((line["k"].split("/")[0], line["label"]) for line in samples(home))
    assert labels.keys() <= {
        (arm, word) for arm in ("control", "treatment") for word in ("ok", "wrong_but_well_formed")
    }
    assert labels.total() == 128
    assert labels["treatment", "wrong_but_well_formed"] == 1  # the one that was planted, in one block
    assert labels["control", "wrong_but_well_formed"] >= 1
    succeeded(follow(["workbench", "verify"], home))


def test_a_server_that_dies_at_its_start_is_told_and_counts_for_nothing(home: Path) -> None:
    new, test = commands("A server that does not start")
    succeeded(follow(new, home))
    done = follow([*test, "--seed", "1", *QUIET], home)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "arm could not start: control: component llama ended with exit code 1" in done.stderr
    assert "exiting due to model loading error" in done.stderr
    assert "block size 32 does not divide" in (home / ".workbench/logs/engine/llama.log").read_text()
    (suspect,) = [
        each for each in records(follow(["workbench", "list", "--json"], home)) if each["id"] == "H3"
    ]
    assert suspect["state"] == "open"
    assert not any(line["k"].startswith("control") for line in samples(home))


def test_a_harness_of_ones_own_drives_a_server_that_is_started_for_each_arm(home: Path) -> None:
    code = snippet("Your own harness", "python")
    assert len(code.splitlines()) <= 20
    (home / "harness.py").write_text(code)
    add(home, snippet("Your own harness", "yaml"))
    new, test = commands("Your own harness")
    succeeded(follow(new, home))
    done = follow([*test, "--seed", "1", "--max-blocks", "2", "--json", *QUIET], home)
    assert done.returncode in (0, 4), done.stdout + done.stderr
    assert found(home, "control")["knob slots"] == {"16"}
    assert found(home, "treatment")["knob slots"] == {"1"}
    starts = {
        json.loads(path.read_text())["volatile"]["llama pid"]
        for path in run_of(home).glob("fingerprint-*.json")
    }
    assert len(starts) == 4
    assert {line["label"] for line in samples(home)} <= {"clean", "failed"}
    assert not any(
        line["label"] == "failed" for line in samples(home) if line["k"].startswith("treatment")
    )


def test_a_server_that_is_up_is_taken_as_it_is_and_left_so(home: Path) -> None:
    with serving(home) as url:
        add(home, snippet("A server that is up already", "yaml").replace("http://127.0.0.1:8080", url))
        new, test = commands("A server that is up already")
        succeeded(follow(new, home))
        before = servers_in(home)
        done = follow([*test, "--seed", "1", "--max-blocks", "2", "--json", *QUIET], home)
        assert done.returncode in (0, 4), done.stdout + done.stderr
        assert servers_in(home) == before
        (said,) = [json.loads(line) for line in done.stdout.splitlines()]
        assert said["guards"] == []
        cached = Counter[str]()
        for line in samples(home):
            cached[line["k"].split("/")[0]] += line["cached_tokens"]
        assert cached["control"] > 0 == cached["treatment"]


def test_no_server_outlives_a_workbench_that_is_killed(home: Path) -> None:
    up, go = home / "up", home / "go"
    os.mkfifo(up)
    os.mkfifo(go)
    harness = '["sh", "-c", "echo up > up; cat go"]'
    text = snippet("Your own harness", "yaml")
    add(
        home, re.sub(r"argv: \[.*?\]", f"argv: {harness}", text).replace("in_flight: 8", "in_flight: 1")
    )
    new, test = commands("Your own harness")
    succeeded(follow(new, home))
    process = subprocess.Popen([*test, *QUIET], cwd=home, env=ENVIRONMENT)
    try:
        assert up.read_text() == "up\n"  # comes once a session is under way
        servers = servers_in(home)
        owners = [psutil.Process(process.pid) in server.parents() for server in servers]
    finally:
        process.kill()
        process.wait()
    gone, alive = psutil.wait_procs(servers, timeout=30)
    assert (owners, len(gone), alive) == ([True], 1, [])
    os.close(os.open(go, os.O_WRONLY | os.O_NONBLOCK))  # the session, nobody's any more, ends
