"""Copies of the worked example for tests: the record alone, with the engine's repository beside it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT
from workbench.campaign import demo


def copied(folder: Path, *, engine: bool = True) -> Path:
    """Copy the record into a folder, and build the repository that it speaks of."""
    campaign, _ = demo.prepare(folder)
    if engine:
        demo.build(campaign)
    return folder


def built(folder: Path) -> Path:
    """Build the engine's repository alone."""
    subprocess.run([sys.executable, "-m", demo.ENGINE, str(folder)], cwd=ROOT, check=True)
    return folder
