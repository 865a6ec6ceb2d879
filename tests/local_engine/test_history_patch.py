"""Unified diffs: what is rendered is read back, reversed, and told from what has drifted."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.local_engine.history import patch
from workbench.local_engine.history.git import git
from workbench.local_engine.history.patch import Drifted, PatchError

LINES = st.lists(st.sampled_from(["a", "b", "", "+x", "-y", "@@ -1 +1 @@", "ü\x0c\u2028"]), max_size=12)
TEXTS = LINES.map(lambda lines: "".join(f"{line}\n" for line in lines))
TREES = st.dictionaries(st.sampled_from(["a.py", "b/c d.py", "ü.txt"]), TEXTS, max_size=3)

OLD = {"f": "".join(f"{number}\n" for number in range(20))}
NEW = {"f": OLD["f"].replace("10\n", "ten\n")}


@settings(deadline=None)
@given(old=TREES, new=TREES)
def test_a_rendered_patch_leads_there_and_back(old: dict[str, str], new: dict[str, str]) -> None:
    steps = patch.parse(patch.render(old, new))
    assert patch.apply(old, steps) == new
    assert patch.apply(new, patch.reverse(steps)) == old
    assert patch.reverse(patch.reverse(steps)) == steps


@settings(deadline=None, max_examples=20)
@given(old=TREES, new=TREES)
def test_git_reads_it_the_same_way(
    tmp_path_factory: pytest.TempPathFactory, old: dict[str, str], new: dict[str, str]
) -> None:
    folder = tmp_path_factory.mktemp("tree")
    for path, text in old.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(text.encode())
    text = patch.render(old, new)
    if text:
        git(folder, "apply", "--whitespace=nowarn", "-", stdin=text.encode())
    files = (file for file in folder.rglob("*") if file.is_file())
    assert {file.relative_to(folder).as_posix(): file.read_bytes().decode() for file in files} == new


def test_blob_ids_are_those_of_git(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("grün\n", encoding="utf-8")
    assert git(tmp_path, "hash-object", "--no-filters", "f").strip() == patch.blob_id("grün\n")


def test_a_patch_follows_its_lines_and_is_then_called_drifted() -> None:
    steps = patch.parse(patch.render(OLD, NEW))
    moved = {"f": "new\n" + OLD["f"]}
    assert patch.apply(moved, steps, exact=False) == {"f": "new\n" + NEW["f"]}
    with pytest.raises(Drifted, match="f: the text is not the one"):
        patch.apply(moved, steps)


def test_context_may_differ_at_the_edges_if_the_patch_need_not_be_exact() -> None:
    steps = patch.parse(patch.render(OLD, NEW))
    near = {"f": OLD["f"].replace("8\n", "eight\n", 1).replace("13\n", "thirteen\n")}
    assert patch.apply(near, steps, exact=False) == {"f": near["f"].replace("10\n", "ten\n")}
    with pytest.raises(PatchError, match="does not fit"):
        patch.apply(near, steps)


def test_of_equal_places_the_nearest_is_taken() -> None:
    block = "a\nb\nc\nd\n"
    old = {"f": "x\n" * 3 + block + "y\n" * 9 + block}
    new = {"f": old["f"][: -len(block)] + "a\nB\nc\nd\n"}
    steps = patch.parse(patch.render(old, new))
    assert patch.apply({"f": "x\n" + old["f"]}, steps, exact=False) == {"f": "x\n" + new["f"]}


@pytest.mark.parametrize(
    ("tree", "what"),
    [
        ({"f": OLD["f"].replace("10\n", "X\n")}, "f:8: the patch does not fit"),
        ({}, "f: missing"),
        ({"f": "no end"}, "f: no newline at the end"),
    ],
)
def test_what_does_not_fit_says_where(tree: dict[str, str], what: str) -> None:
    with pytest.raises(PatchError, match=what):
        patch.apply(tree, patch.parse(patch.render(OLD, NEW)), exact=False)


def test_a_new_file_must_not_be_there() -> None:
    with pytest.raises(PatchError, match="f: already there"):
        patch.apply(OLD, patch.parse(patch.render({}, OLD)), exact=False)


IDS = f"index {'1' * 40}..{'2' * 40} 100644"
START = f"diff --git a/f b/f\n{IDS}\n--- a/f\n+++ b/f\n"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("diff --git a/f b/g\n", "line 1 .*renames"),
        ("diff --git a/f b/f\nindex 12..34\n", "line 2 .*full blob ids"),
        (f"diff --git a/f b/f\n{IDS}\n--- a/f\n--- b/f\n", r"line 4 .*'\+\+\+ '"),
        (START + "@@ 1 @@\n", "line 5 .*a hunk"),
        (START + "@@ -1 +1 @@\n-a\n", "line 7 .*a line of the"),
        (START + "@@ -1 +1 @@\n-a\n-b\n+c\n", "more lines than"),
        (
            START + "@@ -1 +1 @@\n-a\n+b\n c\n",
            "line 8 .*next file",
        ),
    ],
)
def test_a_malformed_patch_says_where(text: str, what: str) -> None:
    with pytest.raises(PatchError, match=what):
        patch.parse(text)


def test_what_stands_before_the_first_file_is_a_comment() -> None:
    assert patch.parse("why\nand how\n" + patch.render(OLD, NEW)) == patch.parse(patch.render(OLD, NEW))


def test_git_runs_without_anybodys_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other"
    subprocess.run(["git", "init", "--quiet", other], check=True)
    settings_file = tmp_path / "settings"
    settings_file.write_text("[user]\n\tname = Somebody\n")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings_file))
    own = tmp_path / "own"
    own.mkdir()
    git(own, "init", "--quiet")
    assert git(own, "rev-parse", "--show-toplevel").strip() == str(own)
    assert "user.name" not in git(own, "config", "--list")
