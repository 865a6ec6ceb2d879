"""Arms from commits and patches, by the real command: what runs, what is on record, what is refused."""

from __future__ import annotations

import importlib.util
import os
import py_compile
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.cli.campaigns import records, succeeded
from tests.cli.commits import FAILS, WORKS, Home
from tests.cli.test_processes import wait_for
from tests.conftest import ROOT, Workbench
from tests.vcs.trees import git
from workbench.store import RunView

QUIET = ("--seed", "7", "--json", "--display", "none")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # leases of its own
    monkeypatch.setenv("WORKBENCH_ACTOR", "ana")
    home = Home(tmp_path / "c")
    home.suspect()
    return home


def verdict_of(workbench: Workbench, home: Home, *words: str) -> dict[str, Any]:
    """Run the test, and give its verdict."""
    (found,) = records(workbench("test", "H1", *QUIET, *words, cwd=home.path))
    return found


def run_of(home: Home) -> RunView:
    return RunView.read(runs_of(home)[-1])


def runs_of(home: Home) -> list[Path]:
    return sorted((home.path / "runs").glob("*"))


def test_each_arm_is_run_from_its_commit_and_the_repository_is_left_alone(
    workbench: Workbench, home: Home
) -> None:
    home.tree.write("says.sh", "somebody is working on this\n")
    found = verdict_of(workbench, home)
    assert (found["verdict"], found["arms"]["treatment"]["hit"]) == ("present", 0)
    manifest = run_of(home).manifest
    for arm, name in (("control", "before"), ("treatment", "after")):
        code = manifest.fingerprints[arm].code
        assert code is not None
        assert (code.commit, code.dirty) == (home.shas[name], False)
        assert set(manifest.fingerprints[arm].files) == {"{checkout}/run.sh"}
    knob = manifest.plan.knobs["build"].options
    assert knob["levels"] == home.shas
    assert knob["named"] == {"before": "before", "after": "after"}
    assert (home.worktree("before") / "says.sh").read_text() == FAILS
    assert (home.worktree("after") / "says.sh").read_text() == WORKS
    assert (home.tree.path / "says.sh").read_text() == "somebody is working on this\n"
    succeeded(workbench("verify", cwd=home.path))
    told = succeeded(workbench("doctor", cwd=home.path))
    assert "checkouts" in told
    assert "2 in .workbench/worktrees/" in told


def test_stale_bytecode_makes_a_run_invalid_before_anything_is_sent(
    workbench: Workbench, home: Home
) -> None:
    verdict_of(workbench, home)
    planted = importlib.util.cache_from_source(str(home.worktree("after") / "lib.py"))
    py_compile.compile(
        str(home.worktree("before") / "lib.py"),
        cfile=planted,
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )
    home.suspect(prediction="0.6:removes")
    done = workbench("test", "H1", *QUIET, cwd=home.path)
    assert done.returncode == 5
    run = run_of(home)
    (guard,) = run.manifest.guards
    assert guard.name == "stale-bytecode"
    assert str(Path(planted).relative_to(home.path)) in guard.detail
    assert not [sample for sample in run.samples() if sample.exchange.key.session.arm == "treatment"]
    assert "stale bytecode" in workbench("explain", run.manifest.id, cwd=home.path).stdout


def test_a_branch_that_has_moved_is_another_test_and_a_resume_says_so(
    workbench: Workbench, home: Home
) -> None:
    home.write(knobs__build__levels={"before": "before", "after": "main"})
    first = verdict_of(workbench, home)
    assert "decided already" in workbench("test", "H1", "--display", "none", cwd=home.path).stderr
    moved = home.tree.commit("another fix", says__sh=f"# more\n{WORKS}")
    second = verdict_of(workbench, home)
    assert second["run"] != first["run"]
    levels = run_of(home).manifest.plan.knobs["build"].options["levels"]
    assert levels == {"before": home.shas["before"], "after": moved}
    assert not run_of(home).manifest.serves[0].earlier


def test_a_resume_goes_on_with_the_old_commit_and_says_so(workbench: Workbench, home: Home) -> None:
    home.write(knobs__build__levels={"before": "before", "after": "main"})
    old = home.tree.commit("no fix at all", says__sh=f"# the same\n{FAILS}")
    home.suspect(prediction="0.67:0.3")
    words = ("--max-blocks", "2", "--display", "none")
    assert workbench("test", "H1", "--seed", "7", *words, cwd=home.path).returncode == 4
    home.tree.commit("a fix", says__sh=WORKS)
    run = run_of(home).manifest.id
    done = workbench("test", "--resume", run, *words, cwd=home.path)
    assert f"knob build: main meant {old[:12]} when the run was planned" in done.stderr
    assert f"it goes on with {old[:12]}" in done.stderr
    manifest = run_of(home).manifest
    assert (manifest.id, manifest.openings) == (run, 2)
    code = manifest.fingerprints["treatment"].code
    assert code is not None
    assert code.commit == old


