"""Commits, listed and read: any history, any bytes, any clock."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest

from tests.vcs.repositories import BEGINNING, Made, Story, git
from tests.vcs.test_git import HOSTILE_NAMES
from workbench.errors import GitError
from workbench.vcs import history


def forked() -> Story:
    """Two roots, a merge, and a side branch that goes on."""
    story = Story()
    story.commit("Begin\n\nFirst line of more.\n\nAnd last.\n", {"a.py": "one\n"})
    story.commit("On the side", {"b.py": "one\n"}, branch="side")
    story.commit("On main", {"a.py": "two\n"}, parents=[0])
    story.commit("Merge branch 'side'", {"b.py": "one\n"}, parents=[2, 1])
    story.commit("Another root", {"c.py": "one\n"}, parents=[], branch="other")
    story.commit("Bring it in", {"c.py": "one\n"}, parents=[3, 4])
    story.commit("Go on at the side", {"b.py": "two\n"}, parents=[1], branch="side")
    return story


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return forked().write(tmp_path / "repository")


def numbers(made: Made, **wanted: object) -> list[int]:
    found = history.commits(made.repository, made[5], **wanted)  # type: ignore[arg-type]
    return [made.number(commit.sha) for commit in found]


def test_all_that_a_tip_reaches_the_newest_first(made: Made) -> None:
    assert numbers(made) == [5, 4, 3, 2, 1, 0]
    assert numbers(made, limit=2) == [5, 4]
    assert numbers(made, limit=0) == numbers(made, limit=-1) == []
    assert numbers(made, first_parent=True) == [5, 3, 2, 0]
    assert numbers(made, since=made[2]) == [5, 4, 3, 1]
    assert numbers(made, since=made[6]) == [5, 4, 3, 2]


def test_those_that_touch_a_path(made: Made) -> None:
    assert numbers(made, paths=["a.py"]) == [2, 0]
    assert numbers(made, paths=["b.py", "c.py"]) == [4, 1]
    assert numbers(made, paths=["not there"]) == []


def test_a_merge_touches_what_it_takes_from_no_parent(tmp_path: Path) -> None:
    story = Story()
    story.commit("Begin", {"a.py": "one\n", "b.py": "one\n"})
    story.commit("Side", {"a.py": "side\n"}, branch="side")
    story.commit("Main", {"a.py": "main\n"}, parents=[0])
    story.commit("Merge, in a way of its own", {"a.py": "both\n"}, parents=[2, 1])
    story.commit("Side again", {"b.py": "two\n"}, parents=[1], branch="side")
    story.commit("Merge", {"b.py": "two\n"}, parents=[3, 4])
    made = story.write(tmp_path / "repository")
    found = history.commits(made.repository, made[5], paths=["a.py"])
    assert [made.number(commit.sha) for commit in found] == [3, 2, 1, 0]
    limited = history.commits(made.repository, made[5], paths=["a.py"], limit=2)
    assert [made.number(commit.sha) for commit in limited] == [3, 2]
    assert [
        made.number(sha) for sha in history.between(made.repository, made[0], made[5], ["b.py"])
    ] == [4]


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_paths_are_taken_at_their_word(name: str, tmp_path: Path) -> None:
    story = Story()
    story.commit("Begin", {"x.py": "one\n"})
    story.commit("Have it", {name: "one\n"})
    made = story.write(tmp_path / "repository")
    found = history.commits(made.repository, made[1], paths=[name])
    assert [commit.sha for commit in found] == [made[1]]
    assert history.between(made.repository, made[0], made[1], [name]) == (made[1],)
    assert not list(tmp_path.rglob("*trap*"))


def test_all_of_a_commit(made: Made) -> None:
    found = history.commit(made.repository, made[3])
    assert found.parents == (made[2], made[1])
    assert (found.sha, found.author, found.subject, found.body) == (
        made[3],
        "Ana",
        "Merge branch 'side'",
        "",
    )
    assert found.at == datetime.fromtimestamp(BEGINNING + 180, UTC)
    first = history.commit(made.repository, made[0])
    assert first.parents == ()
    assert first.body == "First line of more.\n\nAnd last.\n"


def test_many_at_once_in_the_order_asked_for(made: Made) -> None:
    asked = [made[4], made[0], made[6], made[0], "a" * 40]
    assert list(history.many(made.repository, asked)) == [made[4], made[0], made[6]]
    assert history.many(made.repository, []) == {}


@pytest.mark.parametrize(
    "sha", ["HEAD", "main", "--all", "", "a" * 39, "a" * 40 + "\n--all", "^" + "a" * 40]
)
def test_only_whole_ids(sha: str, made: Made) -> None:
    with pytest.raises(GitError):
        history.commit(made.repository, sha)
    with pytest.raises(GitError):
        history.many(made.repository, [made[0], sha])
    with pytest.raises(GitError):
        list(history.commits(made.repository, sha))
    with pytest.raises(GitError):
        list(history.commits(made.repository, made[0], since=sha))
    with pytest.raises(GitError):
        history.is_ancestor(made.repository, made[0], sha)
    with pytest.raises(GitError):
        history.between(made.repository, sha, made[0])


def test_one_that_is_not_there(made: Made) -> None:
    with pytest.raises(GitError, match="there is no commit aaaaaaaaaaaa"):
        history.commit(made.repository, "a" * 40)
    with pytest.raises(GitError):
        list(history.commits(made.repository, "a" * 40))
    with pytest.raises(GitError):
        history.is_ancestor(made.repository, made[0], "a" * 40)


def test_which_comes_before_which(made: Made) -> None:
    repository = made.repository
    assert history.is_ancestor(repository, made[1], made[5])
    assert history.is_ancestor(repository, made[5], made[5])
    assert not history.is_ancestor(repository, made[5], made[1])
    assert not history.is_ancestor(repository, made[6], made[5])


def test_those_between_the_oldest_first(made: Made) -> None:
    repository = made.repository
    found = [made.number(sha) for sha in history.between(repository, made[0], made[5])]
    assert sorted(found) == [1, 2, 3, 4, 5]
    assert found.index(2) < found.index(3) < found.index(5)
    assert history.between(repository, made[0], made[5], ["b.py"]) == (made[1],)
    assert history.between(repository, made[5], made[0]) == ()


def test_clocks_that_are_wrong_do_not_order(tmp_path: Path) -> None:
    story = Story()
    for number, at in enumerate((BEGINNING, 0, BEGINNING * 2, 1, 99_999_999_999)):
        story.commit(f"Commit {number}", {"a.py": f"{number}\n"}, at=at)
    made = story.write(tmp_path / "repository")
    assert [made.number(each.sha) for each in history.commits(made.repository, made[4])] == [
        4,
        3,
        2,
        1,
        0,
    ]
    assert history.between(made.repository, made[0], made[3]) == (made[1], made[2], made[3])


def test_a_time_that_is_none_is_1970(tmp_path: Path) -> None:
    made = forked().write(tmp_path / "repository")
    raw = made.git("cat-file", "commit", made[0]).replace(f"{BEGINNING} +0000", f"{'9' * 18} +0000")
    sha = made.git("hash-object", "-t", "commit", "-w", "--literally", "--stdin", input=raw.encode())
    assert history.commit(made.repository, sha).at.year == 1970


@pytest.mark.parametrize(
    ("message", "encoding", "subject"),
    [
        ("gr\u00fc\u00dfe".encode("iso-8859-1"), "ISO-8859-1", "gr\u00fc\u00dfe"),
        ("gr\u00fc\u00dfe".encode(), "", "gr\u00fc\u00dfe"),
        (b"gr\xfc\xdfe", "", "gr\ufffd\ufffde"),
        (b"gr\xfc\xdfe", "no-such-encoding", "gr\ufffd\ufffde"),
        (b"two\nlines", "", "two lines"),
        (b"\n\n  spaced  \n\nbody", "", "  spaced"),
        (b"", "", ""),
        (b"\x1b[31mred\x07", "", "\x1b[31mred\x07"),
        (b"commit aaaa\x01\x02 %H %x00", "", "commit aaaa\x01\x02 %H %x00"),
    ],
)
def test_messages_of_any_bytes(message: bytes, encoding: str, subject: str, tmp_path: Path) -> None:
    story = Story()
    story.commit(message, {"a": "1\n"}, encoding=encoding, author=b"An\xe4")
    story.commit("Next", {"a": "2\n"})
    made = story.write(tmp_path / "repository")
    newest, oldest = history.commits(made.repository, made[1])
    assert newest.subject == "Next"
    assert oldest.subject == subject
    assert oldest.author == "An\ufffd" if not encoding.startswith("ISO") else "An\u00e4"
    assert history.commit(made.repository, made[0]) == oldest


def test_what_the_user_has_set_changes_nothing(made: Made, hostile: Path) -> None:
    assert numbers(made) == [5, 4, 3, 2, 1, 0]
    assert numbers(made, paths=["a.py"]) == [2, 0]
    assert history.commit(made.repository, made[0]).body == "First line of more.\n\nAnd last.\n"
    assert not hostile.exists()


def test_grafts_are_not_followed(made: Made) -> None:
    made.git("replace", "--graft", made[5], made[0])
    assert numbers(made) == [5, 4, 3, 2, 1, 0]


def test_a_shallow_clone_ends_where_it_is_cut(made: Made, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", "--depth=2", f"file://{made.folder}", "clone")
    clone = Made(tmp_path / "clone", made.shas)
    assert sorted(numbers(clone)) == [3, 4, 5]
    assert history.commit(clone.repository, made[3]).parents == ()


def test_a_list_that_is_left_ends_its_process(made: Made) -> None:
    found = history.commits(made.repository, made[5])
    next(found)
    found.close()  # type: ignore[attr-defined]
    assert not psutil.Process().children(recursive=True)
