"""The launcher: three processes up, down, and never an orphan."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.conftest import ROOT
from tests.local_engine import client
from tests.local_engine.processes import PATIENCE, running, spawn

PARTS = {
    "router": "entrypoints.router",
    "prefill": "entrypoints.prefill_server",
    "decode": "entrypoints.decode_server",
}


def test_three_processes_are_up_when_the_url_is_printed_and_down_after_sigterm(tmp_path: Path) -> None:
    with running("--log-dir", str(tmp_path)) as engine:
        assert len(engine.family) == 4
        assert engine.cpu_seconds() < 1.5
        assert engine.ask("GET", "/health") == (200, "")
        assert engine.ask("GET", "/health_generate") == (200, "")
        engine.process.send_signal(signal.SIGTERM)
        assert engine.gone()
        assert engine.process.returncode == 0
    assert {path.name for path in tmp_path.iterdir()} == {"router.log", "prefill.log", "decode.log"}
    for name in ("router", "prefill", "decode"):
        text = (tmp_path / f"{name}.log").read_text()
        assert f" {name.upper()}] " in text
        assert f"[{name}] {text.splitlines()[0]}\n" in engine.log


def test_ctrl_c_ends_all(tmp_path: Path) -> None:
    with running() as engine:
        engine.process.send_signal(signal.SIGINT)
        assert engine.gone()
        assert engine.process.returncode == 130


def test_no_orphan_survives_a_killed_launcher() -> None:
    with running() as engine:
        engine.process.kill()
        assert engine.gone()


@pytest.mark.parametrize("name", ["prefill", "decode", "router"])
def test_a_child_that_dies_ends_the_rest_and_its_last_lines_are_shown(name: str) -> None:
    with running() as engine:
        engine.child(PARTS[name]).kill()
        assert engine.gone()
        assert engine.process.returncode == 1
    told = [line for line in engine.log if "process ended by signal 9" in line]
    assert told == [f"error: the {name} process ended by signal 9; its last lines:\n"]
    shown = engine.log[engine.log.index(told[0]) + 1 :]
    assert any(line.startswith("    [") for line in shown)


def test_an_engine_that_cannot_start_says_why(tmp_path: Path) -> None:
    config = tmp_path / "model.json"
    config.write_text("{}")
    engine = spawn("--port", "0", "--model-path", str(config))
    assert engine.finish() == (1, "")
    assert any("process ended with exit code 1; its last lines" in line for line in engine.log)
    assert engine.log[-1] == f"    error: {config}: no 'compress_ratios'\n"


def test_a_port_in_use_is_one_clear_line() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        engine = spawn("--port", str(port))
        assert engine.finish() == (1, "")
    assert len(engine.log) == 1
    assert engine.log[0].startswith(f"launch: error: cannot listen on 127.0.0.1:{port} for the router")


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["--disable-hicache"], "unknown flag --disable-hicache"),
        (["--disaggregation-mode", "decode"], "both halves are started here"),
        (["--port", "65534"], "the two ports after it are needed as well"),
    ],
)
def test_a_bad_command_line_is_one_line_and_exit_2(argv: list[str], words: str) -> None:
    engine = spawn(*argv)
    assert engine.finish() == (2, "")
    assert len(engine.log) == 1
    assert words in engine.log[0]


def test_a_bad_environment_is_one_line_and_exit_2() -> None:
    engine = spawn(env={"SGLANG_DSV4_BF16_INDEX_K": "maybe"})
    assert engine.finish() == (2, "")
    assert engine.log == [
        "launch: error: SGLANG_DSV4_BF16_INDEX_K='maybe' is neither 1, true, 0 nor false\n"
    ]


def test_an_unknown_variable_is_warned_about_in_the_log_of_each_server() -> None:
    with running(env={"SGLANG_DSV4_BF16_INDEXK": "1"}) as engine:
        pass
    warned = [line for line in engine.log if "did you mean SGLANG_DSV4_BF16_INDEX_K?" in line]
    assert len(warned) == 2


def test_server_info_proves_what_runs() -> None:
    env = {"SGLANG_DSV4_BF16_INDEX_K": "1"}
    with running("--enable-hierarchical-cache", env=env) as engine:
        status, text = engine.ask("GET", "/server_info")
        assert engine.ask("GET", "/get_server_info")[0] == status == 200
        pids = {name: engine.child(part).pid for name, part in PARTS.items()}
    info = json.loads(text)
    assert info["process"]["pid"] == pids["router"]
    for name in ("prefill", "decode"):
        part = info[name]
        assert part["process"]["pid"] == pids[name]
        assert part["disaggregation_mode"] == name
        assert part["enable_hierarchical_cache"] is True
        assert part["env"]["SGLANG_DSV4_BF16_INDEX_K"] is True
        assert part["scheduler_info"]["bytes_per_full_token"] == pytest.approx(16548.45, abs=0.01)
        assert part["code"] == info["code"]
    assert len(info["code"]["commit"]) == 40
    assert "launch.py" in info["code"]["files"]


def test_one_process_serves_all_the_same() -> None:
    with running("--disaggregation-mode", "null") as engine:
        assert len(engine.family) == 2
        assert engine.ask("GET", "/health_generate") == (200, "")
        assert json.loads(engine.ask("GET", "/v1/models")[1])["data"][0]["max_model_len"] == 16384
        assert engine.ask("POST", "/flush_cache") == (200, "Cache flushed.\n")
        assert "sglang:token_usage" in engine.metrics()


def test_the_launcher_costs_nothing_while_the_engine_idles() -> None:
    with running() as engine:
        launcher = psutil.Process(engine.process.pid)
        assert sum(launcher.cpu_times()[:2]) < 0.3
        assert launcher.memory_info().rss < 40e6


def test_a_log_that_nobody_reads_any_more_does_not_blind_the_launcher() -> None:
    command = [sys.executable, "-m", "workbench.local_engine.launch", "--port", "0"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        url = process.stdout.readline().strip()
        process.stderr.close()
        body = {"text": "amber", "sampling_params": {"max_new_tokens": 1}}
        asyncio.run(client.request(url, "POST", "/generate", body))  # which logs a batch
        info = json.loads(asyncio.run(client.request(url, "GET", "/server_info")))
        psutil.Process(info["prefill"]["process"]["pid"]).kill()
        assert process.wait(PATIENCE) == 1
