"""The campaign of the template `local`, as its first lines say: two suspects that share a control."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.campaigns import succeeded
from tests.conftest import ROOT

pytestmark = pytest.mark.quality
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def run(words: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        cwd=cwd,
        env={**os.environ, "PATH": PATH, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )


def test_what_is_set_up_by_the_first_lines_shows_the_symptom_and_what_removes_it(
    tmp_path: Path,
) -> None:
    succeeded(run(["workbench", "init", "home", "--template", "local"], tmp_path))
    home = tmp_path / "home"
    steps = re.findall(r"^#   (.*)$", (home / "campaign.yaml").read_text(), re.MULTILINE)
    assert len(steps) == 2
    for step in steps:
        succeeded(run(shlex.split(step), home))
    done = run(["workbench", "test", "H1", "H2", "--seed", "1", "--json", "--display", "none"], home)
    assert done.returncode == 0, done.stdout + done.stderr
    said = {found["hypothesis"]: found for found in map(json.loads, done.stdout.splitlines())}
    assert {name: found["verdict"] for name, found in said.items()} == {
        "H1": "present",
        "H2": "present",
    }
    for name, found in said.items():
        assert found["guards"] == []
        assert found["arms"].keys() == {"control", f"treatment-{name}"}
        assert found["arms"][f"treatment-{name}"]["hit"] == 0
    assert said["H1"]["arms"]["control"] == said["H2"]["arms"]["control"]  # one arm, started once
