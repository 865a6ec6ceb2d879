"""Files that a run changes are put back: after its end, Ctrl-C, `kill -9`; and one run at a time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.campaigns import begin, records, succeeded
from tests.cli.test_processes import ended, wait_for
from tests.conftest import ROOT, Workbench

CONFIG = 'cache:\n  on: "1"  # as it was\n'
CHANGED = CONFIG.replace('"1"', '"0"')
SCRIPT = """#!/bin/sh
# Says what it sees, and waits for leave to go on.
on=$(sed -n 's/^  on: "\\(.\\)".*/\\1/p' config.yaml)
[ -e go ] || { touch "saw$on"; [ "$on" = 1 ] || touch up; }
[ "$on" = 1 ] || while [ ! -e go ]; do sleep 0.02; done
CACHE=$on exec ./repro.sh
"""
CACHE = 'cache: {kind: file, path: config.yaml, key: cache.on, levels: {"on": "1", "off": "0"}}'
ANA = {"WORKBENCH_ACTOR": "ana"}


@pytest.fixture
def home(workbench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A campaign whose treatment changes a file, and waits in it for `go`."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # leases of its own
    folder = begin(workbench, tmp_path / "c", script=SCRIPT)
    text = (folder / "campaign.yaml").read_text()
    text = text.replace('cache: {kind: env, name: CACHE, levels: {"on": "1", "off": "0"}}', CACHE)
    (folder / "campaign.yaml").write_text(text)
    (folder / "config.yaml").write_text(CONFIG)
    (folder / "config.yaml").chmod(0o640)
    return folder


def is_as_it_was(home: Path) -> None:
    config = home / "config.yaml"
    assert (config.read_text(), config.stat().st_mode & 0o777) == (CONFIG, 0o640)


def detached(workbench: Workbench, home: Path, *arguments: str) -> dict[str, Any]:
    """Begin a run in the background, and come back when it waits with the file changed."""
    done = workbench("test", "H1", "--detach", "--seed", "7", "--json", *arguments, cwd=home, env=ANA)
    (begun,) = records(done)
    wait_for(home / "up")
    assert (home / "config.yaml").read_text() == CHANGED
    return begun


def popen(home: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "workbench", *arguments],
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(ROOT), **ANA},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def killed(workbench: Workbench, home: Path) -> str:
    begun = detached(workbench, home)
    os.kill(begun["pid"], signal.SIGKILL)
    ended(begun["pid"])
    assert (home / "config.yaml").read_text() == CHANGED
    (home / "go").touch()  # for the sessions that it left behind
    return str(begun["run"])


def test_what_is_tested_is_the_file_as_changed(workbench: Workbench, home: Path) -> None:
    (home / "go").touch()
    done = workbench("test", "H1", "--seed", "7", "--json", "--display", "none", cwd=home)
    (found,) = records(done)
    assert (found["verdict"], found["arms"]["treatment"]["hit"]) == ("present", 0)
    is_as_it_was(home)
    succeeded(workbench("verify", cwd=home))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_run_that_is_stopped_puts_back(workbench: Workbench, home: Path, number: int) -> None:
    begun = detached(workbench, home)
    os.kill(begun["pid"], number)
    ended(begun["pid"])
    is_as_it_was(home)
    assert list((home / ".workbench" / "putback").iterdir()) == []


def test_doctor_tells_of_a_file_that_was_left_changed_and_puts_it_back(
    workbench: Workbench, home: Path
) -> None:
    run = killed(workbench, home)
    looked = workbench("doctor", cwd=home)
    assert looked.returncode == 2
    assert f"config.yaml was left changed by run {run}, which has died" in looked.stdout
    assert "workbench doctor --restore" in looked.stdout
    restored = workbench("doctor", "--restore", cwd=home)
    expected = f"{home / 'config.yaml'}: has been put back as it was before run {run}"
    assert succeeded(restored).splitlines() == [expected]
    is_as_it_was(home)
    again = workbench("doctor", "--restore", cwd=home)
    assert (succeeded(again), again.stderr) == ("", "nothing is to be put back\n")


def test_doctor_names_a_run_that_is_under_way(workbench: Workbench, home: Path) -> None:
    begun = detached(workbench, home)
    looked = workbench("doctor", cwd=home).stdout
    assert f"config.yaml is changed for run {begun['run']}, which is under way" in looked
    assert succeeded(workbench("doctor", "--restore", cwd=home)) == ""
    assert (home / "config.yaml").read_text() == CHANGED
    succeeded(workbench("stop", begun["run"], "--restore", cwd=home))
    ended(begun["pid"])
    is_as_it_was(home)


def test_a_resume_puts_back_first(workbench: Workbench, home: Path) -> None:
    run = killed(workbench, home)
    done = workbench("test", "--resume", run, "--json", "--display", "none", cwd=home)
    (found,) = records(done)
    assert found["verdict"] == "present"
    assert f"config.yaml: has been put back as it was before run {run}" in done.stderr
    is_as_it_was(home)


def test_another_test_puts_back_first(workbench: Workbench, home: Path) -> None:
    run = killed(workbench, home)
    done = workbench("test", "H1", "--display", "none", "--max-blocks", "2", cwd=home)
    assert done.returncode in (0, 4), done.stderr
    assert f"has been put back as it was before run {run}" in done.stderr
    is_as_it_was(home)


def test_stop_puts_back_what_a_killed_run_left(workbench: Workbench, home: Path) -> None:
    run = killed(workbench, home)
    (restored,) = records(workbench("stop", run, "--restore", "--json", cwd=home))
    assert (restored["path"], restored["ok"]) == (str(home / "config.yaml"), True)
    is_as_it_was(home)


def test_what_somebody_changes_meanwhile_ends_the_run_and_is_kept(
    workbench: Workbench, home: Path
) -> None:
    process = popen(home, "test", "H1", "--seed", "7", "--display", "none")
    wait_for(home / "up")
    (home / "config.yaml").write_text("theirs\n")
    (home / "go").touch()
    _, said = process.communicate(timeout=120)
    assert process.returncode == 3, said
    (original,) = (home / ".workbench" / "putback").glob("*.original")
    assert f"{home / 'config.yaml'}: was changed by somebody" in said
    assert str(original) in said
    assert original.read_text() == CONFIG
    assert (home / "config.yaml").read_text() == "theirs\n"
    restored = workbench("doctor", "--restore", cwd=home)
    assert restored.returncode == 2
    assert str(original) in restored.stdout


def another_suspect(workbench: Workbench, home: Path) -> None:
    arms = ("--control", "cache=on", "--treatment", "cache=off", "--predict", "0.2:removes")
    succeeded(workbench("new", "The same, predicted otherwise", *arms, cwd=home))


def test_a_second_run_is_refused_or_waits(workbench: Workbench, home: Path) -> None:
    another_suspect(workbench, home)
    begun = detached(workbench, home)
    refused = workbench("test", "H2", "--display", "none", cwd=home)
    assert refused.returncode == 3
    assert f"config.yaml is held by run {begun['run']} of ana since " in refused.stderr
    assert f"(pid {begun['pid']}, {home})" in refused.stderr
    assert "--wait" in refused.stderr
    assert len(list((home / "runs").iterdir())) == 1

    process = popen(home, "test", "H2", "--wait", "--seed", "7", "--json", "--display", "none")
    assert process.stderr is not None
    assert process.stderr.readline().startswith(
        f"waiting for file {home / 'config.yaml'}, which is held"
    )
    (home / "go").touch()
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert '"hypothesis": "H2", "verdict": "present"' in out
    ended(begun["pid"])
    is_as_it_was(home)
    succeeded(workbench("verify", cwd=home))


def test_who_waits_can_give_up(workbench: Workbench, home: Path) -> None:
    another_suspect(workbench, home)
    begun = detached(workbench, home)
    process = popen(home, "test", "H2", "--wait", "--display", "none")
    assert process.stderr is not None
    process.stderr.readline()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert len(list((home / "runs").iterdir())) == 1
    succeeded(workbench("stop", begun["run"], cwd=home))
    ended(begun["pid"])


def test_a_copy_of_the_campaign_waits_for_the_same_engine(
    workbench: Workbench, home: Path, tmp_path: Path
) -> None:
    """Two work trees are two campaigns, and one engine."""
    shared = tmp_path / "shared.yaml"
    shared.write_text(CONFIG)
    for folder in (home, begin(workbench, tmp_path / "d", script=SCRIPT)):
        text = (folder / "campaign.yaml").read_text()
        knob = CACHE.replace("config.yaml", str(shared))
        lines = [f"  {knob}" if line.startswith("  cache: ") else line for line in text.splitlines()]
        (folder / "campaign.yaml").write_text("\n".join(lines) + "\n")
        script = (folder / "script.sh").read_text()
        (folder / "script.sh").write_text(script.replace("config.yaml", str(shared)))
    (begun,) = records(workbench("test", "H1", "--detach", "--json", cwd=home, env=ANA))
    wait_for(home / "up")
    refused = workbench("test", "H1", "--display", "none", cwd=tmp_path / "d")
    assert refused.returncode == 3
    assert f"file {shared} is held by run {begun['run']}" in refused.stderr
    succeeded(workbench("stop", begun["run"], cwd=home))
    ended(begun["pid"])
    assert shared.read_text() == CONFIG


def test_waiting_in_the_background_is_refused(workbench: Workbench, home: Path) -> None:
    done = workbench("test", "H1", "--detach", "--wait", cwd=home)
    assert (done.returncode, "take one of the two" in done.stderr) == (2, True)


# --- protected engines ----------------------------------------------------------------------------


def protect(home: Path) -> None:
    text = (home / "campaign.yaml").read_text()
    text = text.replace("argv: [./script.sh]}", "argv: [./script.sh], protected: true}")
    (home / "campaign.yaml").write_text(text)
    (home / "go").touch()


def at_a_terminal(home: Path, answer: str, *arguments: str) -> tuple[int, str]:
    import pexpect

    child = pexpect.spawn(
        sys.executable,
        ["-m", "workbench", "test", "H1", "--seed", "7", *arguments],
        cwd=str(home),
        env={**os.environ, "PYTHONPATH": str(ROOT), **ANA},
        encoding="utf-8",
        timeout=60,
        dimensions=(24, 200),
    )
    try:
        child.expect("type yes to go on")
        child.sendline(answer)
        child.expect(pexpect.EOF)
        said = child.before or ""
    finally:
        child.close(force=True)
    return child.exitstatus or 0, said


def test_a_person_at_a_terminal_types_yes(home: Path) -> None:
    protect(home)
    code, said = at_a_terminal(home, "yes")
    assert (code, "present" in said) == (0, True)
    is_as_it_was(home)


@pytest.mark.parametrize("answer", ["y", ""])
def test_nothing_but_yes_is_a_yes(home: Path, answer: str) -> None:
    protect(home)
    code, said = at_a_terminal(home, answer)
    assert (code, "--allow script" in said) == (2, True)
    assert not (home / "runs").exists() or list((home / "runs").iterdir()) == []


def test_an_agent_is_not_asked_and_may_be_allowed(home: Path) -> None:
    import pexpect

    protect(home)
    arguments = ["-m", "workbench", "test", "H1", "--seed", "7", "--by", "bot:agent"]
    output, code = pexpect.run(
        " ".join([sys.executable, *arguments]),
        cwd=str(home),
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        withexitstatus=True,
        timeout=60,
    )
    assert (code, b"type yes" in output, b"is protected" in output) == (2, False, True)


def test_who_is_allowed_is_not_asked(workbench: Workbench, home: Path) -> None:
    protect(home)
    done = workbench(
        "test", "H1", "--allow", "script", "--by", "bot:agent", "--display", "none", cwd=home
    )
    succeeded(done)
    is_as_it_was(home)


def test_a_resume_needs_leave_too(workbench: Workbench, home: Path) -> None:
    begun = detached(workbench, home)
    succeeded(workbench("stop", begun["run"], cwd=home))
    ended(begun["pid"])
    protect(home)
    refused = workbench("test", "--resume", begun["run"], cwd=home)
    assert refused.returncode == 2
    assert "engine 'script' is protected, and this would change" in refused.stderr
    succeeded(
        workbench("test", "--resume", begun["run"], "--allow", "script", "--display", "none", cwd=home)
    )


def test_an_engine_that_is_only_asked_needs_no_leave(workbench: Workbench, tmp_path: Path) -> None:
    home = begin(workbench, tmp_path / "c")
    text = (home / "campaign.yaml").read_text()
    text = text.replace("argv: [./repro.sh]}", "argv: [./repro.sh], protected: true}")
    (home / "campaign.yaml").write_text(text)
    succeeded(workbench("test", "H1", "--seed", "7", "--display", "none", cwd=home))
