"""What all tests share: where the examples are, and a way to run the command as a user does."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import settings

from tests.warm.client import ROOT as ROOT
from tests.warm.client import Warm

EXAMPLES = ROOT / "examples"

# how long an example takes says how busy the machine is
settings.register_profile("workbench", deadline=None)
settings.load_profile("workbench")

Workbench = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def flaky() -> str:
    """The command that fails with the probability given as its argument, by its seed alone."""
    return str(EXAMPLES / "flaky.sh")


@pytest.fixture(scope="session")
def warm() -> Iterator[Warm]:
    """A server that forks commands off, which spares each of them its imports."""
    with closing(Warm({**os.environ, "PYTHONPATH": str(ROOT)})) as server:
        yield server


@pytest.fixture
def workbench(warm: Warm, tmp_path: Path) -> Workbench:
    """Run `workbench ARGUMENTS` in an empty folder, as a process of its own."""

    def run(
        *arguments: str,
        cwd: Path = tmp_path,
        env: Mapping[str, str] | None = None,
        timeout: float = 120.0,
    ) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100", **(env or {})}
        return warm.run(arguments, cwd=cwd, env=environment, timeout=timeout)

    return run
