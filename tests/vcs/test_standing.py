"""Whether a change is in a tree, by content; what a checkout loses; that looking touches nothing."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.vcs.made import Made, lines, numbered, reverts_of
from workbench.model.commits import CommitStanding, Presence
from workbench.vcs.standing import standing

FIXED = {"l5": "the fixed line five", "l6": "the fixed line six", "l7": "the fixed line seven"}


@pytest.fixture
def made(tmp_path: Path) -> Made:
    made = Made(tmp_path / "code")
    made.commit("begin", {"a.py": numbered(30), "b.py": numbered(10)})
    return made


def stands(made: Made, named: str, at: str = "") -> CommitStanding:
    repository = made.open()
    reverts = reverts_of(repository, made.folder.parent / "cache")
    return standing(repository, reverts, named, repository.resolve(at or "HEAD"))


def fix(made: Made) -> str:
    """Commit a change of lines 5 to 7."""
    return made.commit("fix it", {"a.py": numbered(30, **FIXED)})


def presence(found: CommitStanding) -> Presence:
    """Give it; a problem is told where nothing could be."""
    assert bool(found.problem) is (found.presence is Presence.UNKNOWN), found
    return found.presence


def test_a_change_that_nobody_touched_is_there(made: Made) -> None:
    sha = fix(made)
    found = stands(made, sha[:9])
    assert presence(found) is Presence.LIVE
    assert found.commit is not None
    assert (found.commit.sha, found.commit.subject, found.named) == (sha, "fix it", sha[:9])
    (file,) = found.files
    assert (file.path, file.kept, file.restored, file.later) == ("a.py", 1.0, False, ())
    assert found.checkout_would_lose == ()
    assert found.taken_back_safely is True


def test_a_checkout_of_its_file_would_lose_what_came_later(made: Made) -> None:
    sha = fix(made)
    innocent = made.commit("innocent", {"a.py": numbered(30, **FIXED, l20="an innocent line")})
    made.commit("elsewhere", {"b.py": numbered(10, l1="elsewhere")})
    found = stands(made, sha)
    assert presence(found) is Presence.LIVE
    assert found.checkout_would_lose == (innocent,)
    assert found.taken_back_safely is True


def test_what_was_taken_back_since_is_not_lost_again(made: Made) -> None:
    sha = fix(made)
    other = made.commit("other", {"a.py": numbered(30, **FIXED, l20="another")})
    undone = made.revert(other, "no, not that")
    found = stands(made, sha)
    assert found.files[0].later == (other, undone)
    assert found.checkout_would_lose == ()


def test_a_file_that_the_change_made_takes_everything_with_it(made: Made) -> None:
    sha = made.commit("make it", {"new.py": numbered(5)})
    more = made.commit("add to it", {"new.py": numbered(6)})
    found = stands(made, sha)
    assert presence(found) is Presence.LIVE
    assert found.checkout_would_lose == (more,)
    assert found.taken_back_safely is False  # git does not delete what others have added to


@pytest.mark.parametrize(
    "edited",
    [
        "the fixed line five, and more of it",  # the line itself was edited
        "    the fixed line five",  # indented
        "the  fixed line five ",  # spaced
    ],
)
def test_a_change_that_was_edited_further_is_still_there(made: Made, edited: str) -> None:
    sha = fix(made)
    made.commit("edit it", {"a.py": numbered(30, **{**FIXED, "l5": edited})})
    assert presence(stands(made, sha)) is Presence.LIVE


def test_a_checkout_of_the_parents_file_takes_back_and_loses(made: Made) -> None:
    sha = fix(made)
    innocent = made.commit("innocent", {"a.py": numbered(30, **FIXED, l20="an innocent line")})
    made.git("checkout", "-q", f"{sha}^", "--", "a.py")
    restored = made.staged("mem: back to what worked")
    found = stands(made, sha)
    assert presence(found) is Presence.REVERTED
    assert found.files[0].restored
    assert found.checkout_would_lose == (innocent,)
    assert [match.commit for match in found.reverted_by] == [restored]
    assert found.taken_back_safely is None
    assert presence(stands(made, sha, restored + "^")) is Presence.LIVE


def test_a_reverse_of_its_diff_alone_loses_nothing(made: Made) -> None:
    sha = fix(made)
    innocent = made.commit("innocent", {"a.py": numbered(30, **FIXED, l20="an innocent line")})
    undone = made.revert(sha, "mem: that did not help")
    found = stands(made, sha)
    assert presence(found) is Presence.REVERTED
    assert not found.files[0].restored
    assert found.checkout_would_lose == ()
    assert [match.commit for match in found.reverted_by] == [undone]
    assert presence(stands(made, innocent)) is Presence.LIVE


def test_what_was_lost_and_made_again_is_not_lost(made: Made) -> None:
    sha = fix(made)
    both = numbered(30, **FIXED, l20="an innocent line")
    made.commit("innocent", {"a.py": both})
    made.git("checkout", "-q", f"{sha}^", "--", "a.py")
    made.staged("back")
    made.commit("innocent, again", {"a.py": numbered(30, l20="an innocent line")})
    found = stands(made, sha)
    assert presence(found) is Presence.REVERTED
    assert found.checkout_would_lose == ()


def test_a_reland_makes_it_live_again(made: Made) -> None:
    sha = fix(made)
    undone = made.revert(sha, f'Revert "fix it"\n\nThis reverts commit {sha}.')
    assert presence(stands(made, sha)) is Presence.REVERTED
    again = made.commit("fix it, with a test", {"a.py": numbered(30, **FIXED)})
    found = stands(made, sha)
    assert presence(found) is Presence.LIVE
    assert [match.commit for match in found.reverted_by] == [undone]
    assert presence(stands(made, sha, undone)) is Presence.REVERTED
    assert again in [match.commit for match in found.remade_by]


def test_half_of_a_change_is_partly_there(made: Made) -> None:
    sha = made.commit("two", {"a.py": numbered(30, l5="fixed five"), "b.py": numbered(10, l5="five")})
    made.commit("one is bad", {"b.py": numbered(10)})
    found = stands(made, sha)
    assert presence(found) is Presence.PARTLY
    assert [(file.path, file.presence) for file in found.files] == [
        ("a.py", Presence.LIVE),
        ("b.py", Presence.REVERTED),
    ]


def test_half_of_a_files_change_is_partly_there(made: Made) -> None:
    sha = made.commit("two", {"a.py": numbered(30, l5="fixed five", l25="fixed twenty-five")})
    made.commit("one is bad", {"a.py": numbered(30, l25="fixed twenty-five")})
    found = stands(made, sha)
    assert presence(found) is Presence.PARTLY
    assert 0.0 < found.files[0].kept < 1.0


def test_a_message_counts_for_nothing(made: Made) -> None:
    sha = fix(made)
    made.commit(
        f'Revert "fix it"\n\nThis reverts commit {sha}.', {"b.py": numbered(10, l3="something else")}
    )
    assert presence(stands(made, sha)) is Presence.LIVE


def test_a_commit_of_another_branch_is_absent(made: Made) -> None:
    made.git("checkout", "-q", "-b", "other")
    sha = fix(made)
    made.git("checkout", "-q", "main")
    found = stands(made, sha)
    assert presence(found) is Presence.ABSENT
    assert found.picked == ""
    assert presence(stands(made, "other", "other")) is Presence.LIVE


def test_a_cherry_pick_stands_for_it(made: Made) -> None:
    made.git("checkout", "-q", "-b", "other")
    sha = fix(made)
    made.git("checkout", "-q", "main")
    made.commit("meanwhile", {"a.py": numbered(30, l25="meanwhile")})
    made.git("cherry-pick", "--no-commit", sha)
    picked = made.staged("under another name")
    found = stands(made, sha)
    assert presence(found) is Presence.LIVE
    assert found.picked == picked
    made.revert(picked, "no")
    found = stands(made, sha)
    assert (presence(found), found.picked) == (Presence.REVERTED, picked)


def test_a_renamed_file_is_followed(made: Made) -> None:
    sha = fix(made)
    made.git("mv", "a.py", "renamed.py")
    made.staged("rename")
    found = stands(made, sha)
    assert presence(found) is Presence.LIVE
    assert [file.path for file in found.files] == ["renamed.py"]
    made.commit("undo", {"renamed.py": numbered(30)})
    assert presence(stands(made, sha)) is Presence.REVERTED


def test_a_rename_that_is_taken_back_is(made: Made) -> None:
    made.git("mv", "a.py", "renamed.py")
    sha = made.staged("rename")
    assert presence(stands(made, sha)) is Presence.LIVE
    made.revert(sha, "no")
    assert presence(stands(made, sha)) is Presence.REVERTED


def test_binary_files_are_told_by_their_ids(made: Made) -> None:
    made.commit("begin", {"x.bin": b"\0one" * 99})
    sha = made.commit("change", {"x.bin": b"\0two" * 99})
    assert presence(stands(made, sha)) is Presence.LIVE
    made.commit("other", {"x.bin": b"\0three" * 99})
    found = stands(made, sha)
    assert presence(found) is Presence.UNKNOWN
    assert "binary" in found.problem
    made.commit("back", {"x.bin": b"\0one" * 99})
    assert presence(stands(made, sha)) is Presence.REVERTED


def test_a_deletion_is_there_until_the_file_is_back(made: Made) -> None:
    sha = made.commit("delete", {"b.py": None})
    assert presence(stands(made, sha)) is Presence.LIVE
    made.commit("another of its name", {"b.py": lines("nothing", "of", "the", "old")})
    assert presence(stands(made, sha)) is Presence.LIVE
    made.commit("back, and edited", {"b.py": numbered(10, l1="edited")})
    assert presence(stands(made, sha)) is Presence.REVERTED


def test_a_file_that_has_gone_since_cannot_be_told(made: Made) -> None:
    sha = fix(made)
    made.commit("delete", {"a.py": None})
    found = stands(made, sha)
    assert presence(found) is Presence.UNKNOWN
    assert "gone" in found.problem


def test_modes_links_and_submodules(made: Made) -> None:
    (made.folder / "a.py").chmod(0o755)
    mode = made.commit("executable")
    (made.folder / "link").symlink_to("a.py")
    link = made.commit("link")
    entry = f"160000,{'1' * 40},sub"
    made.git("update-index", "--add", "--cacheinfo", entry)
    sub = made.staged("submodule")
    for sha in (mode, link, sub):
        assert presence(stands(made, sha)) is Presence.LIVE
    made.git("update-index", "--cacheinfo", f"160000,{'2' * 40},sub")
    made.git("update-index", "--chmod=-x", "a.py")
    made.staged("on")
    assert presence(stands(made, mode)) is Presence.REVERTED
    assert presence(stands(made, link)) is Presence.LIVE
    assert presence(stands(made, sub)) is Presence.UNKNOWN


def test_roots_and_merges_are_held_against_nothing_and_their_first_parent(made: Made) -> None:
    root = made.head
    assert presence(stands(made, root)) is Presence.LIVE
    made.git("checkout", "-q", "-b", "other")
    fix(made)
    made.git("checkout", "-q", "main")
    made.commit("meanwhile", {"b.py": numbered(10, l9="meanwhile")})
    made.git("merge", "-q", "--no-edit", "other")
    merge = made.head
    found = stands(made, merge)
    assert [file.path for file in found.files] == ["a.py"]
    assert presence(found) is Presence.LIVE
    made.commit("undo", {"a.py": numbered(30)})
    assert presence(stands(made, merge)) is Presence.REVERTED


def test_an_empty_commit_says_that_it_changes_nothing(made: Made) -> None:
    found = stands(made, made.staged("nothing"))
    assert presence(found) is Presence.UNKNOWN
    assert found.problem == "it changes no file"


def test_a_shallow_clone_says_what_it_cannot_tell(made: Made, tmp_path: Path) -> None:
    old = fix(made)
    new = made.commit("new", {"b.py": numbered(10, l2="new")})
    made.commit("newest", {"b.py": numbered(10, l2="new", l8="newest")})
    made.git("clone", "-q", "--depth=2", f"file://{made.folder}", str(tmp_path / "shallow"))
    shallow = Made(tmp_path / "shallow")
    for sha in (old, new):
        found = stands(shallow, sha)
        assert presence(found) is Presence.UNKNOWN
        assert "shallow" in found.problem or "no commit" in found.problem
    assert presence(stands(shallow, "HEAD")) is Presence.LIVE


def test_a_partial_clone_says_what_it_cannot_tell(made: Made, tmp_path: Path) -> None:
    sha = fix(made)
    made.commit("edit", {"a.py": numbered(30, l5="something else altogether")})
    made.git("config", "uploadpack.allowFilter", "true")
    made.git(
        *("clone", "-q", "--bare", "--filter=blob:none", f"file://{made.folder}"),
        str(tmp_path / "partial.git"),
    )
    there = Made(tmp_path / "there")  # only for its name; git is asked in the clone
    there.folder = tmp_path / "partial.git"
    found = stands(there, sha)
    assert presence(found) is Presence.UNKNOWN
    assert found.commit is not None


@pytest.mark.parametrize(
    "name",
    [
        *("--help", "-n1", "--output=evil", "--upload-pack=touch evil", "-", "--", "", " ", "\0", "\n"),
        *("HEAD\n--output=evil", "$(touch evil)", "`touch evil`; touch evil", ":/fix", "HEAD:a.py"),
        *("^HEAD", "HEAD..main", "--all", "@{-1}", "refs/../evil", "\ud800", "\x1b[31m", "HEAD^{tree}"),
        *("0" * 40, "f" * 64, "deadbeef", "HEAD^^^^^^", "a" * 5000),
    ],
)
def test_a_name_is_a_name_and_never_an_option(made: Made, name: str) -> None:
    fix(made)
    found = stands(made, name)
    if found.commit is None:
        assert found.presence is Presence.UNKNOWN
        assert found.problem.isprintable()
        assert len(found.problem) < 300
    else:  # a way to say a commit, which people may use
        assert name == ":/fix"
    assert not list(made.folder.parent.rglob("*evil*"))


def test_odd_paths_are_paths(made: Made) -> None:
    names = ["--output=evil", "-x", "new\nline", 'quote"d', "tab\tbed", ":(top)a.py", "*.py", " b "]
    sha = made.commit("odd", {name: numbered(8) for name in names})
    (made.folder / b"no-utf8-\xff".decode("utf-8", "surrogateescape")).write_text(numbered(8))
    more = made.commit("odder")
    found = stands(made, sha)
    assert presence(found) is Presence.LIVE
    assert {file.path for file in found.files} == set(names)
    assert stands(made, more).files[0].path == "no-utf8-\udcff"
    edited = made.commit("edit", {name: numbered(9) for name in names})
    found = stands(made, sha)
    assert presence(found) is Presence.LIVE
    assert found.checkout_would_lose == (edited,)
    made.revert(edited, "no")
    assert presence(stands(made, edited)) is Presence.REVERTED


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Give all files of a folder, with when they were written."""
    return {
        str(path.relative_to(folder)): (path.lstat().st_mtime_ns, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def test_looking_changes_nothing_of_the_repository(made: Made) -> None:
    sha = fix(made)
    made.commit("other", {"a.py": numbered(30, **{**FIXED, "l8": "near"})})
    made.write({"a.py": "staged\n"})
    made.git("add", "a.py")
    made.write({"a.py": "dirty\n", "untracked": "x\n"})
    made.git("stash")
    made.write({"a.py": "dirty again\n", "untracked": "x\n"})
    (made.folder / ".git" / "index.lock").touch()  # somebody is at work
    before = snapshot(made.folder)
    assert stands(made, sha).taken_back_safely is not None
    assert snapshot(made.folder) == before


def test_what_is_said_to_be_safe_git_does(made: Made) -> None:
    sha = fix(made)
    made.commit("other", {"a.py": numbered(30, **FIXED, l20="other")})
    assert stands(made, sha).taken_back_safely is True
    made.git("revert", "--no-commit", sha)
    made.git("reset", "-q", "--hard")
    made.commit("on it", {"a.py": numbered(30, **{**FIXED, "l5": "the fixed line five, edited"})})
    assert stands(made, sha).taken_back_safely is False
    with pytest.raises(AssertionError):
        made.git("revert", "--no-commit", sha)


WORDS = st.text("abcdefgh ", min_size=8, max_size=20).map(lambda text: f"{text} = value")


@settings(
    max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    change=st.dictionaries(st.integers(1, 8), WORDS, min_size=1, max_size=4),
    later=st.dictionaries(st.integers(20, 30), WORDS, min_size=1, max_size=4),
    way=st.sampled_from(["none", "diff", "checkout", "twice"]),
)
def test_what_was_planted_is_found(
    tmp_path_factory: pytest.TempPathFactory, change: dict[int, str], later: dict[int, str], way: str
) -> None:
    made = Made(tmp_path_factory.mktemp("planted") / "code")
    made.commit("begin", {"f.py": numbered(30)})
    new = {f"l{n}": f"{line} {n}" for n, line in change.items()}
    innocent = {f"l{n}": f"{line} {n}" for n, line in later.items()}
    sha = made.commit("change", {"f.py": numbered(30, **new)})
    between = made.commit("later", {"f.py": numbered(30, **new, **innocent)})
    if way in ("diff", "twice"):
        made.commit("x", {"f.py": numbered(30, **innocent)})
    if way == "checkout":
        made.commit("x", {"f.py": numbered(30)})
    if way == "twice":
        made.commit("y", {"f.py": numbered(30, **new, **innocent)})
    found = stands(made, sha)
    there = way in ("none", "twice")
    assert presence(found) is (Presence.LIVE if there else Presence.REVERTED)
    lost = {"none": (between,), "checkout": (between,), "diff": (), "twice": (between, made.head)}
    assert found.checkout_would_lose == lost[way]
    assert stands(made, between).presence is (Presence.REVERTED if way == "checkout" else Presence.LIVE)
    subprocess.run(
        ["git", "-C", str(made.folder), "fsck", "--no-dangling"], check=True, capture_output=True
    )
