"""Runs in the background: they outlive their terminal, are seen, and are stopped from elsewhere."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

import psutil

from tests.cli.campaigns import WAITING, begin, records, succeeded
from tests.conftest import ROOT, Workbench


def wait_for(path: Path) -> None:
    """Return once a file is there; its writer is a process that nothing else tells about."""
    until = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < until, f"{path} did not come"
        time.sleep(0.01)


def ended(pid: int) -> None:
    """Return once a process that is no child of ours has ended."""
    if psutil.pid_exists(pid):
        psutil.Process(pid).wait(60)


def test_a_run_in_the_background_is_stopped_from_elsewhere_and_gone_on_with(
    workbench: Workbench, tmp_path: Path
) -> None:
    home = begin(workbench, tmp_path / "c", script=WAITING)
    (begun,) = records(workbench("test", "H1", "--detach", "--seed", "7", "--json", cwd=home))
    wait_for(home / "up")
    (listed,) = records(workbench("runs", "--json", cwd=home))
    assert (listed["id"], listed["state"]) == (begun["run"], "running")
    assert begun["run"][:22] in succeeded(workbench("status", cwd=home))

    (stopped,) = records(workbench("stop", begun["run"], "--json", cwd=home))
    assert (stopped["state"], stopped["why"]) == ("stopped", "interrupted")
    ended(begun["pid"])
    again = workbench("stop", begun["run"], cwd=home)
    assert again.returncode == 2
    assert "is not going on: it is stopped" in again.stderr

    (home / "go").touch()
    resumed = workbench("test", "--resume", begun["run"], "--json", "--display", "none", cwd=home)
    (found,) = records(resumed)
    other = begin(workbench, tmp_path / "d", script=WAITING)
    (other / "go").touch()
    whole = workbench("test", "H1", "--seed", "7", "--json", "--display", "none", cwd=other)
    (unbroken,) = records(whole)
    for name in ("verdict", "arms", "blocks", "evidence", "interval"):
        assert found[name] == unbroken[name]
    succeeded(workbench("verify", cwd=home))


def test_the_log_says_that_a_run_began_and_how_it_ended_short(
    workbench: Workbench, tmp_path: Path
) -> None:
    home = begin(workbench, tmp_path / "c", script=WAITING)
    from_outside = ("-C", "c", "test", "H1", "--detach", "--json", "--by", "ana")
    (begun,) = records(workbench(*from_outside, cwd=tmp_path))
    wait_for(home / "up")
    os.kill(begun["pid"], signal.SIGTERM)
    ended(begun["pid"])
    events = records(workbench("log", begun["run"], "--json", cwd=home))
    assert [(event["kind"], event["body"]["state"]) for event in events] == [
        ("run", "running"),
        ("run", "stopped"),
    ]
    assert {event["who"] for event in events} == {"ana"}
    assert {"H1", begun["run"]} <= set(events[0]["about"])


def test_a_run_that_cannot_begin_in_the_background_says_so_at_once(
    workbench: Workbench, tmp_path: Path
) -> None:
    home = begin(workbench, tmp_path / "c")
    (home / "repro.sh").unlink()
    done = workbench("test", "H1", "--detach", cwd=home)
    assert done.returncode == 3
    assert "arm could not start: control: no such file: ./repro.sh" in done.stderr
    assert records(workbench("runs", "--json", cwd=home)) == []


def test_the_notifier_is_told_of_verdicts_and_of_failures(workbench: Workbench, tmp_path: Path) -> None:
    home = begin(workbench, tmp_path / "c")
    notify = ("--notify", f"tee {home / 'told'}", "--display", "none")
    succeeded(workbench("test", "H1", "--seed", "7", *notify, cwd=home))
    told = json.loads((home / "told").read_text())
    assert told["exit_code"] == 0
    assert [verdict["verdict"] for verdict in told["verdicts"]] == ["present"]

    (home / "repro.sh").chmod(0o644)
    done = workbench("test", "H1", *notify, cwd=home)
    assert done.returncode == 3
    told = json.loads((home / "told").read_text())
    assert told["exit_code"] == 3
    assert "not executable" in told["error"]


def test_a_notifier_that_fails_changes_nothing(workbench: Workbench, tmp_path: Path) -> None:
    home = begin(workbench, tmp_path / "c")
    done = workbench(
        "test",
        "H1",
        "--seed",
        "7",
        "--display",
        "none",
        "--notify",
        "sh -c 'echo no >&2; exit 9'",
        cwd=home,
    )
    assert done.returncode == 0
    assert "failed with exit code 9: no" in done.stderr
    done = workbench("test", "H1", "--display", "none", "--notify", "./nobody", cwd=home)
    assert done.returncode == 0
    assert "could not be run" in done.stderr


def test_a_log_is_followed_as_others_append(workbench: Workbench, tmp_path: Path) -> None:
    import pexpect

    home = begin(workbench, tmp_path / "c")
    succeeded(workbench("note", "the first", cwd=home))
    child = pexpect.spawn(
        sys.executable,
        ["-m", "workbench", "log", "-f"],
        cwd=str(home),
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        encoding="utf-8",
        timeout=30,
    )
    try:
        child.expect("the first")
        succeeded(workbench("note", "the second", "--by", "bob", cwd=home))
        child.expect("bob: note: the second")
        child.sendintr()
        child.expect(pexpect.EOF)
    finally:
        child.close(force=True)
    assert child.exitstatus == 130
