"""The template `local`, followed to the letter: the engine's past, its symptom, and noise alone."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.quality.servers import ENVIRONMENT, record, run_of, workbench
from workbench.model.run import Fingerprint

pytestmark = pytest.mark.quality


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign made by `init`, and the steps that its file names, done."""
    folder = tmp_path_factory.mktemp("local") / "campaign"
    made = workbench(folder.parent, "init", "--template", "local", str(folder))
    assert made.returncode == 0, made.stderr
    steps = re.findall(r"^#   ((?:python|git) .*)$", (folder / "campaign.yaml").read_text(), re.M)
    assert len(steps) == 2
    for step in steps:
        subprocess.run(
            shlex.split(step), cwd=folder, env=ENVIRONMENT, check=True, capture_output=True, timeout=120
        )
    return folder


def starts(folder: Path) -> list[Fingerprint]:
    """Give what was found of the starts of the newest run; each was read back and loaded."""
    found = list(run_of(folder).fingerprints())
    for each in found:
        assert each.start is not None
        assert each.start.load is not None
        assert each.start.readbacks
        assert all(reading.ok for reading in each.start.readbacks)
    return found


def test_bf16_keys_garble_calls_and_fp8_keys_do_not(home: Path) -> None:
    done = workbench(home, "test", "H1", "--json", "--display", "none")
    assert done.returncode == 0, done.stderr
    told = record(done)
    print("bf16 against fp8:", told["arms"], told["blocks"], "blocks", told["seconds"], "s")
    assert told["verdict"] == "present"
    assert told["prediction"] == "held"
    assert told["guards"] == []
    assert told["arms"]["treatment"]["hit"] == 0
    found = starts(home)
    assert {each.arm for each in found} == {"control", "treatment"}
    for each in found:
        assert each.start is not None
        assert each.start.load is not None
        assert each.start.load.client_peak == each.start.load.server_peak == 60
        assert each.start.load.served == each.start.load.requests == 240
        (exposed,) = each.start.exposure
        assert exposed.ok
        assert float(exposed.found) > 100
    explained = workbench(home, "explain", told["run"]).stdout
    assert "ok  exposure hicache_loaded_pages_total" in explained
    assert "60 in flight asked, 60 sent at once" in explained


def test_two_equal_arms_with_the_gate_are_told_to_be_equal(home: Path) -> None:
    """The engine as it is shipped: with its gate nothing is garbled in either arm."""
    subprocess.run(["git", "checkout", "-q", "main"], cwd=home / "engine", check=True)
    settings = ["--set", "index_k=bf16", "--set", "hicache=on", "--symptom", "garbled"]
    done = workbench(
        home, "measure", *settings, "--twice", "--max-blocks", "1", "--json", "--display", "none"
    )
    assert done.returncode == 0, done.stderr
    told = record(done)
    print("gate on against gate on:", told["arms"], told["seconds"], "s")
    assert told["guards"] == []  # two equal arms that were asked for as such
    assert told["verdict"] not in ("present", "invalid")
    assert [arm["hit"] for arm in told["arms"].values()] == [0, 0]
    assert len(starts(home)) == 2