def test_a_patch_is_tested_by_what_it_is(workbench: Workbench, home: Home) -> None:
    git(home.tree.path, "checkout", "-q", "before")
    (home.path / "wait.patch").write_bytes(home.tree.patch("says.sh", WORKS))
    knob = {"kind": "patch", "levels": {"without": None, "with": "wait.patch"}}
    home.write(knobs__wait=knob)
    home.suspect(knob="wait", control="without", treatment="with")
    found = verdict_of(workbench, home)
    assert (found["verdict"], found["arms"]["treatment"]["hit"]) == ("present", 0)
    run = run_of(home)
    codes = {arm: each.code for arm, each in run.manifest.fingerprints.items()}
    assert {code.commit for code in codes.values() if code} == {home.shas["before"]}
    assert [list(code.patches) for code in codes.values() if code] == [[], ["wait.patch"]]
    assert f"+{WORKS}".encode() in (run.path / "dirty.patch").read_bytes()

    (home.path / "wait.patch").write_bytes(home.tree.patch("says.sh", f"# more\n{WORKS}"))
    again = verdict_of(workbench, home)
    assert again["run"] != found["run"]  # another one under the same name is another test
    assert (home.tree.path / "says.sh").read_text() == FAILS


def refused(workbench: Workbench, home: Home, code: int, *words: str) -> str:
    """Run a test that is refused; give what was said. Nothing has begun."""
    done = workbench("test", "H1", "--display", "none", *words, cwd=home.path)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert runs_of(home) == []
    return done.stderr


def test_a_patch_on_a_tree_that_is_not_its_commit_is_refused(workbench: Workbench, home: Home) -> None:
    (home.path / "wait.patch").write_bytes(home.tree.patch("says.sh", FAILS))
    home.write(knobs__wait={"kind": "patch", "levels": {"off": None, "on": "wait.patch"}})
    home.suspect(knob="wait", control="on", treatment="off")
    home.tree.write("says.sh", "somebody is working on this\n")
    said = refused(workbench, home, 2)
    assert "differs from it in says.sh" in said
    assert "name the commit by `onto`" in said
    home.write(
        knobs__wait={"kind": "patch", "onto": "main", "levels": {"off": None, "on": "wait.patch"}}
    )
    assert verdict_of(workbench, home)["verdict"] == "present"


def test_a_patch_that_does_not_fit_is_named(workbench: Workbench, home: Home) -> None:
    (home.path / "wait.patch").write_bytes(home.tree.patch("says.sh", FAILS))
    home.write(
        knobs__wait={"kind": "patch", "onto": "before", "levels": {"off": None, "on": "wait.patch"}}
    )
    home.suspect(knob="wait", control="off", treatment="on")
    said = refused(workbench, home, 3)
    assert "wait.patch: does not fit: patch failed: says.sh:" in said


@pytest.mark.parametrize("content", [None, b""], ids=["missing", "empty"])
def test_a_patch_that_is_not_there_is_named(
    content: bytes | None, workbench: Workbench, home: Home
) -> None:
    if content is not None:
        (home.path / "-x.patch").write_bytes(content)
    home.write(knobs__wait={"kind": "patch", "levels": {"off": None, "on": "-x.patch"}})
    home.suspect(knob="wait", control="off", treatment="on")
    said = refused(workbench, home, 2)
    assert f"-x.patch: {'is empty' if content == b'' else 'No such file'}" in said


@pytest.mark.parametrize(
    "revision",
    [
        "--output=pwned",
        "-h",
        "a\nb",
        "$(touch pwned)",
        "before..after",
        "\x1b[31m",
        "befor",
        "HEAD:says.sh",
    ],
    ids=range(8),
)
def test_a_revision_that_names_no_commit_is_refused(
    revision: str, workbench: Workbench, home: Home
) -> None:
    home.write(knobs__build__levels={"before": revision, "after": "after"})
    said = refused(workbench, home, 2)
    assert "no commit is named" in said
    assert "\x1b" not in said
    assert revision != "befor" or "did you mean 'before'" in said
    assert not list(home.path.rglob("pwned"))


def test_a_number_is_no_revision_without_quotes(workbench: Workbench, home: Home) -> None:
    home.write(knobs__build__levels={"before": 12345678, "after": "after"})
    assert "12345678 names no commit; write it in quotes" in refused(workbench, home, 2)


