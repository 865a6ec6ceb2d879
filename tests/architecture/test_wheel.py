"""A wheel is whole: the code, the templates, the engine's past, the worked example."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "installed")
    return folder / "installed"


def test_files_of_every_kind_come_along(unpacked: Path) -> None:
    package = unpacked / "workbench"
    for kept in ("*.py", "*.txt", "*.json", "*.patch", "*.toml", "*.yaml", "*.sh", "*.md"):
        here = {path.relative_to(ROOT) for path in (ROOT / "workbench").rglob(kept)}
        there = {path.relative_to(unpacked) for path in package.rglob(kept)}
        assert here <= there, kept


def test_the_worked_example_comes_along(unpacked: Path) -> None:
    said = subprocess.run(
        [sys.executable, "-P", "-c", "from workbench.store import example; print(example.source())"],
        cwd=unpacked,
        env={**os.environ, "PYTHONPATH": str(unpacked)},
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    assert Path(said) == unpacked / "workbench/example"
    for path in (ROOT / "hypotheses").glob("*.yaml"):
        assert (Path(said) / "hypotheses" / path.name).read_bytes() == path.read_bytes()
    assert not (Path(said) / "runs").exists()
