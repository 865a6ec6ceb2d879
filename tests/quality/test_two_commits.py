"""Two commits of the local engine, without and with its gate, each run from a worktree of its own."""

from __future__ import annotations

import importlib.util
import py_compile
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.quality.servers import ENVIRONMENT, record, run_of, workbench

pytestmark = pytest.mark.quality
GATE = "v0.4.0"  # the commit that lets the indexer wait; the one before it does not
CHANGED = "minisgl/mem_cache/pools.py"
KNOB = f"""knobs:
  build:
    kind: commit
    levels: {{removed: {GATE}^, in: {GATE}}}
"""
SETTINGS = "index_k=bf16,hicache=on"


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign of the template `local`, with the engine's past beside it as it was built."""
    folder = tmp_path_factory.mktemp("commits") / "campaign"
    made = workbench(folder.parent, "init", "--template", "local", str(folder))
    assert made.returncode == 0, made.stderr
    build = [sys.executable, "-m", "workbench.local_engine.history.build", "engine"]
    subprocess.run(build, cwd=folder, env=ENVIRONMENT, check=True, capture_output=True, timeout=120)
    file = folder / "campaign.yaml"
    file.write_text(file.read_text().replace("knobs:\n", KNOB, 1))
    return folder


@pytest.fixture(scope="module")
def commits(home: Path) -> dict[str, str]:
    """The commit of each arm."""
    engine = home / "engine"
    return {
        "control": git(engine, "rev-parse", f"{GATE}^"),
        "treatment": git(engine, "rev-parse", GATE),
    }


def suspect(home: Path, title: str, prediction: str) -> str:
    arms = f"--control build=removed,{SETTINGS} --treatment build=in,{SETTINGS}"
    words = f"--symptom garbled --predict {prediction} {arms}"
    made = workbench(home, "new", title, *shlex.split(words))
    assert made.returncode == 0, made.stderr
    return made.stdout.split()[0]


def test_the_gate_is_the_cause_and_each_arm_ran_its_own_commit(
    home: Path, commits: dict[str, str]
) -> None:
    name = suspect(home, "The indexer reads pages that have not landed", "0.4:removes")
    done = workbench(home, "test", name, "--json", "--display", "none")
    assert done.returncode == 0, done.stderr
    told = record(done)
    print("gate removed against gate in:", told["arms"], told["blocks"], "blocks", told["seconds"], "s")
    assert told["verdict"] == "present"
    assert told["prediction"] == "held"
    assert told["guards"] == []
    assert told["arms"]["treatment"]["hit"] == 0

    run = run_of(home)
    found = list(run.fingerprints())
    assert {each.arm for each in found} == commits.keys()
    for each in found:
        sha = commits[each.arm]
        worktree = home / ".workbench" / "worktrees" / sha[:12]
        assert each.code is not None
        assert (each.code.commit, each.code.dirty, each.code.untracked) == (sha, False, ())
        assert each.start is not None
        assert all(reading.ok for reading in each.start.readbacks)
        for component in ("router", "prefill", "decode"):
            assert each.config[f"{component} info code.commit"] == sha
            assert each.config[f"{component} info code.root"] == str(worktree / "minisgl")
            told_of = {
                reading.source: reading.found
                for reading in each.start.readbacks
                if reading.about == "knob build" and reading.source.endswith(f" of {component}")
            }
            assert told_of[f"process of {component}"] == "{checkout}"
            assert told_of[f"server_info code.commit of {component}"] == sha
            assert "all the same" in told_of[f"server_info code.files.* of {component}"]
    levels = run.manifest.plan.knobs["build"].options["levels"]
    assert levels == {"removed": commits["control"], "in": commits["treatment"]}
    explained = workbench(home, "explain", told["run"]).stdout
    assert f"server_info code.commit of prefill is {commits['treatment']}" in explained

    assert git(home / "engine", "branch", "--show-current") == "main"  # nobody has touched it
    assert git(home / "engine", "status", "--porcelain") == ""


def test_bytecode_of_the_commit_before_is_named_and_nothing_is_believed(
    home: Path, commits: dict[str, str]
) -> None:
    """Without the guard the gate would be read in the source, and its absence run."""
    name = suspect(home, "The same with bytecode that somebody has left there", "0.3:removes")
    before, after = (home / ".workbench" / "worktrees" / commits[arm][:12] / CHANGED for arm in commits)
    assert before.read_bytes() != after.read_bytes()
    planted = importlib.util.cache_from_source(str(after))
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(
        str(before), cfile=planted, dfile=str(after), invalidation_mode=mode, doraise=True
    )

    done = workbench(home, "test", name, "--json", "--display", "none")
    assert done.returncode == 5, done.stderr
    told = record(done)
    assert told["verdict"] == "invalid"
    (guard,) = told["guards"]
    assert guard["name"] == "stale-bytecode"
    assert str(Path(planted).relative_to(home)) in guard["detail"]
    assert "made from another source" in guard["detail"]
    assert set(told["arms"]["treatment"].values()) == {0}  # nothing was sent to it
    assert "stale bytecode" in workbench(home, "explain", told["run"]).stdout
