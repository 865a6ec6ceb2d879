"""Commits from the command line: put on record, held against the tree, and what is left over.

The campaign is about the generated history of the local engine, whose dead fix is a real one: it was
made for a class that is never built, and taken back by a commit that names no id.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.campaigns import begin, records, succeeded
from tests.conftest import ROOT, Workbench
from tests.vcs.made import Made, lines

FIX = "host_pool: size the index-key mirror by the device pool's dtype"
REVERT = f'Revert "{FIX}"'
INNOCENT = "host_pool: say which class mirrors a pool, and its item size"
PROBES = "log loads and early index reads under SGLANG_DEBUG_INDEX_K=1"
BEFORE_REVERT = "v0.3.1"
REQUIRED = {
    "commit",
    "hypotheses",
    "kind",
    "state",
    "was_dead",
    "reverted_by",
    "checkout_would_lose",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The history of the local engine."""
    folder = tmp_path_factory.mktemp("history") / "engine"
    build = [sys.executable, "-m", "workbench.local_engine.history.build", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    return folder


def shas(engine: Path) -> dict[str, str]:
    """Give the ids of its commits by their subjects."""
    said = subprocess.run(
        ["git", "log", "--all", "--format=%H %s"],
        cwd=engine,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return {subject: sha for sha, _, subject in (line.partition(" ") for line in said.splitlines())}


def about(home: Path, repo: Path) -> Path:
    """Let a campaign be about a repository."""
    file = home / "campaign.yaml"
    file.write_text(f"{file.read_text()}\nrepo: {json.dumps(str(repo))}\n")
    return home


@pytest.fixture
def home(workbench: Workbench, tmp_path: Path, engine: Path) -> Path:
    """A campaign whose first suspect fell, with the fix that was made because of it."""
    home = about(begin(workbench, tmp_path), engine)
    succeeded(workbench("link", "H1", "0c16cace8", "--as", "fix", "-m", "sizes the mirror"))
    succeeded(workbench("evidence", "H1", "--against", "-m", "that class is never built"))
    return home


def found(workbench: Workbench, *arguments: str) -> list[dict[str, Any]]:
    return records(workbench("commits", "--json", *arguments))


def test_a_dead_fix_is_dead_until_it_is_reverted(
    workbench: Workbench, home: Path, engine: Path
) -> None:
    (before,) = found(workbench, "--at", BEFORE_REVERT)
    assert list(before)[:7] == [*sorted(REQUIRED, key=list(before).index)]
    assert before["commit"] == shas(engine)[FIX]
    assert before["hypotheses"] == ["H1"]
    assert (before["kind"], before["state"], before["was_dead"]) == ("fix", "dead", False)
    assert before["reverted_by"] == []
    assert before["checkout_would_lose"] == [shas(engine)[INNOCENT]]
    assert before["safe"]["taken_back"] is True

    (now,) = found(workbench)
    assert (now["state"], now["was_dead"]) == ("reverted", True)
    (match,) = now["reverted_by"]
    assert (match["commit"], match["how"], match["coverage"]) == (shas(engine)[REVERT], "title", 1.0)
    assert {clue["how"] for clue in match["clues"]} == {"title", "patch-id", "lines"}
    assert now["checkout_would_lose"] == []  # it was taken back by its diff alone
    message = subprocess.run(
        ["git", "show", "--no-patch", "--format=%B", match["commit"]],
        cwd=engine,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert shas(engine)[FIX][:7] not in message


def test_the_words_for_it(workbench: Workbench, home: Path, engine: Path) -> None:
    known = shas(engine)
    before = succeeded(workbench("commits", "--at", BEFORE_REVERT))
    assert f"{known[FIX][:12]}  fix of H1: dead, effect unmeasured" in before
    assert "a checkout of its files would lose 1 later commit:" in before
    assert f"{known[INNOCENT][:12]}  {INNOCENT}" in before
    assert f"git revert --no-commit {known[FIX]}" in before
    now = succeeded(workbench("commits", "-v"))
    assert f"dead fix, reverted by {known[REVERT][:12]}" in now
    assert "patch-id: " in now
    shown = succeeded(workbench("show", "H1"))
    assert f"dead fix, reverted by {known[REVERT][:12]}" in " ".join(shown.split())
    for text in (before, now, shown.partition("commits, held against")[2]):
        assert text
        assert all(len(line) <= 80 for line in text.splitlines())


def test_a_revert_is_linked_and_says_what_it_takes_back(
    workbench: Workbench, home: Path, engine: Path
) -> None:
    succeeded(workbench("link", "H1", shas(engine)[REVERT][:9], "--as", "revert"))
    _, revert = found(workbench)
    assert revert["state"] == "live"
    assert revert["undoes"]["kind"] == "full"
    assert [each["commit"] for each in revert["undoes"]["commits"]] == [shas(engine)[FIX]]


def test_probes_that_were_left_are_listed(workbench: Workbench, home: Path, engine: Path) -> None:
    known = shas(engine)
    left = [each for each in found(workbench, "--check", "--since", "v0.3.0") if "path" in each]
    assert left
    assert {each["commit"] for each in left} == {known[PROBES]}
    assert not any(each["registered"] for each in left)
    paths = {each["path"] for each in left}
    assert {"minisgl/layers/indexer.py", "minisgl/managers/cache_controller.py"} <= paths
    for each in left:
        line = subprocess.run(
            ["git", "show", f"HEAD:{each['path']}"],
            cwd=engine,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.splitlines()[each["line"] - 1]
        assert line.startswith(each["text"])
        assert "debug" in line

    succeeded(workbench("link", "H1", known[PROBES], "--as", "instrument"))
    left = [each for each in found(workbench, "--check") if "path" in each]
    of_it = [each for each in left if each["commit"] == known[PROBES]]
    assert of_it
    assert all(each["hypothesis"] == "H1" and each["registered"] for each in of_it)


def test_tags_and_uncommitted_lines_are_listed(
    workbench: Workbench, home: Path, tmp_path: Path
) -> None:
    made = Made(tmp_path / "code")
    made.commit("begin", {"a.py": "print('as ever')\n", "b.py": "x = 1  # WB-PROBE H1\n"})
    made.write({"a.py": "print('as ever')\nbreakpoint()\n", "c.py": "y = 2  # WB-PROBE H77\n"})
    file = home / "campaign.yaml"
    file.write_text(file.read_text().rpartition("repo:")[0] + 'repo: "code"\n')
    left = [each for each in found(workbench, "--check") if "path" in each]
    assert [(each["path"], each["line"], each["hypothesis"], each["registered"]) for each in left] == [
        ("a.py", 2, "", False),
        ("b.py", 1, "H1", True),
        ("c.py", 1, "H77", False),
    ]
    assert [each["commit"] for each in left] == [None, made.head, None]
    said = succeeded(workbench("commits", "--check"))
    assert "a tag of H77, which is no hypothesis here; not committed" in said


def test_the_exit_code_tells_of_dead_ones_and_of_lines(workbench: Workbench, home: Path) -> None:
    assert workbench("commits", "--exit-code").returncode == 0  # it is reverted
    assert workbench("commits", "--exit-code", "--at", BEFORE_REVERT).returncode == 1
    assert workbench("commits", "--at", BEFORE_REVERT).returncode == 0
    assert workbench("commits", "--exit-code", "--check", "--since", "v0.3.0").returncode == 1
    assert workbench("commits", "--exit-code", "--check", "--since", "HEAD").returncode == 0


def test_one_commit_that_is_not_there_hides_no_other(
    workbench: Workbench, home: Path, engine: Path
) -> None:
    path = next((home / "hypotheses").glob("H01-*"))
    path.write_text(path.read_text() + "interventions: [{commit: deadbeef1, kind: fix}]\n")
    gone, there = found(workbench)
    assert (gone["commit"], gone["named"], gone["state"]) == (None, "deadbeef1", "dead")
    assert "no commit is named 'deadbeef1'" in gone["problem"]
    assert there["commit"] == shas(engine)[FIX]
    said = succeeded(workbench("commits"))
    assert "cannot be told: no commit is named 'deadbeef1'" in said


def test_a_link_records_the_whole_id_once(workbench: Workbench, home: Path, engine: Path) -> None:
    sha = shas(engine)[FIX]
    (event,) = [each for each in records(workbench("log", "--json")) if each["kind"] == "link"]
    assert event["body"]["commit"] == sha
    assert event["body"]["because"] == "sizes the mirror"
    again = workbench("link", "H1", sha[:8], "--as", "fix")
    assert (again.returncode, again.stdout) == (2, "")
    assert "already" in again.stderr
    (event,) = records(workbench("link", "h1", sha[:8], "--effect", "none", "--json"))
    assert (event["kind"], event["commit"]) == ("intervention", sha)
    (commit,) = found(workbench)
    assert (commit["state"], commit["effect"], commit["disputed"]) == ("reverted", "none", False)
    given = "hypothesis: H1\ncommit: v0.2.0\nrole: mitigation\nstate: planned\nbecause: perhaps\n"
    (home / "link.yaml").write_text(given)
    both = records(workbench("link", "--from", "link.yaml", "--by", "bot:agent", "--json"))
    assert [each["kind"] for each in both] == ["link", "intervention"]
    assert {each["who"] for each in both} == {"bot:agent"}


REFUSED = [
    (("H1", "nosuch", "--as", "fix"), "no commit is named 'nosuch'"),
    (("H1", "v0.9.0", "--as", "fix"), "did you mean 'v0."),
    (("H1", "--as", "fix"), "a link needs a hypothesis and a commit"),
    (("H1", "v0.2.0"), "what is that commit to H1?"),
    (("H9", "v0.2.0", "--as", "fix"), "H9"),
    (("H1", "v0.2.0", "--as", "cause", "--effect", "fixed"), "a cause is no intervention"),
    (("H1", "v0.2.0", "--as", "fix", "--planned", "--state", "live"), "not both"),
    (("H1", "--as", "fix", "--", "--help"), "no commit is named '--help'"),
    (("H1", "HEAD\n--output=evil", "--as", "fix"), "no commit is named"),
]


def test_a_link_that_cannot_be_is_refused_and_writes_nothing(workbench: Workbench, home: Path) -> None:
    log = (home / "hypotheses" / "events.jsonl").read_bytes()
    for arguments, said in REFUSED:
        done = workbench("link", *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
    assert (home / "hypotheses" / "events.jsonl").read_bytes() == log
    assert not list(home.rglob("evil*"))


def test_without_a_repository_whole_ids_can_be_linked_and_what_was_noted_holds(
    workbench: Workbench, tmp_path: Path
) -> None:
    begin(workbench, tmp_path)
    refused = workbench("link", "H1", "1a2b3c4d5", "--as", "fix")
    assert refused.returncode == 2
    assert "repo: PATH" in refused.stderr
    sha = "1a2b3c4d5e" * 4
    succeeded(workbench("link", "H1", sha, "--as", "fix", "--state", "live"))
    (shown,) = found(workbench)
    assert (shown["commit"], shown["state"], shown["seen"]) == (sha, "live", False)
    plain = workbench("commits")
    assert f"{sha[:12]}  fix of H1: live, effect unmeasured" in succeeded(plain)
    assert "git cannot be asked" in plain.stderr
    for strict in (["--check"], ["--exit-code"], ["--at", "HEAD"]):
        assert workbench("commits", *strict).returncode == 2
    assert "git cannot be asked" in succeeded(workbench("show", "H1"))
    assert succeeded(workbench("list"))


def test_where_nothing_is_linked_it_says_how(workbench: Workbench, tmp_path: Path) -> None:
    begin(workbench, tmp_path)
    assert "workbench link ID COMMIT --as fix" in succeeded(workbench("commits"))
    assert found(workbench) == []


def test_a_campaign_in_a_repository_is_about_that_one(workbench: Workbench, tmp_path: Path) -> None:
    made = Made(tmp_path)
    sha = made.commit("begin", {"a.py": lines("x = 1", "y = 2")})
    home = begin(workbench, tmp_path / "case")
    tag = "# WB-PROBE H1"
    (home / "campaign.yaml").write_text((home / "campaign.yaml").read_text() + f"{tag}\n")
    made.commit("the campaign")
    succeeded(workbench("link", "H1", sha[:10], "--as", "cause", cwd=home))
    (one,) = records(workbench("commits", "--json", "--check", cwd=home))  # its own files are no code
    assert (one["commit"], one["state"]) == (sha, "live")


def test_a_commit_has_its_address_where_that_is_known(workbench: Workbench, tmp_path: Path) -> None:
    made = Made(tmp_path)
    made.git("remote", "add", "origin", "https://user:secret@github.com/ana/engine.git")
    sha = made.commit("begin", {"a.py": "x = 1\n"})
    begin(workbench, tmp_path / "case")
    case = tmp_path / "case"
    succeeded(workbench("link", "H1", sha, "--as", "fix", cwd=case))
    address = f"https://github.com/ana/engine/commit/{sha}"
    (one,) = records(workbench("commits", "--json", cwd=case))
    assert one["link"] == address
    assert f"  {address}" in succeeded(workbench("commits", cwd=case)).splitlines()
    assert f"({address})" in succeeded(workbench("export", "--commits", cwd=case))
    assert address not in succeeded(workbench("export", cwd=case))


def test_what_a_repository_says_is_text(workbench: Workbench, tmp_path: Path) -> None:
    made = Made(tmp_path)
    evil = "\x1b[31m[link](javascript:x) <b> | `"
    first = made.commit(evil, {"a\x1b[2J\n.py": "x = 1\n"})
    made.commit(f'Revert "{evil}"', {"a\x1b[2J\n.py": None, "b\x07.py": "print('\x1b]0;x\x07')\n"})
    case = begin(workbench, tmp_path / "case")
    succeeded(workbench("link", "H1", first, "--as", "fix", cwd=case))
    for command in (("commits", "-v", "--check"), ("show", "H1"), ("export", "--commits")):
        said = succeeded(workbench(*command, cwd=case))
        assert all(line.isprintable() for line in said.splitlines()), command


def test_a_change_of_settings_is_linked_by_knob_and_level(workbench: Workbench, home: Path) -> None:
    succeeded(workbench("link", "H1", "cache=off", "--as", "mitigation", "--state", "live"))
    assert "mitigation cache=off: dead, effect unmeasured" in succeeded(workbench("show", "H1"))
    assert "setting cache=off" in succeeded(workbench("log", "H1"))
    assert [each["kind"] for each in found(workbench)] == ["fix"]  # the others are commits
    refused = workbench("link", "H1", "cache=of", "--as", "mitigation")
    assert refused.returncode == 2
    assert "knob cache has no level 'of'\n  did you mean 'off'?" in refused.stderr
    refused = workbench("link", "H1", "cash=off", "--as", "mitigation")
    assert "there is no knob 'cash'\n  did you mean 'cache'?" in refused.stderr
