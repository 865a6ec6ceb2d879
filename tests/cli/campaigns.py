"""Campaigns for tests of the command line: made by `workbench init`, as a user makes one."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.conftest import Workbench

WAITING = """#!/bin/sh
# Says that it is up, and waits for leave to go on.
[ -e go ] || echo up >> up
while [ ! -e go ]; do sleep 0.02; done
exec ./repro.sh
"""


def succeeded(done: subprocess.CompletedProcess[str]) -> str:
    """Give what a command printed; fail when it did."""
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def records(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    """Give the JSON lines that a command printed."""
    return [json.loads(line) for line in succeeded(done).splitlines()]


def begin(workbench: Workbench, folder: Path, *, script: str = "") -> Path:
    """Make a campaign of a folder; with `script`, that is what it tests."""
    succeeded(workbench("init", str(folder)))
    if script:
        path = folder / "script.sh"
        path.write_text(script)
        path.chmod(0o755)
        text = (folder / "campaign.yaml").read_text()
        (folder / "campaign.yaml").write_text(text.replace("[./repro.sh]", "[./script.sh]"))
    return folder
