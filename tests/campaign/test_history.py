"""A campaign asks git of its commits: which repository, since when lines count, what is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.vcs.made import Made, numbered
from workbench.campaign.history import commit_id, history, history_or_problem, left_overs
from workbench.campaign.linking import LinkDraft, link
from workbench.campaign.registry import Campaign
from workbench.errors import GitError, UsageError
from workbench.model.commits import Presence
from workbench.model.event import Actor
from workbench.model.intervention import Effect, LinkRole
from workbench.report.commits import rows

ANA = Actor(name="ana")
SPEC = """\
schema: workbench/campaign@1
title: Sometimes it fails
symptoms: {fails: {classifier: exit_code, labels: [failed]}}
engines: {script: {lifecycle: command, argv: [./x]}}
workloads: {trials: {kind: command, sessions: 5}}
knobs: {cache: {kind: env, name: CACHE, levels: {"on": "1", "off": "0"}}}
"""
SUSPECT = """\
schema: workbench/hypothesis@1
id: H1
title: A suspect
"""


def begin(root: Path, repo: str = "") -> Campaign:
    """Make a campaign of one suspect."""
    (root / "hypotheses").mkdir(parents=True, exist_ok=True)
    (root / "campaign.yaml").write_text(SPEC + (f"repo: {repo}\n" if repo else ""))
    (root / "hypotheses" / "H01-a-suspect.yaml").write_text(SUSPECT)
    return Campaign(root)


def linked(campaign: Campaign, *commits: str, role: LinkRole = LinkRole.FIX) -> Campaign:
    """Link commits to the suspect; give the campaign as it is then."""
    for commit in commits:
        link(campaign, LinkDraft(hypothesis="H1", commit=commit, role=role), ANA)
    return Campaign(campaign.root)


@pytest.fixture
def code(tmp_path: Path) -> Made:
    made = Made(tmp_path / "code")
    made.commit("begin", {"a.py": numbered(30)})
    return made


def test_the_repository_is_named_from_the_campaigns_folder(code: Made, tmp_path: Path) -> None:
    sha = code.commit("fix", {"a.py": numbered(30, l5="fixed")})
    campaign = linked(begin(tmp_path / "deep" / "case", "../../code"), sha[:8])
    found = history(campaign)
    assert (found.at, found.name, found.facts) == (sha, "HEAD", ())
    assert found.commits[sha].presence is Presence.LIVE
    assert commit_id(campaign, "main") == sha


def test_without_one_it_is_the_one_around_it_and_its_own_files_are_no_code(code: Made) -> None:
    campaign = begin(code.folder)
    (code.folder / "hypotheses" / "notes.py").write_text("print('WB-PROBE H1')\n")
    (code.folder / "x.py").write_text("print('new')\n")
    assert [line.path for line in left_overs(campaign).lines] == ["x.py"]


def test_that_there_is_none_is_told_with_what_to_do(tmp_path: Path) -> None:
    campaign = begin(tmp_path / "case")
    assert history(campaign).commits == {}  # nothing is linked, so nothing is asked
    campaign = linked(campaign, "a" * 40)
    with pytest.raises(GitError) as caught:
        history(campaign)
    assert "repo: PATH" in caught.value.hint
    assert history_or_problem(campaign).problem == str(caught.value)
    with pytest.raises(UsageError):
        commit_id(campaign, "main")
    with pytest.raises(GitError):
        history(linked(begin(tmp_path / "other", "nowhere"), "a" * 40))


def test_what_is_kept_can_be_lost_or_damaged(code: Made, tmp_path: Path) -> None:
    sha = code.commit("fix", {"a.py": numbered(30, l5="fixed", l6="it", l7="all")})
    code.revert(sha, 'Revert "fix"')
    campaign = linked(begin(tmp_path / "case", "../code"), sha)
    first = history(campaign)
    assert first.commits[sha].reverted_by
    folder = campaign.root / ".workbench" / "git"
    (kept,) = folder.iterdir()
    for damage in (kept.read_bytes()[:40], b"", b"\0" * 999):
        kept.write_bytes(damage)
        assert history(campaign) == first
    kept.unlink()
    assert history(campaign) == first
    assert history(campaign) == first


def test_all_commits_that_are_named_have_their_subjects(code: Made, tmp_path: Path) -> None:
    sha = code.commit("fix", {"a.py": numbered(30, l5="fixed", l6="it", l7="all")})
    later = code.commit("later", {"a.py": numbered(30, l5="fixed", l6="it", l7="all", l25="x")})
    code.git("checkout", "-q", f"{sha}^", "--", "a.py")
    restored = code.staged("back to what was")
    found = history(linked(begin(tmp_path / "case", "../code"), sha))
    assert found.subjects == {later: "later", restored: "back to what was"}


def test_clones_say_what_they_are(code: Made, tmp_path: Path) -> None:
    code.commit("fix", {"a.py": numbered(30, l5="fixed")})
    url = f"file://{code.folder}"
    code.git("clone", "-q", "--depth=1", "--bare", url, str(tmp_path / "clone.git"))
    campaign = linked(begin(tmp_path / "case", "../clone.git"), "HEAD")
    found = history(campaign)
    assert found.facts == ("bare", "shallow")
    (standing,) = found.commits.values()
    assert standing.presence is Presence.UNKNOWN
    assert not left_overs(campaign).uncommitted


def test_lines_count_as_added_since_before_the_first_linked_commit(code: Made, tmp_path: Path) -> None:
    code.commit("old print", {"old.py": "print('old')\n"})
    before = code.head
    first = code.commit("first", {"x.py": "print('x')\n"})
    second = code.commit("second", {"y.py": "print('y')\n"})
    campaign = linked(begin(tmp_path / "case", "../code"), second, first)
    found = left_overs(campaign)
    assert (found.since, [line.path for line in found.lines]) == (before, ["x.py", "y.py"])
    assert [line.path for line in left_overs(campaign, since=first).lines] == ["y.py"]
    assert left_overs(campaign, at=before).lines == ()
    root = code.git("rev-list", "--max-parents=0", "HEAD")
    everything = left_overs(linked(campaign, root))
    assert [line.path for line in everything.lines] == ["old.py", "x.py", "y.py"]
    with pytest.raises(GitError):
        left_overs(campaign, since="nosuch")


def test_linked_commits_of_side_branches_count_from_where_they_left(code: Made, tmp_path: Path) -> None:
    before = code.head
    code.git("checkout", "-q", "-b", "side")
    side = code.commit("side", {"x.py": "print('x')\n"})
    code.git("checkout", "-q", "main")
    main = code.commit("main", {"y.py": "print('y')\n"})
    code.git("merge", "-q", "--no-edit", "side")
    campaign = linked(begin(tmp_path / "case", "../code"), side, main)
    assert left_overs(campaign).since == before


def test_an_instruments_lines_are_registered(code: Made, tmp_path: Path) -> None:
    sha = code.commit("watch", {"x.py": "print('x')\n"})
    campaign = linked(begin(tmp_path / "case", "../code"), sha, role=LinkRole.INSTRUMENT)
    (line,) = left_overs(campaign).lines
    assert (line.hypothesis, line.registered, line.commit) == ("H1", True, sha)


def test_a_commit_by_two_names_is_one(code: Made, tmp_path: Path) -> None:
    sha = code.commit("fix", {"a.py": numbered(30, l5="fixed")})
    code.git("tag", "the-fix")
    campaign = begin(tmp_path / "case", "../code")
    file = campaign.root / "hypotheses" / "H01-a-suspect.yaml"
    file.write_text(f"{SUSPECT}interventions: [{{commit: the-fix, kind: fix}}]\n")
    campaign = Campaign(campaign.root)
    (event,) = link(campaign, LinkDraft(hypothesis="H1", commit=sha[:8], effect=Effect.NONE), ANA)
    campaign = Campaign(campaign.root)
    assert campaign.registry.problems == ()
    assert event.kind == "intervention"
    (row,) = rows(campaign.registry, history(campaign))
    assert (row.change.sha, row.change.effect, row.change.state) == (sha, "none", "live")
