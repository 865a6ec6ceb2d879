"""A worktree of any commit runs as it is, and says so; `git bisect run` finds the culprit."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import EXAMPLES, ROOT
from tests.local_engine import client, sessions
from tests.local_engine.commits import BF16, HICACHE, TRUTH, History
from tests.local_engine.servers import serve

_log = logging.getLogger(__name__)


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    return History(tmp_path_factory.mktemp("history"))


def test_an_old_commit_serves_and_says_which_one_it_is(history: History) -> None:
    tree = history.worktree("v0.1.0")
    with serve(tree, env=BF16) as url:
        code = asyncio.run(client.server_info(url))["code"]
        drawn = sessions.draw(4, turns=2)
        tally = asyncio.run(client.drive(url, drawn, in_flight=4, stream=True))
    assert (code["commit"], code["dirty"]) == (history.id("v0.1.0"), False)
    assert (code["package"], code["root"]) == ("minisgl", str(tree / "minisgl"))
    file = "mem_cache/pools.py"
    digest = hashlib.sha256((tree / "minisgl" / file).read_bytes()).hexdigest()
    assert code["files"][file] == digest
    assert (tally.wrong, tally.responses, tally.errors) == (0, 8, ())


def test_an_edited_worktree_says_so(history: History, tmp_path: Path) -> None:
    tree = tmp_path / "edited"
    shutil.copytree(history.worktree("main"), tree)
    pools = tree / "minisgl" / "mem_cache" / "pools.py"
    pools.write_text(pools.read_text() + "# a probe\n")
    with serve(tree) as url:
        code = asyncio.run(client.server_info(url))["code"]
    assert (code["commit"], code["dirty"]) == (history.id("main"), True)


def step(history: History, commit: str, vocabulary: Path, *options: str) -> tuple[int, str]:
    """Run the example's step on a commit; give its exit code and what it says."""
    done = subprocess.run(
        [sys.executable, EXAMPLES / "bisect_step.py", vocabulary, *options],
        cwd=history.worktree(commit),
        env={**os.environ, **BF16},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.fixture
def vocabulary(tmp_path: Path) -> Path:
    path = tmp_path / "vocabulary.txt"
    path.write_text((ROOT / "workbench/local_engine/vocabulary.txt").read_text(encoding="utf-8"))
    return path


def test_a_step_skips_what_does_not_start(history: History, vocabulary: Path) -> None:
    for name in TRUTH["does_not_start"]:
        code, said = step(history, name, vocabulary)
        assert (code, "the engine does not start" in said) == (125, True)


@pytest.mark.parametrize(("commit", "code"), [("gate", 0), ("ungate", 1)])
def test_a_step_tells_good_from_bad(history: History, vocabulary: Path, commit: str, code: int) -> None:
    got, said = step(history, commit, vocabulary, "--sessions", "32", "--turns", "3")
    assert got == code, said
    assert "of 96 answers are wrong" in said


@pytest.mark.quality
@pytest.mark.parametrize("world", ["world/race", "world/static"])
def test_full_dose_over_http(history: History, world: str) -> None:
    """The symptom is there over HTTP as it is in one process, and gone on main."""

    def drive(commit: str) -> client.Tally:
        with serve(history.worktree(commit), *HICACHE, env=BF16) as url:
            return asyncio.run(client.drive(url, sessions.draw(60), in_flight=60))

    broken, fixed = drive(world), drive("main")
    _log.info("%s: %s; main: %s", world, broken, fixed)
    least, most = TRUTH["worlds"][world]["rate"]
    assert least <= broken.wrong / 240 <= most
    assert (fixed.wrong, fixed.responses) == (0, 240)
    assert broken.errors == fixed.errors == ()


@pytest.mark.quality
def test_git_bisect_run_finds_the_commit_that_brought_the_symptom(
    history: History, tmp_path: Path
) -> None:
    done = subprocess.run(
        [EXAMPLES / "bisect-index-k.sh", tmp_path / "minisgl"],
        env={**os.environ, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    culprit = history.id(TRUTH["worlds"]["world/race"]["brought_out_by"])
    assert f"{culprit} is the first bad commit" in done.stdout
    assert "the engine does not start" in done.stderr  # it met the one commit that it must skip
