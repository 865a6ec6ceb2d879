"""Does it find it? In each world of the engine the deciding tests come out as its cause demands.

The campaign is the worked example's, with another commit for the system as it was found. The tests know
the cause (`tests/local_engine/truth.json`), and nothing that they run does.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.campaigns import records, succeeded
from tests.conftest import ROOT, Workbench
from tests.example.copies import copied

pytestmark = pytest.mark.quality

TRUTH = json.loads((ROOT / "tests/local_engine/truth.json").read_text())["worlds"]
QUIET = ("--seed", "1", "--json", "--display", "none")
FALLS = {"falsified", "prediction-refuted"}


def world(folder: Path, name: str, *, rate: str = "0.4", peak: int = 54) -> Path:
    """Give the campaign with another world as it was found, and its fix as what is gated."""
    home = copied(folder)
    file = home / "campaign.yaml"
    text = file.read_text()
    assert "found: world/race" in text
    text = text.replace("found: world/race", f"found: {name}")
    file.write_text(text.replace("gated: v0.4.0 ", "gated: main "))
    for path in (home / "hypotheses").glob("*.yaml"):
        text = path.read_text().replace("at_least: 54", f"at_least: {peak}")
        path.write_text(text.replace("{control: 0.4, removes", f"{{control: {rate}, removes"))
    return home


def judged(workbench: Workbench, home: Path, *words: str) -> dict[str, dict[str, Any]]:
    """Run one test of several suspects, and give their verdicts."""
    done = workbench("test", *words, *QUIET, cwd=home, timeout=900)
    assert done.returncode in (0, 4), done.stderr
    return {each["hypothesis"]: each for each in map(json.loads, done.stdout.splitlines())}


def found(workbench: Workbench, home: Path, title: str, symptom: str, *arms: str) -> str:
    """Add a suspect that says that the system as found fails and the fixed one does not."""
    test = ("--control", arms[0], "--treatment", arms[1], "--predict", "0.3:removes")
    given = ("new", title, "--symptom", symptom, "--workload", arms[2], *test, "--json")
    (new,) = records(workbench(*given, cwd=home))
    return str(new["id"])


def test_a_wrong_copy_fails_one_request_at_a_time_as_well(workbench: Workbench, tmp_path: Path) -> None:
    """World `static`: HiCache is needed, and load is not, which rules a race out."""
    home = world(tmp_path / "static", "world/static", peak=20)
    said = judged(workbench, home, "H4", "H7", "--sessions", "24", "-j", "24")
    assert said["H4"]["verdict"] == "present"
    assert said["H7"]["verdict"] in FALLS
    assert TRUTH["world/static"]["cause"] == "half-mirror"


def test_a_load_that_meets_writes_goes_with_the_cache(workbench: Workbench, tmp_path: Path) -> None:
    """World `fence`: one call in ten or fewer, and none without HiCache."""
    home = world(tmp_path / "fence", "world/fence", rate="0.1")
    said = judged(workbench, home, "H4")
    assert said["H4"]["verdict"] == "present"
    assert TRUTH["world/fence"]["cause"] == "early-load"


def test_what_loses_the_plot_needs_neither(workbench: Workbench, tmp_path: Path) -> None:
    """World `plot`: a symptom of its own, which bf16 keys do not bring and the fixed engine has not."""
    home = world(tmp_path / "plot", "world/plot")
    fixed = found(
        workbench,
        home,
        "Places are kept in half precision",
        "lost_plot",
        "build=found,index_k=bf16,hicache=off",
        "build=gated,index_k=bf16,hicache=off",
        "long",
    )
    said = judged(workbench, home, "H21", fixed, "--sessions", "40", "-j", "40")
    assert said[fixed]["verdict"] == "present"
    assert said["H21"]["verdict"] in FALLS
    succeeded(workbench("verify", cwd=home))
