"""Two clones of a campaign under real git: both add a hypothesis of the same number, then merge."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.store.examples import AT_ONCE
from workbench.model.event import Actor, Bearing, EvidenceGiven, Grade, Proposed, Source
from workbench.store.allocate import add_hypothesis, ids_of_files
from workbench.store.eventlog import EventLog
from workbench.store.layout import LOG_FILE
from workbench.store.renumber import renumber

ANA, BEN = Actor(name="ana"), Actor(name="ben", agent=True)
pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def git(where: Path, *arguments: str) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@localhost", *arguments],
        cwd=where,
        env={**clean, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def commit(where: Path, message: str) -> None:
    git(where, "add", "-A")
    git(where, "commit", "-q", "-m", message)


def add(root: Path, slug: str, by: Actor) -> tuple[str, str]:
    return add_hypothesis(
        root,
        lambda id: (slug, f"schema: workbench/hypothesis@1\nid: {id}\ntitle: {slug}\n"),
        by,
        AT_ONCE,
    )


def evidence(root: Path, id: str, by: Actor) -> str:
    body = EvidenceGiven(
        grade=Grade.ARGUED, bears={id: Bearing.FOR}, source=Source(text=f"{by.name} says so")
    )
    return EventLog(root, AT_ONCE).append(body, by).id


def two_clones(tmp_path: Path, attributes: str = f"{LOG_FILE} merge=union\n") -> tuple[Path, Path]:
    """Make a campaign with H1 to H5, and a clone of it."""
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    git(one, "init", "-q", "-b", "main")
    (one / ".gitattributes").write_text(attributes)
    (one / ".gitignore").write_text(".workbench/\n")
    for place in range(1, 6):
        add(one, f"suspect-{place}", ANA)
    commit(one, "begin")
    git(tmp_path, "clone", "-q", str(one), str(other))
    return one, other


def test_branches_that_both_appended_merge_without_loss(tmp_path: Path) -> None:
    one, other = two_clones(tmp_path)
    followed = EventLog(one, AT_ONCE)
    assert len(followed.read().events) == 5
    mine = [evidence(one, "H5", ANA), add(one, "host-mirror", ANA)[0], evidence(one, "H6", ANA)]
    commit(one, "ana")
    git(one, "branch", "mine")
    theirs = [evidence(other, "H5", BEN), add(other, "router-room", BEN)[0], evidence(other, "H6", BEN)]
    commit(other, "ben")
    assert mine[1] == theirs[1] == "H6"

    git(one, "pull", "-q", "--no-rebase", str(other), "main")
    git(other, "pull", "-q", "--no-rebase", str(one), "mine")  # the other side merges by itself

    here, there = EventLog(one).read(), EventLog(other).read()
    assert here.problems == there.problems == ()
    assert here.events == there.events  # whatever order the lines stand in
    assert (one / LOG_FILE).read_bytes() != (other / LOG_FILE).read_bytes()
    assert followed.read() == here
    assert len(here.events) == 11
    assert len(here.heads) == 2
    clashing = [file for file, id in ids_of_files(one).items() if id == "H6"]
    assert clashing == ["hypotheses/H06-host-mirror.yaml", "hypotheses/H06-router-room.yaml"]

    change = renumber(one, "H6", "hypotheses/H06-router-room.yaml", ANA, AT_ONCE)
    assert change.to == "H7"
    mended = EventLog(one).read()
    assert mended.problems == ()
    assert len(mended.heads) == 1
    assert mended.events[-1].prev == here.heads
    bodies = {each.id: each.body for each in mended.events}
    assert getattr(bodies[mine[2]], "bears", {}).keys() == {"H6"}
    assert getattr(bodies[theirs[2]], "bears", {}).keys() == {"H7"}
    assert getattr(bodies[mine[0]], "bears", {}).keys() == {"H5"}
    proposed = {
        each.body.hypothesis: each.body.file
        for each in mended.events
        if isinstance(each.body, Proposed)
    }
    assert proposed["H6"] == "hypotheses/H06-host-mirror.yaml"
    assert proposed["H7"] == "hypotheses/H07-router-room.yaml"
    assert sorted(ids_of_files(one).values()) == [f"H{place}" for place in range(1, 8)]

    commit(one, "mend")
    git(other, "pull", "-q", "--no-rebase", str(one), "main")
    assert EventLog(other).read() == mended
    assert ids_of_files(other) == ids_of_files(one)


def test_without_the_union_driver_the_conflict_is_named_and_nothing_is_lost(tmp_path: Path) -> None:
    one, other = two_clones(tmp_path, attributes="")
    evidence(one, "H5", ANA)
    commit(one, "ana")
    evidence(other, "H5", BEN)
    commit(other, "ben")
    with pytest.raises(AssertionError, match="CONFLICT"):
        git(one, "pull", "-q", "--no-rebase", str(other), "main")
    log = EventLog(one, AT_ONCE)
    found = log.read()
    assert len(found.events) == 7
    assert len(found.heads) == 2
    assert {problem.what for problem in found.problems} == {"a conflict marker of git"}
    path = one / LOG_FILE
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(line for line in lines if line.startswith(b"{")))  # as the hint says
    assert log.read().problems == ()
    assert log.read().events == found.events


def test_a_branch_that_is_checked_out_and_back_is_followed(tmp_path: Path) -> None:
    one, _ = two_clones(tmp_path)
    log = EventLog(one, AT_ONCE)
    git(one, "checkout", "-q", "-b", "side")
    evidence(one, "H5", ANA)
    commit(one, "side")
    assert len(log.read().events) == 6
    git(one, "checkout", "-q", "main")
    assert len(log.read().events) == 5
    last = log.append(EvidenceGiven(grade=Grade.ARGUED, bears={"H1": Bearing.FOR}), ANA)
    assert last.seq == 6
    assert log.read() == EventLog(one).read()
    commit(one, "main")
    git(one, "merge", "-q", "side")
    assert len(log.read().events) == 7
    assert log.read().problems == ()
