"""A copy of the worked example, with its runs: a campaign as a notebook opens it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.conftest import ROOT
from workbench.notebook import Campaign


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("example")
    for name in ("hypotheses", "runs"):
        shutil.copytree(ROOT / name, home / name)
    shutil.copy2(ROOT / "campaign.yaml", home)
    return home


@pytest.fixture
def campaign(example: Path) -> Campaign:
    return Campaign(example)
