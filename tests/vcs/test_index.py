"""The index: what it holds, how it grows, and that nothing on the disk can mislead it."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.vcs.repositories import Made, Story, git, joined, sentences
from workbench.errors import GitError
from workbench.vcs.ancestry import ABSENT
from workbench.vcs.git import Git
from workbench.vcs.index import FEW_PATHS, INDEX_FILE, Index
from workbench.vcs.reverts import Reverts


def forked() -> Story:
    story = Story()
    story.commit("Begin (#1)", {"a.py": joined(sentences("ground", 9)), "b\udcff.py": "one\n"})
    story.commit("On the side (#2)", {"b\udcff.py": "two\n"}, branch="side")
    story.commit("On main (#3)", {"a.py": joined(sentences("ground", 12))}, parents=[0])
    story.commit("Merge pull request #9 from side", {"b\udcff.py": "two\n"}, parents=[2, 1])
    story.commit('Revert "On main (#3)"', {"a.py": joined(sentences("ground", 9))})
    story.commit("Goes nowhere", {"c.py": "one\n"}, parents=[1], branch="side")
    return story


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return forked().write(tmp_path / "repository")


def opened(made: Made, tmp_path: Path, tip: int | None = None) -> Index:
    index = Index.open(made.repository, tmp_path / "cache")
    if tip is not None:
        index.extend(made[tip])
    return index


def facts(index: Index, made: Made) -> dict[int, object]:
    """Give all that is kept of each commit, by its number, without places."""
    found: dict[int, object] = {}
    for place in range(len(index)):
        found[made.number(index.sha(place))] = (
            [made.number(index.sha(parent)) for parent in index.parents(place) if parent != ABSENT],
            index.keys[place],
            index.number(place),
            sorted((index.path(path), before, after) for path, before, after in index.files(place)),
            index.claims.get(place),
            index.is_merge(place),
        )
    return found


def test_what_it_holds(made: Made, tmp_path: Path) -> None:
    index = opened(made, tmp_path, 4)
    assert len(index) == 5
    assert index.whole
    place = {number: index.place(made[number]) for number in range(5)}
    assert index.place(made[5]) is None
    main = place[2]
    assert main is not None
    blobs = [made.git("rev-parse", f"{made[number]}:a.py")[:16] for number in (0, 2)]
    (changed,) = index.files(main)
    assert (index.path(changed[0]), [f"{blob:016x}" for blob in changed[1:]]) == ("a.py", blobs)
    assert list(index.titled("on main")) == [main]
    assert list(index.titled("on ma", cut=True)) == [main]
    assert list(index.numbered(3)) == [main]
    assert list(index.numbered(9)) == [place[3]]
    assert list(index.named(made[2])) == list(index.named(made[2][:12])) == [main]
    assert [made.number(index.sha(each)) for each in index.touching(changed[0])] == [0, 2, 4]
    assert [made.number(index.sha(each)) for each in index.same_files(main)] == [2, 4]


def test_places_of_parents_are_lower(made: Made, tmp_path: Path) -> None:
    index = opened(made, tmp_path, 4)
    index.extend(made[5])
    assert all(parent < place for place in range(len(index)) for parent in index.parents(place))


def test_files_are_found_one_by_one_and_all_at_once(tmp_path: Path) -> None:
    story = Story()
    paths = [f"f{number}" for number in range(FEW_PATHS + 9)]
    story.commit("Begin", dict.fromkeys(paths, "x\n"))
    for number, path in enumerate(paths):
        story.commit(f"Commit {number}", {path: "y\n", "other": f"{number}\n"})
    made = story.write(tmp_path / "repository")
    index = opened(made, tmp_path, -1)
    root = index.place(made[0]) or 0
    found = [index.touching(path) for path, _before, _after in index.files(root)]
    assert [[made.number(index.sha(each)) for each in places] for places in found] == [
        [0, paths.index(index.path(path)) + 1] for path, _before, _after in index.files(root)
    ]
    last = index.place(made[-1]) or 0
    assert index.same_files(last) == [last]


def test_who_can_be_reached_from_whom(made: Made, tmp_path: Path) -> None:
    index = opened(made, tmp_path, 4)
    index.extend(made[5])
    place = [index.place(sha) or 0 for sha in made.shas]
    assert index.ancestors(place[4]) == {place[number] for number in (0, 1, 2, 3, 4)}
    assert index.ancestors(place[5]) == {place[0], place[1], place[5]}
    assert index.descendants(place[1], place[4]) == {place[3], place[4]}
    assert index.descendants(place[2], place[5]) == set()
    assert index.is_ancestor(place[1], place[5])
    assert not index.is_ancestor(place[2], place[5])
    assert not index.is_ancestor(place[5], place[4])


@pytest.mark.parametrize("tips", [[4, 5], [5, 4], [0, 1, 2, 3, 4, 5], [3, 5, 4], [4, 4, 5]])
def test_it_grows_to_any_tip_and_is_the_same(tips: list[int], made: Made, tmp_path: Path) -> None:
    at_once = Index.open(made.repository, tmp_path / "other")
    at_once.extend(made[4])
    at_once.extend(made[5])
    index = opened(made, tmp_path)
    for tip in tips:
        index.extend(made[tip])
        index = opened(made, tmp_path)  # what was read is kept
    assert facts(index, made) == facts(at_once, made)
    assert len(index) == 6


def test_only_what_is_new_is_read(made: Made, tmp_path: Path) -> None:
    opened(made, tmp_path, 3)
    index = opened(made, tmp_path)
    assert index.place(made[3]) is not None
    objects = made.folder / "objects"
    objects.rename(made.folder / "nowhere")  # so whatever git is asked for now fails
    (made.folder / "objects").mkdir()
    index.extend(made[3])
    with pytest.raises(GitError):
        index.extend(made[4])


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:-1],
        lambda content: content[: len(content) // 2],
        lambda content: content + b"x",
        lambda content: content[:60] + bytes([content[60] ^ 1]) + content[61:],
        lambda content: content[:-9] + bytes([content[-9] ^ 1]) + content[-8:],
        lambda content: b"workbench commits 1" + content[19:],
        lambda content: b"\0" * len(content),
        lambda content: b"{}",
    ],
)
def test_a_damaged_one_is_none(damage: object, made: Made, tmp_path: Path) -> None:
    whole = facts(opened(made, tmp_path, 4), made)
    file = tmp_path / "cache" / INDEX_FILE
    assert callable(damage)
    file.write_bytes(damage(file.read_bytes()))
    index = opened(made, tmp_path)
    assert len(index) == 0
    index.extend(made[4])
    assert facts(opened(made, tmp_path), made) == whole


def test_one_of_another_repository_says_nothing_of_this_one(made: Made, tmp_path: Path) -> None:
    other = Story()
    other.commit("Another", {"z": "z\n"})
    elsewhere = other.write(tmp_path / "elsewhere")
    opened(elsewhere, tmp_path, 0)
    index = opened(made, tmp_path, 4)
    assert [index.place(sha) is not None for sha in made.shas] == [True] * 5 + [False]
    answers = Reverts(made.repository, index)
    assert [each.commit for each in answers.of(made[2], made[4])] == [made[4]]


def test_where_it_cannot_be_kept_it_is_done_without(made: Made, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where a folder should be")
    index = opened(made, tmp_path, 4)
    assert len(index) == 5
    assert len(opened(made, tmp_path)) == 0


def test_branches_that_are_swept_away_do_no_harm(made: Made, tmp_path: Path) -> None:
    index = opened(made, tmp_path, 5)
    made.git("branch", "-D", "side")
    made.git("reflog", "expire", "--expire=now", "--all")
    made.git("gc", "-q", "--prune=now")
    index = opened(made, tmp_path)
    index.extend(made[4])
    assert len(index) == 6
    assert sorted(facts(index, made)) == [0, 1, 2, 3, 4, 5]
    answers = Reverts(made.repository, index)
    assert [each.commit for each in answers.of(made[2], made[4])] == [made[4]]
    index.extend(made[4])
    assert len(opened(made, tmp_path)) == 6


def test_a_shallow_clone_that_is_deepened_is_read_anew(made: Made, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", "--depth=2", f"file://{made.folder}", "clone")
    clone = Made(tmp_path / "clone", made.shas)
    cut = opened(clone, tmp_path, 4)
    assert len(cut) == 2
    assert cut.files(cut.place(made[3]) or 0) == []  # all of its files would seem to be its own
    git(clone.folder, "fetch", "-q", "--unshallow", "origin", made[4])
    whole = opened(clone, tmp_path, 4)
    assert len(whole) == 5
    assert whole.whole


@pytest.mark.parametrize("tip", ["main", "--all", "", "^" + "a" * 40, "a" * 40 + "\n--all"])
def test_only_whole_ids(tip: str, made: Made, tmp_path: Path) -> None:
    index = opened(made, tmp_path)
    with pytest.raises(GitError):
        index.extend(tip)
    assert len(index) == 0


def test_what_is_no_commit_is_an_error(made: Made, tmp_path: Path) -> None:
    index = opened(made, tmp_path)
    with pytest.raises(GitError):
        index.extend("a" * 40)
    with pytest.raises(GitError):
        index.extend(made.git("rev-parse", f"{made[0]}:a.py"))
    assert len(index) == 0


def test_ids_of_changes_are_those_of_git(made: Made, tmp_path: Path) -> None:
    index = opened(made, tmp_path, 4)
    found = index.patch_ids(range(5))
    for number in (0, 1, 2, 4):
        patch = Git(made.folder).run("diff-tree", "-p", "--root", made[number])
        wanted = made.git("patch-id", "--stable", input=patch).split()[0]
        assert found[index.place(made[number]) or 0].hex() == wanted
    main, revert = (index.place(made[number]) or 0 for number in (2, 4))
    assert index.inverse_patch_id(main) == found[revert]
    assert index.inverse_patch_id(revert) == found[main]
    root = index.place(made[0]) or 0
    assert index.inverse_patch_id(root) not in ("", *found.values())


def test_many_processes_may_write_it(made: Made, tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path\n"
        "from workbench.vcs.index import Index; from workbench.vcs.repository import Repository\n"
        "index = Index.open(Repository(Path(sys.argv[1])), Path(sys.argv[2]))\n"
        "[index.extend(tip) for tip in sys.argv[3:]]\n"
    )

    def extend(tips: list[str]) -> int:
        words = [sys.executable, "-c", script, str(made.folder), str(tmp_path / "cache"), *tips]
        return subprocess.run(words, cwd=ROOT, check=False).returncode

    with ThreadPoolExecutor(4) as pool:
        codes = list(pool.map(extend, [[made[4]], [made[5]], [made[0], made[5]], [made[3], made[4]]]))
    assert codes == [0] * 4
    index = opened(made, tmp_path)
    assert 3 <= len(index) <= 6  # the last one wins, and may have read another's
    index.extend(made[4])
    index.extend(made[5])
    assert len(facts(index, made)) == 6


def test_what_the_user_has_set_changes_nothing(made: Made, tmp_path: Path, hostile: Path) -> None:
    index = opened(made, tmp_path, 4)
    answers = Reverts(made.repository, index)
    undoing = answers.by(made[4])
    assert undoing is not None
    assert [match.commit for match in undoing.matches] == [made[2]]
    assert "patch-id" in [clue.how for clue in undoing.matches[0].clues]
    assert not hostile.exists()
