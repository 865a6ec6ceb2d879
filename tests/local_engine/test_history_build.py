"""The builder, on a made-up engine: the same ids everywhere, and every tree as declared."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.local_engine import tiny
from workbench.local_engine.history import build as builder
from workbench.local_engine.history import refresh, shipped
from workbench.local_engine.history import series as declared
from workbench.local_engine.history.build import Built, build
from workbench.local_engine.history.git import GitError, git
from workbench.local_engine.history.series import Series, SeriesError

HEAD = "09f98dd27a570601f1f79386e435439f23cb2915"
LATE = "2da035942e58c9cd99fea6d1a8e2c5f3c8e5bb8f"


@pytest.fixture
def built(tmp_path: Path) -> Built:
    return build(tmp_path / "repo", tiny.SERIES, tiny.SHIPPED)


def files(repo: Path, commit: str) -> dict[str, str]:
    names = git(repo, "ls-tree", "-r", "-z", "--name-only", commit).split("\0")[:-1]
    return {name: git(repo, "show", f"{commit}:{name}") for name in names}


def test_ids_are_the_same_on_every_machine(built: Built) -> None:
    assert built.head == built.refs["main"] == HEAD
    assert built.refs["world/late"] == built.commits["later"] == LATE


def test_ids_do_not_depend_on_zone_user_or_umask(
    tmp_path: Path, built: Built, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Somebody")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2001-01-01T00:00:00Z")
    monkeypatch.setenv("GIT_DEFAULT_HASH", "sha256")
    before = os.umask(0o077)
    try:
        again = build(tmp_path / "again", tiny.SERIES, tiny.SHIPPED)
    finally:
        os.umask(before)
    assert again.commits == built.commits


def test_every_commit_has_its_tree_and_main_the_shipped_one(built: Built) -> None:
    repo = Path(built.path)
    for name, tree in declared.trees(tiny.SERIES, tiny.SHIPPED).items():
        assert files(repo, built.commits[name]) == tree
    assert files(repo, "main") == tiny.SHIPPED
    assert "minisgl/old.py" in files(repo, built.commits["words"])


def test_a_merge_has_two_parents_and_both_changes(built: Built) -> None:
    repo = Path(built.path)
    parents = git(repo, "log", "-1", "--format=%P", "main").split()
    assert parents == [built.commits["gate"], built.commits["extra"]]
    assert tiny.GATED not in files(repo, parents[1])["minisgl/pool.py"]
    assert tiny.EXTRA not in files(repo, parents[0])["minisgl/pool.py"]


def test_who_when_and_why_are_as_declared(built: Built) -> None:
    told = git(Path(built.path), "log", "-1", "--format=%an <%ae>|%cn|%aI|%cI|%B", "v0.1")
    who, committer, *dates, message = told.strip().split("|")
    assert (who, committer) == ("Otter <otter@minisgl.example>", "Otter")
    assert dates == ["2026-02-03T08:30:00+01:00"] * 2
    assert message == "pool: base\n\nBecause of ü."


def test_the_repository_is_sound_clean_and_ready_for_worktrees(built: Built, tmp_path: Path) -> None:
    repo = Path(built.path)
    git(repo, "fsck", "--strict")
    assert git(repo, "status", "--porcelain") == ""
    assert git(repo, "rev-parse", "0c16cace8^{commit}").strip() == built.head
    git(repo, "worktree", "add", "--quiet", "--detach", str(tmp_path / "tree"), "world/late")
    assert (tmp_path / "tree" / "minisgl" / "new.py").read_text() == "new = 1\n"
    assert (repo.stat().st_mode & 0o777) == 0o755


def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(FileExistsError):
        build(tmp_path, tiny.SERIES, tiny.SHIPPED)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_failed_build_leaves_nothing(tmp_path: Path) -> None:
    bad = replace(tiny.SERIES.commits[0], author="no address")
    series = replace(tiny.SERIES, commits=(bad, *tiny.SERIES.commits[1:]))
    with pytest.raises(GitError, match="fast-import"):
        build(tmp_path / "repo", series, tiny.SHIPPED)
    assert list(tmp_path.iterdir()) == []


def test_the_command_prints_ids(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert builder.main([str(tmp_path / "repo"), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["refs"]["main"] == printed["head"]
    assert builder.main([str(tmp_path / "repo")]) == 2
    assert "is not empty" in capsys.readouterr().err


def test_without_git_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert builder.main([str(tmp_path / "repo")]) == 2
    assert capsys.readouterr().err == "history: git is not installed\n"
    assert list(tmp_path.iterdir()) == []


def without(series: Series, name: str) -> Series:
    return replace(series, patches={key: text for key, text in series.patches.items() if key != name})


def test_an_edit_beside_the_patches_is_told_and_refreshed() -> None:
    edited = {**tiny.SHIPPED, "minisgl/pool.py": "first = 0\n" + tiny.SHIPPED["minisgl/pool.py"]}
    with pytest.raises(SeriesError, match=r"05-gate.patch: minisgl/pool.py: the text is not the one"):
        declared.trees(tiny.SERIES, edited)
    fresh = refresh.refresh(tiny.SERIES, edited)
    every = declared.trees(fresh, edited)
    assert every["merge-extra"] == edited
    assert all(tree["minisgl/pool.py"].startswith("first = 0\n") for tree in every.values())
    assert refresh.refresh(fresh, edited) == fresh


def test_an_edit_in_a_patched_place_needs_a_person() -> None:
    text = tiny.SHIPPED["minisgl/pool.py"].replace(tiny.GATED, "other()\n")
    edited = {**tiny.SHIPPED, "minisgl/pool.py": text}
    with pytest.raises(SeriesError, match=r"05-gate.patch: minisgl/pool.py:1: the patch does not fit"):
        refresh.refresh(tiny.SERIES, edited)


def test_an_up_to_date_series_is_not_touched() -> None:
    assert refresh.refresh(tiny.SERIES, tiny.SHIPPED) == tiny.SERIES


@pytest.mark.parametrize("name", tiny.SERIES.patches)
def test_a_patch_can_be_recorded_by_editing_its_tree(name: str) -> None:
    """The edited folder is the tree before on the main line, the tree after elsewhere."""
    every = declared.trees(tiny.SERIES, tiny.SHIPPED)
    lost = without(tiny.SERIES, name)
    start = dict(refresh.begin(lost, name, tiny.SHIPPED))
    edited = {
        "drop-old": {**start, "minisgl/old.py": "gone = 1\n"},
        "extra": every["gate"],
        "gate": {**start, "minisgl/pool.py": start["minisgl/pool.py"].replace(tiny.GATED, tiny.SLOW)},
        "late": every["late"],
        "later": every["later"],
    }[name]
    again = refresh.record(lost, name, tiny.SHIPPED, edited)
    assert declared.trees(refresh.refresh(again, tiny.SHIPPED), tiny.SHIPPED) == every


def test_patch_files_are_renumbered_and_stale_ones_removed(tmp_path: Path) -> None:
    (tmp_path / "patches").mkdir()
    (tmp_path / "patches" / "01-gate.patch").write_text(tiny.SERIES.patches["gate"])
    changed = refresh.save(tiny.SERIES, tmp_path)
    assert "01-gate.patch" in {file.name for file in changed}
    expected = [(3, "drop-old"), (4, "extra"), (5, "gate"), (7, "late"), (8, "later")]
    names = sorted(file.name for file in (tmp_path / "patches").iterdir())
    assert names == [f"{number:02}-{name}.patch" for number, name in expected]
    assert refresh.stale(tiny.SERIES, tmp_path) == []


def test_a_new_file_of_the_engine_must_be_added_by_some_commit() -> None:
    with pytest.raises(SeriesError, match=r"added by no commit: minisgl/new\.c"):
        declared.trees(tiny.SERIES, {**tiny.SHIPPED, "minisgl/new.c": ""})


TOML = """
[authors]
otter = "Otter <otter@minisgl.example>"
[[commit]]
name = "base"
author = "otter"
date = 2026-02-03T10:00:00+01:00
message = "all"
adds = ["*"]
"""


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('"otter"\n', '"badger"\n', "base: author.*badger"),
        ("adds", "add", "base: .*add"),
        ("+01:00", "", "base: date must have a time and a zone"),
        ('adds = ["*"]', 'on = "later"', "no commit"),
        ('adds = ["*"]', 'merges = "later"', "base: 'later' is not listed before it"),
        (
            "[[commit]]",
            '[[commit]]\nname = "x"\n[[commit]]',
            "x: date must have a time",
        ),
    ],
)
def test_a_series_that_makes_no_sense_says_why(tmp_path: Path, old: str, new: str, what: str) -> None:
    (tmp_path / "series.toml").write_text(TOML)
    assert declared.trees(declared.read(tmp_path), {"f": ""}) == {"base": {"f": ""}}
    (tmp_path / "series.toml").write_text(TOML.replace(old, new))
    with pytest.raises(SeriesError, match=what):
        declared.read(tmp_path)


def test_a_patch_out_of_place_is_named(tmp_path: Path) -> None:
    (tmp_path / "series.toml").write_text(TOML)
    (tmp_path / "patches").mkdir()
    (tmp_path / "patches" / "07-base.patch").write_text("")
    with pytest.raises(SeriesError, match=r"07-base.patch: .* it is 01-base.patch"):
        declared.read(tmp_path)
    (tmp_path / "patches" / "07-base.patch").rename(tmp_path / "patches" / "01-other.patch")
    with pytest.raises(SeriesError, match="patches of no commit: other"):
        declared.read(tmp_path)


def test_bytecode_and_the_history_itself_are_no_part_of_the_engine(tmp_path: Path) -> None:
    for name in ("a.py", "__pycache__/a.cpython-311.pyc", "history/build.py", "a.py.orig", "words.txt"):
        (tmp_path / "engine" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "engine" / name).write_text("")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "README.md").write_text("hello\n")
    tree = shipped.tree(tmp_path / "engine", tmp_path / "root")
    assert sorted(tree) == [".gitignore", "README.md", "minisgl/a.py", "minisgl/words.txt"]
