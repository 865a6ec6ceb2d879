"""Secrets given to a command or told by it never reach the disk, and such a run can go on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import Workbench

SECRET = "hunter2-correct-horse"
TOKEN = "ghp_" + "a1B2" * 9


def leaks(folder: Path) -> list[str]:
    """Files below a folder that hold a secret."""
    return [
        str(path)
        for path in folder.rglob("*")
        if path.is_file() and any(secret.encode() in path.read_bytes() for secret in (SECRET, TOKEN))
    ]


@pytest.fixture
def script(tmp_path: Path) -> str:
    """A command that fails now and then and tells everything that it knows."""
    path = tmp_path / "tells.sh"
    path.write_text(f'#!/bin/sh\necho "$@ {TOKEN}"\n[ $((WORKBENCH_SEED % 5)) -ne 0 ]\n')
    path.chmod(0o755)
    return "./tells.sh"


def test_a_secret_is_kept_off_the_disk_and_asked_for_again(
    workbench: Workbench, tmp_path: Path, script: str
) -> None:
    commands = [
        *("--control", f"{script} --api-key {SECRET}"),
        *("--treatment", f"{script} --api-key={SECRET} --off"),
    ]
    done = workbench(
        "ab", *commands, "--predict", "0.2:0.05", "--seed", "1", "--max-blocks", "2", "-o", "run"
    )
    assert done.returncode == 4
    assert leaks(tmp_path / "run") == []
    assert "<redacted>" in (tmp_path / "run" / "manifest.json").read_text()

    alone = workbench("ab", "--resume", "run", "--max-blocks", "3")
    assert alone.returncode == 2
    assert "give the commands again" in alone.stderr

    again = workbench("ab", "--resume", "run", *commands, "--max-blocks", "4", "--json")
    assert again.returncode in (0, 4), again.stderr
    assert '"blocks": 4' in again.stdout
    assert leaks(tmp_path / "run") == []


def test_the_value_of_a_secret_variable_is_masked_in_kept_outputs(
    workbench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "SERVICE_API_KEY", SECRET)
    done = workbench("measure", "--trials", "3", "-o", "run", "--", "sh", "-c", "env; exit 1")
    assert done.returncode == 0, done.stderr
    assert leaks(tmp_path / "run") == []
    assert "*" * len(SECRET) in (tmp_path / "run" / "samples-w0.jsonl").read_text()
