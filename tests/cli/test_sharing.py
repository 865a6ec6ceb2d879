"""Two people in worktrees of one campaign both add the next hypothesis, and merge with plain git."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.cli.campaigns import begin, records, succeeded
from tests.conftest import Workbench

IDENTITY = ("-c", "user.name=Ana", "-c", "user.email=ana@example.org", "-c", "commit.gpgsign=false")


def git(home: Path, *arguments: str) -> None:
    subprocess.run(["git", *IDENTITY, *arguments], cwd=home, check=True, capture_output=True)


def committed(home: Path, message: str) -> None:
    git(home, "add", "-A")
    git(home, "commit", "-m", message)


def test_a_merge_keeps_all_and_a_clash_of_ids_is_named_and_mended(
    workbench: Workbench, tmp_path: Path
) -> None:
    home = begin(workbench, tmp_path / "ana")
    git(home, "init", "-b", "main")
    committed(home, "Begin")
    git(home, "worktree", "add", "-b", "bob", str(tmp_path / "bob"))
    other = tmp_path / "bob"
    for place, who in ((home, "ana"), (other, "bob")):
        as_them = {"WORKBENCH_ACTOR": who}
        test = ("--predict", "0.3:removes", "--control", "cache=on", "--treatment", "cache=off")
        succeeded(workbench("new", f"What {who} suspects", *test, cwd=place, env=as_them))
        succeeded(workbench("evidence", "H2", "--for", "-m", f"{who} saw it", cwd=place, env=as_them))
        succeeded(workbench("evidence", "H1", "--neutral", "-m", f"by {who}", cwd=place, env=as_them))
        succeeded(workbench("test", "H2", "--seed", "7", "--display", "none", cwd=place, env=as_them))
        committed(place, f"What {who} did")
    git(home, "merge", "--no-edit", "bob")

    named = workbench("check", cwd=home)
    assert named.returncode == 2
    assert "hypotheses/H02-what-ana-suspects.yaml:2:5: H2 is also the id of" in named.stdout
    assert "hypotheses/H02-what-bob-suspects.yaml:2:5: H2 is also the id of" in named.stdout
    assert "workbench renumber H2 hypotheses/H02-what-bob-suspects.yaml" in named.stdout
    succeeded(workbench("verify", cwd=home))

    moved = "hypotheses/H02-what-bob-suspects.yaml"
    (done,) = records(workbench("renumber", "H2", moved, "--json", cwd=home))
    assert (done["to"], done["file"]) == ("H3", "hypotheses/H03-what-bob-suspects.yaml")
    assert len(done["runs"]) == 1
    succeeded(workbench("check", cwd=home))
    succeeded(workbench("verify", cwd=home))

    for id, who in (("H2", "ana"), ("H3", "bob")):
        (shown,) = records(workbench("show", id, "--json", cwd=home))
        assert shown["title"] == f"What {who} suspects"
        assert shown["state"] == "supported"
        assert {item["who"] for item in shown["evidence"]} == {who}
    runs = records(workbench("runs", "--json", cwd=home))
    assert sorted(run["hypotheses"] for run in runs) == [["H2"], ["H3"]]


def test_two_writers_each_claim_test_and_rule_a_suspect(workbench: Workbench, tmp_path: Path) -> None:
    """Neither sees the other before the merge; both their states stand after it."""
    home = begin(workbench, tmp_path / "ana")
    pair = ("--control", "cache=on", "--treatment", "cache=on,retry=on")
    test = ("--predict", "0.3:removes", *pair)
    succeeded(workbench("new", "The retry is what mends it", *test, cwd=home))
    git(home, "init", "-b", "main")
    committed(home, "Begin")
    other = tmp_path / "bob"
    git(home, "worktree", "add", "-b", "bob", str(other))
    for place, who, id, role in ((home, "ana", "H1", "cause"), (other, "bob", "H2", "not-a-defect")):
        as_them = {"WORKBENCH_ACTOR": who}
        succeeded(workbench("claim", id, "--for", "2h", cwd=place, env=as_them))
        succeeded(workbench("test", id, "--seed", "7", "--display", "none", cwd=place, env=as_them))
        ruled = ("rule", id, "--role", role, "--because", f"{who} ran it")
        succeeded(workbench(*ruled, cwd=place, env=as_them))
        committed(place, f"What {who} found")
    git(home, "merge", "--no-edit", "bob")

    succeeded(workbench("check", cwd=home))
    succeeded(workbench("verify", cwd=home))
    for id, who, state, role in (
        ("H1", "ana", "supported", "cause"),
        ("H2", "bob", "falsified", "not-a-defect"),
    ):
        (shown,) = records(workbench("show", id, "--json", cwd=home))
        assert (shown["state"], shown["role"]) == (state, role)
        assert [ruling["who"] for ruling in shown["rulings"]] == [who]
        assert {"claim"} == {each["kind"] for each in shown["noted"] if each["who"] == who}
    claimed = records(workbench("status", "--json", cwd=home))[0]["claimed"]
    assert {(each["hypothesis"], each["who"]) for each in claimed} == {("H1", "ana"), ("H2", "bob")}
