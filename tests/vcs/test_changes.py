"""What a commit changes: lines as multisets, against an oracle that counts whole files."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.vcs.repositories import EXECUTABLE, SUBMODULE, SYMLINK, Content, Made, Story, git
from tests.vcs.test_git import HOSTILE_NAMES
from workbench.errors import GitError
from workbench.vcs import changes, entries, patches
from workbench.vcs.changes import Changes, FileChange


def changed(story: Story, tmp_path: Path) -> Changes:
    """Give what the last commit changes."""
    made = story.write(tmp_path / "repository")
    found = changes.changes_of(made.repository, made[-1])
    assert found is not None
    return found


def file(before: bytes | Content | None, after: bytes | Content | None, tmp_path: Path) -> FileChange:
    """Give how one file changes."""
    story = Story()
    story.commit("Begin", {"other": "x\n", **({"f": before} if before is not None else {})})
    story.commit("Change", {"f": after})
    return changed(story, tmp_path).files["f"]


def lines(content: bytes) -> Counter[bytes]:
    parts = content.split(b"\n")
    return Counter(parts[:-1] if not parts[-1] else parts)


# One line a time, and such as look like parts of a patch.
LINES = (
    *(b"a", b"b", b"c", b"", b"}", b"-- a", b"++ b", b"@@ -1 +1 @@", b"diff --git a/f b/f", b"+", b"-"),
    *(b"\\ No newline", b"Binary files a and b differ", b" ", b"\r", b"x\r", b"\xff\xfe", b"\t"),
)
LINE = st.sampled_from(LINES)
TEXT = st.tuples(st.lists(LINE, max_size=9), st.booleans()).map(
    lambda drawn: b"\n".join(drawn[0]) + (b"\n" if drawn[0] and drawn[1] else b"")
)


@settings(
    max_examples=60, database=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(st.lists(st.fixed_dictionaries({"f": TEXT, "g": TEXT}), min_size=2, max_size=6))
def test_lines_are_what_counting_whole_files_gives(states: list[dict[str, bytes]]) -> None:
    story = Story()
    for number, state in enumerate(states):
        story.commit(f"Commit {number}", state)
    with tempfile.TemporaryDirectory() as folder:
        made = story.write(Path(folder))
        found = changes.many(made.repository, made.shas)
        assert list(found) == list(made.shas)
        for number, change in enumerate(found.values()):
            assert change is not None
            assert change.parent == (made[number - 1] if number else None)
            for name in ("f", "g"):
                old = states[number - 1][name] if number else b""
                new = states[number][name]
                if number and old == new:
                    assert name not in change.files
                    continue
                got = change.files[name]
                assert got.removed == lines(old) - lines(new)
                assert got.added == lines(new) - lines(old)
                assert got.after is not None
                assert changes.lines_in(made.repository, got.after) == lines(new)
                assert entries.at(made.repository, made[number], [name])[name].id == got.after


def test_what_moves_within_a_file_is_no_line_of_it(tmp_path: Path) -> None:
    found = file(b"a\nb\nc\n", b"c\na\nb\n", tmp_path)
    assert (found.size, found.moved) == (0, True)


def test_an_end_without_a_line_end_is_not_seen(tmp_path: Path) -> None:
    found = file(b"a\nb\n", b"a\nb", tmp_path)
    assert (found.size, found.moved) == (0, True)


def test_line_ends_belong_to_lines(tmp_path: Path) -> None:
    found = file(b"a\nb\n", b"a\r\nb\r\n", tmp_path)
    assert found.removed == Counter({b"a": 1, b"b": 1})
    assert found.added == Counter({b"a\r": 1, b"b\r": 1})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"\0\1", b"\0\2"),
        (b"text\n", b"\0\2"),
        (b"\0\1", b"text\n"),
    ],
)
def test_binary_files_have_no_lines(before: bytes, after: bytes, tmp_path: Path) -> None:
    found = file(before, after, tmp_path)
    assert (found.binary, found.opaque, found.size, found.moved) == (True, True, 0, False)
    assert found.before != found.after


def test_permissions(tmp_path: Path) -> None:
    found = file(b"a\n", Content(b"a\n", EXECUTABLE), tmp_path)
    assert (found.mode_only, found.size, found.moved) == (True, 0, False)
    assert found.modes == ("100644", EXECUTABLE)


def test_a_link_is_the_line_that_it_holds(tmp_path: Path) -> None:
    found = file(b"a\n", Content(b"to/there", SYMLINK), tmp_path)
    assert found.removed == Counter([b"a"])
    assert found.added == Counter([b"to/there"])


def test_a_submodule_is_an_id(tmp_path: Path) -> None:
    found = file(Content(b"a" * 40, SUBMODULE), Content(b"b" * 40, SUBMODULE), tmp_path)
    assert (found.submodule, found.opaque, found.size, found.binary) == (True, True, 0, False)
    assert (found.before, found.after) == ("a" * 40, "b" * 40)


def test_files_that_come_go_and_are_empty(tmp_path: Path) -> None:
    story = Story()
    story.commit("Begin", {"gone": "a\n", "stays": "b\n"})
    story.commit("Change", {"gone": None, "comes": "c\n", "empty": b""})
    found = changed(story, tmp_path).files
    assert set(found) == {"gone", "comes", "empty"}
    assert (found["gone"].after, found["gone"].removed) == (None, Counter([b"a"]))
    assert (found["comes"].before, found["comes"].added) == (None, Counter([b"c"]))
    assert (found["empty"].size, found["empty"].moved) == (0, False)


def test_a_rename_that_keeps_all_tells_where_it_was(tmp_path: Path) -> None:
    story = Story()
    story.commit("Begin", {"old/a.py": "a\nb\n"})
    story.commit("Move", {"old/a.py": None, "new/a.py": "a\nb\n"})
    found = changed(story, tmp_path).files
    assert found["new/a.py"].old_path == "old/a.py"
    assert found["new/a.py"].added == found["old/a.py"].removed == Counter([b"a", b"b"])


@pytest.mark.parametrize(
    "name", [*HOSTILE_NAMES, "a/b c/d", '"', "diff --git a/x b/x", "\n\n", "x\n:100644 "]
)
def test_paths_of_any_bytes(name: str, tmp_path: Path) -> None:
    story = Story()
    story.commit("Begin", {"zz": "z\n", name: "a\n"})
    story.commit("Change", {"zz": "y\n", name: "b\n"})
    made = story.write(tmp_path / "repository")
    found = changes.changes_of(made.repository, made[1])
    assert found is not None
    assert set(found.files) == {"zz", name}
    assert found.files[name].added == Counter([b"b"])
    there = entries.at(made.repository, made[1], [name])[name]
    assert changes.lines_in(made.repository, there.id) == Counter([b"b"])
    only = changes.many(made.repository, [made[1]], paths=[name])[made[1]]
    assert only is not None
    assert set(only.files) == {name}


@pytest.mark.parametrize("path", ["", "/", "/etc/passwd", "../a", "a/../b", "sub", "sub/", "no", "."])
def test_no_path_of_a_file_no_file(path: str, tmp_path: Path) -> None:
    story = Story()
    story.commit("Begin", {"a": "x\n", "b": "x\n", "sub/c": "x\n"})
    made = story.write(tmp_path / "repository")
    try:
        found = entries.at(made.repository, made[0], [path])
    except GitError:  # git itself refuses what leads out of a tree
        return
    assert path not in found


def test_merges_are_held_against_their_first_parent(tmp_path: Path) -> None:
    story = Story()
    story.commit("Begin", {"a": "x\n"})
    story.commit("Side", {"b": "side\n"}, branch="side")
    story.commit("Main", {"a": "y\n"}, parents=[0])
    story.commit("Merge", {"b": "side\n"}, parents=[2, 1])
    found = changed(story, tmp_path)
    assert set(found.files) == {"b"}


def test_one_that_changes_nothing_has_no_files(tmp_path: Path) -> None:
    story = Story()
    story.commit("Begin")
    story.commit("Still nothing")
    made = story.write(tmp_path / "repository")
    assert [
        change.files if change else None for change in changes.many(made.repository, made.shas).values()
    ] == [
        {},
        {},
    ]


def test_what_the_user_and_the_tree_have_set_changes_nothing(hostile: Path, tmp_path: Path) -> None:
    story = Story()
    block = "".join(f"line {number}\n" for number in range(30))
    story.commit("Begin", {".gitattributes": "* -diff diff=shown filter=ran eol=crlf\n", "a.py": block})
    story.commit("Change", {"a.py": block.replace("line 3\n", "changed\n").replace("line 9\n", "")})
    story.commit("Sub", {"m": Content(b"a" * 40, SUBMODULE)})
    made = story.write(tmp_path / "repository", bare=False)
    found = changes.many(made.repository, made.shas)
    change = found[made[1]]
    assert change is not None
    assert change.files["a.py"].removed == Counter([b"line 3", b"line 9"])
    assert change.files["a.py"].added == Counter([b"changed"])
    last = found[made[2]]
    assert last is not None
    assert last.files["m"].submodule
    assert not hostile.exists()


def test_what_is_too_large_has_no_lines(tmp_path: Path) -> None:
    many = b"".join(b"line %d\n" % number for number in range(patches.MOST_LINES + 2))
    story = Story()
    story.commit("Begin", {"a": b"x\n", "b": b"x\n", "c": b"x\n"})
    story.commit("Grow", {"a": many, "b": b"y\n", "c": b"y" * (patches.MOST_BYTES + 1)})
    made = story.write(tmp_path / "repository")
    found = changes.changes_of(made.repository, made[1])
    assert found is not None
    assert (found.files["a"].too_large, found.files["a"].size) == (True, 0)
    assert found.files["c"].opaque
    assert found.files["b"].added == Counter([b"y"])
    assert found.files["c"].after is not None
    assert changes.lines_in(made.repository, found.files["c"].after) is None


def test_what_was_never_fetched_is_not_told(tmp_path: Path) -> None:
    story = Story()
    story.commit("Begin", {"a": "1\n"})
    story.commit("Nothing")
    for number in range(2, 9):
        story.commit(f"Commit {number}", {f"f{number}": f"{number}\n" * 5, "a": f"{number}\n"})
        story.commit("Nothing again")
    made = story.write(tmp_path / "repository")
    made.git("config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--bare", "--filter=blob:none", f"file://{made.folder}", "clone")
    clone = tmp_path / "clone"
    for number in (4, 8, 10):  # which fetches what these, and those that follow them, hold
        for path in git(clone, "ls-tree", "--name-only", made[number]).splitlines():
            git(clone, "cat-file", "-e", f"{made[number]}:{path}")
    repository = Made(clone, made.shas).repository
    found = changes.many(repository, made.shas)
    whole = changes.many(made.repository, made.shas)
    told = {made.number(sha) for sha, change in found.items() if change is not None}
    assert told >= {1, 3, 5, 7, 9, 10}
    assert told.isdisjoint({0, 2, 4, 6, 12, 14})
    for sha, change in found.items():
        assert change is None or change == whole[sha]
        assert changes.changes_of(repository, sha) == change


def test_where_the_history_is_cut_nothing_is_told(tmp_path: Path) -> None:
    story = Story()
    for number in range(4):
        story.commit(f"Commit {number}", {"a": f"{number}\n"})
    made = story.write(tmp_path / "repository")
    git(tmp_path, "clone", "-q", "--bare", "--depth=2", f"file://{made.folder}", "clone")
    repository = Made(tmp_path / "clone", made.shas).repository
    found = changes.many(repository, made.shas)
    assert [made.number(sha) for sha in found] == [2, 3]
    assert found[made[2]] is None
    assert found[made[3]] is not None


@pytest.mark.parametrize("sha", ["HEAD", "--stdin", "", "a" * 39, "a" * 40 + "\n"])
def test_only_whole_ids(sha: str, tmp_path: Path) -> None:
    story = Story()
    story.commit("Begin", {"a": "1\n"})
    repository = story.write(tmp_path / "repository").repository
    with pytest.raises(GitError):
        changes.changes_of(repository, sha)
    with pytest.raises(GitError):
        changes.lines_in(repository, sha)
    with pytest.raises(GitError):
        entries.at(repository, sha, ["a"])


def test_one_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    story = Story()
    story.commit("Begin", {"a": "1\n"})
    repository = story.write(tmp_path / "repository").repository
    with pytest.raises(GitError, match="there is no commit"):
        changes.changes_of(repository, "a" * 40)
    assert changes.many(repository, ["a" * 40]) == {}