def test_a_campaign_without_a_repository_is_told_what_to_write(
    workbench: Workbench, home: Home
) -> None:
    home.write(repo="")
    assert "names no repository; add `repo: FOLDER`" in refused(workbench, home, 2)
    home.write(repo="elsewhere")
    assert "there is no folder" in refused(workbench, home, 2)


def test_a_build_that_fails_could_not_start(workbench: Workbench, home: Home) -> None:
    build = ["sh", "-c", "echo compiling; echo says.sh:1: no such thing >&2; exit 4"]
    home.write(knobs__build__build=build)
    said = refused(workbench, home, 3)
    assert "ended with exit code 4: compiling | says.sh:1: no such thing" in said
    assert ".workbench/logs/build/" in said


def test_a_build_is_done_once_for_all_runs(workbench: Workbench, home: Home) -> None:
    home.write(knobs__build__build=["sh", "-c", "echo built >> built.txt"])
    verdict_of(workbench, home)
    home.suspect(prediction="0.6:removes")
    verdict_of(workbench, home)
    built = list((home.path / ".workbench" / "worktrees").glob("*/built.txt"))
    assert [path.read_text() for path in built] == ["built\n"] * 2


def test_ctrl_c_ends_a_build_and_nothing_has_begun(home: Home, tmp_path: Path) -> None:
    told = tmp_path / "told"
    script = f"echo $$ > {told}.new; mv {told}.new {told}; exec sleep 600"
    home.write(knobs__build__build=["sh", "-c", script])
    process = subprocess.Popen(
        [sys.executable, "-m", "workbench", "test", "H1", "--display", "none"],
        cwd=home.path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(told)
    build = psutil.Process(int(told.read_text()))
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "nothing had been begun" in said
    assert psutil.wait_procs([build], timeout=60)[0]
    assert runs_of(home) == []


def test_a_worktree_that_somebody_has_changed_is_not_believed(workbench: Workbench, home: Home) -> None:
    verdict_of(workbench, home)
    (home.worktree("after") / "says.sh").write_text(FAILS)
    home.suspect(prediction="0.6:removes")
    done = workbench("test", "H1", "--display", "none", cwd=home.path)
    assert done.returncode == 3
    assert f"{home.worktree('after')}: somebody has changed says.sh" in done.stderr
    assert (home.worktree("after") / "says.sh").read_text() == FAILS


def test_code_that_changes_while_it_is_tested_makes_the_run_invalid(
    workbench: Workbench, home: Home
) -> None:
    home.tree.write("run.sh", "#!/bin/sh\necho '# more' >> says.sh\n").chmod(0o755)
    home.tree.commit()
    home.tree.tag("after")
    done = workbench("test", "H1", *QUIET, cwd=home.path)
    assert done.returncode == 5
    run = run_of(home)
    (guard,) = run.manifest.guards
    assert "code changed: tracked files differ from commit" in guard.detail
    assert b"+# more" in (run.path / "dirty.patch").read_bytes()


def test_an_arm_without_such_a_knob_has_the_code_of_the_repository_on_record(
    workbench: Workbench, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "correct-horse-battery-staple")
    env = {"kind": "env", "name": "FIXED", "levels": {"no": "0", "yes": "1"}}
    home.write(knobs__fixed=env)
    home.suspect(knob="fixed", control="no", treatment="yes")
    says = "KEY='correct-horse-battery-staple'\n[ $FIXED = 1 ]\n"
    home.tree.write("says.sh", says)
    home.tree.write("new.txt", "")
    found = verdict_of(workbench, home)
    assert found["verdict"] == "present"
    run = run_of(home)
    for each in run.manifest.fingerprints.values():
        assert each.code is not None
        assert (each.code.commit, each.code.dirty) == (home.shas["after"], True)
        assert "new.txt" in each.code.untracked
    patch = (run.path / "dirty.patch").read_text()
    assert "+KEY='<redacted>'" in patch
    for file in run.path.rglob("*"):
        assert not file.is_file() or b"correct-horse" not in file.read_bytes()

    home.tree.write("says.sh", f"{says}# an edit\n")  # is another test
    assert verdict_of(workbench, home)["run"] != found["run"]


def test_what_needs_no_code_does_not_look_into_git(workbench: Workbench, home: Home) -> None:
    """A campaign whose repository is damaged can still be read."""
    (home.tree.path / ".git" / "HEAD").write_text("damaged")
    for words in (("list",), ("status",), ("show", "H1"), ("check",)):
        succeeded(workbench(*words, cwd=home.path))
