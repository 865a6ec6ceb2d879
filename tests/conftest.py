"""What all tests share: where the examples are, and a way to run the command as a user does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"

# how long an example takes says how busy the machine is
settings.register_profile("workbench", deadline=None)
settings.load_profile("workbench")

Workbench = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def flaky() -> str:
    """The command that fails with the probability given as its argument, by its seed alone."""
    return str(EXAMPLES / "flaky.sh")


@pytest.fixture
def workbench(tmp_path: Path) -> Workbench:
    """Run `workbench ARGUMENTS` in an empty folder, as a process of its own."""

    def run(
        *arguments: str,
        cwd: Path = tmp_path,
        env: Mapping[str, str] | None = None,
        timeout: float = 120.0,
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "workbench", *arguments],
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100", **(env or {})},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    return run
