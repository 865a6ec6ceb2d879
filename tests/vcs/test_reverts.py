"""What takes back what: every kind, each clue, and what must not be claimed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.vcs.repositories import EXECUTABLE, Content, Made, Story, git, joined, sentences
from workbench.errors import GitError
from workbench.model.commits import How, RevertKind, Undoing
from workbench.vcs.index import Index
from workbench.vcs.repository import Repository
from workbench.vcs.reverts import Reverts

BASE = sentences("ground", 40)
BLOCK = sentences("new path", 6)
TITLE = "Take the new path"


def told(before: list[str], at: int, lines: list[str], out: int = 0) -> str:
    """Give a text in which lines have been put in at a place, and some taken out."""
    return joined([*before[:at], *lines, *before[at + out :]])


def begun() -> Story:
    """Begin a history with one file, and one commit that others take back."""
    story = Story()
    story.commit("Begin", {"a.py": joined(BASE), "b.py": joined(sentences("other", 30))})
    story.commit(f"{TITLE} (#12)", {"a.py": told(BASE, 10, BLOCK, 2)})
    return story


def reverts(made: Made, folder: Path) -> Reverts:
    repository = made.repository
    return Reverts(repository, Index.open(repository, folder / "cache"))


def last(story: Story, tmp_path: Path) -> tuple[Undoing | None, Made]:
    """Give what the last commit of a history takes back."""
    made = story.write(tmp_path / "repository")
    return reverts(made, tmp_path).by(made[-1]), made


def hows(undoing: Undoing) -> list[list[How]]:
    return [[clue.how for clue in match.clues] for match in undoing.matches]


def targets(undoing: Undoing | None, made: Made) -> list[int]:
    assert undoing is not None
    return [made.number(match.commit) for match in undoing.matches]


def noise(story: Story, count: int, path: str = "b.py") -> None:
    for number in range(count):
        text = story.text(path) + f"and so grows the file by remark {number}\n"
        story.commit(f"Remark {number}", {path: text})


def test_a_full_one_by_its_title(tmp_path: Path) -> None:
    story = begun()
    noise(story, 3)
    story.commit(f'Revert "{TITLE} (#12)" (#40)', {"a.py": joined(BASE)})
    undoing, made = last(story, tmp_path)
    assert undoing is not None
    assert undoing.kind is RevertKind.FULL
    assert targets(undoing, made) == [1]
    assert hows(undoing) == [[How.TITLE, How.NUMBER, How.PATCH_ID, How.LINES]]
    (match,) = undoing.matches
    assert (match.coverage, match.purity, match.how) == (1.0, 1.0, How.TITLE)
    assert match.clues[-1].detail == "8 of 8 lines taken back, which are 8 of its own 8"


@pytest.mark.parametrize(
    ("message", "how"),
    [
        (f'Revert "{TITLE}"', [How.TITLE, How.PATCH_ID, How.LINES]),
        (f"revert: {TITLE.upper()}", [How.TITLE, How.PATCH_ID, How.LINES]),
        ("[Hotfix] Revert `Take the new ...` (#41)", [How.TITLE, How.PATCH_ID, How.LINES]),
        ("fix: revert #12", [How.NUMBER, How.PATCH_ID, How.LINES]),
        ("Roll back\n\nThe way of PR 12 is slow, so revert it.", [How.NUMBER, How.PATCH_ID, How.LINES]),
        ("Undo what was done", [How.PATCH_ID, How.LINES]),
        ("Tidy up", [How.PATCH_ID, How.LINES]),
    ],
)
def test_each_way_to_say_it(message: str, how: list[How], tmp_path: Path) -> None:
    story = begun()
    noise(story, 1)
    story.commit(message, {"a.py": joined(BASE)})
    undoing, made = last(story, tmp_path)
    assert undoing is not None
    assert (undoing.kind, targets(undoing, made), hows(undoing)) == (RevertKind.FULL, [1], [how])


def test_by_the_id_that_git_revert_writes(tmp_path: Path) -> None:
    made = begun().write(tmp_path / "repository", bare=False)
    made.git("revert", "--no-edit", made[1])
    revert = made.git("rev-parse", "HEAD")
    undoing = reverts(made, tmp_path).by(revert)
    assert undoing is not None
    assert undoing.kind is RevertKind.FULL
    assert [match.commit for match in undoing.matches] == [made[1]]
    assert f"its message names {made[1][:12]}" in [clue.detail for clue in undoing.matches[0].clues]


def test_lines_tell_where_the_lines_around_have_changed(tmp_path: Path) -> None:
    story = begun()
    changed = [*BASE[:9], "a line next to it was changed since", *BASE[10:]]
    story.commit("Change what is next to it", {"a.py": told(changed, 10, BLOCK, 2)})
    story.commit(f'Revert "{TITLE}"', {"a.py": joined(changed)})
    undoing, made = last(story, tmp_path)
    assert undoing is not None
    assert (undoing.kind, targets(undoing, made)) == (RevertKind.FULL, [1])
    assert hows(undoing) == [[How.TITLE, How.LINES]]


def test_an_adapted_one(tmp_path: Path) -> None:
    story = begun()
    story.commit(f'Revert "{TITLE}"', {"a.py": joined([*BASE[:11], "kept in another way", *BASE[11:]])})
    undoing, made = last(story, tmp_path)
    assert undoing is not None
    assert (undoing.kind, targets(undoing, made)) == (RevertKind.ADAPTED, [1])
    assert undoing.matches[0].coverage == 1.0
    assert undoing.matches[0].purity == pytest.approx(8 / 9)


def test_a_partial_one(tmp_path: Path) -> None:
    story = Story()
    story.commit("Begin", {"a.py": joined(BASE), "b.py": joined(BASE)})
    story.commit(TITLE, {"a.py": told(BASE, 10, BLOCK), "b.py": told(BASE, 20, sentences("far", 4))})
    story.commit(f'Revert "{TITLE}" in part', {"b.py": joined(BASE)})
    undoing, made = last(story, tmp_path)
    assert undoing is not None
    assert (undoing.kind, targets(undoing, made)) == (RevertKind.PARTIAL, [1])
    assert (undoing.matches[0].coverage, undoing.matches[0].purity) == (0.4, 1.0)


def test_a_file_that_is_checked_out_as_it_was(tmp_path: Path) -> None:
    story = Story()
    story.commit("Begin", {"a.py": joined(BASE), "b.py": joined(BASE)})
    story.commit(TITLE, {"a.py": told(BASE, 10, BLOCK), "b.py": told(BASE, 20, sentences("far", 4))})
    made = story.write(tmp_path / "repository", bare=False)
    made.git("checkout", f"{made[1]}^", "--", "b.py")
    made.git("commit", "-q", "-m", "Work around the crash")
    undoing = reverts(made, tmp_path).by(made.git("rev-parse", "HEAD"))
    assert undoing is not None
    assert undoing.kind is RevertKind.PARTIAL
    assert [match.commit for match in undoing.matches] == [made[1]]
    assert hows(undoing) == [[How.LINES]]


def test_a_checkout_takes_later_commits_with_it(tmp_path: Path) -> None:
    story = begun()
    later = [*BASE[:30], "a later repair of the far end", *BASE[31:]]
    story.commit("Repair the far end", {"a.py": told(later, 10, BLOCK, 2)})
    story.commit(f'Revert "{TITLE}"', {"a.py": joined(BASE)})
    undoing, made = last(story, tmp_path)
    assert undoing is not None
    assert (undoing.kind, targets(undoing, made)) == (RevertKind.MULTI, [2, 1])
    assert hows(undoing) == [[How.LINES], [How.TITLE, How.LINES]]


def test_several_at_once_each_by_its_own_clue(tmp_path: Path) -> None:
    story = begun()
    other = story.text("b.py").splitlines()
    story.commit("Grow the other (#13)", {"b.py": told(other, 5, sentences("growth", 5))})
    noise(story, 1)
    story.commit(
        f'Revert "{TITLE}" and #13',
        {
            "a.py": joined(BASE),
            "b.py": story.text("b.py").replace(joined(sentences("growth", 5)), ""),
        },
    )
    undoing, made = last(story, tmp_path)
    assert undoing is not None
    assert (undoing.kind, targets(undoing, made)) == (RevertKind.MULTI, [2, 1])
    assert [match.how for match in undoing.matches] == [How.NUMBER, How.TITLE]
    assert all(match.coverage == 1.0 for match in undoing.matches)


def test_a_revert_of_a_revert_and_its_revert(tmp_path: Path) -> None:
    story = begun()
    changed = story.text("a.py")
    story.commit(f'Revert "{TITLE}"', {"a.py": joined(BASE)})
    noise(story, 1)
    story.commit(f'Revert "Revert "{TITLE}"" (#44)', {"a.py": changed})
    story.commit("Go back once more", {"a.py": joined(BASE)})
    made = story.write(tmp_path / "repository")
    answers = reverts(made, tmp_path)
    again, back = answers.by(made[4]), answers.by(made[5])
    assert again is not None
    assert (again.kind, targets(again, made)) == (RevertKind.REVERT_OF_REVERT, [2])
    assert back is not None
    assert (back.kind, targets(back, made)) == (RevertKind.FULL, [4])
    assert [made.number(match.commit) for match in answers.of(made[1], made[5])] == [2, 5]
    assert [made.number(match.commit) for match in answers.remade(made[1], made[5])] == [4]
    assert [made.number(match.commit) for match in answers.of(made[1], made[4])] == [2]
    assert [made.number(match.commit) for match in answers.of(made[2], made[5])] == [4]


def test_a_reland_is_the_same_lines_again(tmp_path: Path) -> None:
    story = begun()
    changed = story.text("a.py")
    story.commit(f'Revert "{TITLE}"', {"a.py": joined(BASE)})
    story.commit(f'Reland "{TITLE}" (#50)', {"a.py": changed + "with one more line than before\n"})
    made = story.write(tmp_path / "repository")
    answers = reverts(made, tmp_path)
    undoing = answers.by(made[3])
    assert undoing is not None
    assert (undoing.kind, targets(undoing, made)) == (RevertKind.RELAND, [1])
    assert undoing.matches[0].coverage == 1.0
    assert "made again" in undoing.matches[0].clues[-1].detail
    assert [made.number(match.commit) for match in answers.remade(made[1], made[3])] == [3]
    assert [made.number(match.commit) for match in answers.of(made[1], made[3])] == [2]


def test_a_reland_that_makes_nothing_again_is_none(tmp_path: Path) -> None:
    story = begun()
    story.commit(f'Reland "{TITLE}"', {"b.py": story.text("b.py") + "something else altogether\n"})
    undoing, _made = last(story, tmp_path)
    assert undoing is not None
    assert (undoing.kind, undoing.matches) == (RevertKind.UNKNOWN, ())


# what has no lines, and what is not there


@pytest.mark.parametrize("name", ["picture.png", "plain"])
def test_binary_files_are_told_by_their_ids(name: str, tmp_path: Path) -> None:
    story = begun()
    story.commit("Have a picture", {name: b"\x89PNG\0one"})
    story.commit("Paint it anew", {name: b"\x89PNG\0two"})
    story.commit("And again", {name: b"\x89PNG\0three"})
    story.commit('Revert "And again"', {name: b"\x89PNG\0two"})
    story.commit("As it was", {name: b"\x89PNG\0one"})
    made = story.write(tmp_path / "repository")
    answers = reverts(made, tmp_path)
    assert targets(answers.by(made[5]), made) == [4]
    named = answers.by(made[6])
    assert targets(named, made) == [3]


def test_permissions_go_back_and_not_forth(tmp_path: Path) -> None:
    script = joined(BASE)
    story = begun()
    story.commit("Have a script", {"run.sh": script})
    story.commit("Make it run", {"run.sh": Content(script.encode(), EXECUTABLE)})
    story.commit("Make it rest", {"run.sh": script})
    story.commit("Make it run", {"run.sh": Content(script.encode(), EXECUTABLE)})
    story.commit('Revert "Make it run"', {"run.sh": script})
    made = story.write(tmp_path / "repository")
    answers = reverts(made, tmp_path)
    assert targets(answers.by(made[4]), made) == [3]
    assert targets(answers.by(made[5]), made) == [4]
    assert targets(answers.by(made[6]), made) == [5]


def test_a_merge_is_taken_back_by_its_name(tmp_path: Path) -> None:
    story = begun()
    story.commit("Grow", {"b.py": joined(sentences("side", 9))}, branch="side")
    story.commit("Grow more", {"b.py": joined(sentences("side", 19))}, branch="side")
    story.commit("On main", {"a.py": joined(BASE)}, parents=[1])
    side = {"b.py": story.text("b.py", 3)}
    story.commit("Merge pull request #9 from ana/side", side, parents=[4, 3])
    noise(story, 1, "a.py")
    story.commit(
        'Revert "Merge pull request #9 from ana/side"\n\nThis reverts it, reversing\n'
        "changes made to 0123456789abcdef0123456789abcdef01234567.",
        {"b.py": joined(sentences("other", 30))},
    )
    undoing, made = last(story, tmp_path)
    assert undoing is not None
    assert (undoing.kind, targets(undoing, made)) == (RevertKind.FULL, [5])


def test_what_a_merge_brought_is_named_and_not_the_merge(tmp_path: Path) -> None:
    story = begun()
    story.commit("Grow", {"b.py": joined(sentences("side", 30))}, branch="side")
    story.commit("On main", {"a.py": joined(BASE)}, parents=[1])
    side = {"b.py": story.text("b.py", 2)}
    story.commit("Merge branch 'side'", side, parents=[3, 2])
    noise(story, 1, "a.py")
    story.commit("Get it to work", {"b.py": joined(sentences("other", 30))})
    undoing, made = last(story, tmp_path)
    assert targets(undoing, made) == [2]


def test_what_a_merge_brought_is_named_for_one_file_alone(tmp_path: Path) -> None:
    story = begun()
    side = {"b.py": joined(sentences("side", 30)), "c.py": joined(sentences("new file", 20))}
    story.commit("Grow", side, branch="side")
    story.commit("On main", {"a.py": joined(BASE)}, parents=[1])
    story.commit("Merge branch 'side'", side, parents=[3, 2])
    story.commit("Get it to work", {"b.py": joined(sentences("other", 30))})
    undoing, made = last(story, tmp_path)
    assert undoing is not None
    assert (undoing.kind, targets(undoing, made)) == (RevertKind.PARTIAL, [2])


def test_what_only_the_merge_made_is_the_merges(tmp_path: Path) -> None:
    story = begun()
    first = sentences("other", 30)
    grown = [*sentences("growth", 6), *first]
    far = [*first, *sentences("far", 6)]
    story.commit("Grow", {"b.py": joined(grown)})
    both = [*grown, *sentences("far", 6)]
    story.commit("Far", {"b.py": joined(both), "c.py": "one more file\n"}, branch="side")
    story.commit("Shrink", {"b.py": joined(first)}, parents=[2])
    merged = {"b.py": joined(far), "c.py": "one more file\n"}
    story.commit("Merge branch 'side'", merged, parents=[4, 3])
    story.commit("Get it to work", {"b.py": joined(first)})
    undoing, made = last(story, tmp_path)
    assert targets(undoing, made) == [5]  # what came of the side was never so on main


def test_the_first_commit_of_all_can_be_taken_back(tmp_path: Path) -> None:
    story = Story()
    story.commit("Begin", {"a.py": joined(BASE)})
    noise_at = story.commit("More", {"b.py": joined(BLOCK)})
    story.commit('Revert "Begin"', {"a.py": None})
    made = story.write(tmp_path / "repository")
    answers = reverts(made, tmp_path)
    undoing = answers.by(made[2])
    assert undoing is not None
    assert (undoing.kind, targets(undoing, made)) == (RevertKind.FULL, [0])
    assert answers.by(made[noise_at]) is None


def test_a_shallow_clone_says_what_it_cannot_tell(tmp_path: Path) -> None:
    story = begun()
    noise(story, 2)
    story.commit(f'Revert "{TITLE}"', {"a.py": joined(BASE)})
    made = story.write(tmp_path / "repository")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--bare", "--depth=2", f"file://{made.folder}", str(clone))
    shallow = Repository(clone)
    undoing = Reverts(shallow, Index.open(shallow, tmp_path / "cache")).by(made[-1])
    assert undoing is not None
    assert (undoing.kind, undoing.matches) == (RevertKind.UNKNOWN, ())


def test_a_partial_clone_says_what_it_cannot_tell(tmp_path: Path) -> None:
    story = begun()
    story.commit(f'Revert "{TITLE}"', {"a.py": joined(BASE)})
    made = story.write(tmp_path / "repository")
    made.git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--bare", "--filter=blob:none", f"file://{made.folder}", str(clone))
    partial = Repository(clone)
    answers = Reverts(partial, Index.open(partial, tmp_path / "cache"))
    undoing = answers.by(made[-1])
    assert undoing is not None
    assert (undoing.kind, undoing.because) == (RevertKind.UNKNOWN, "what it needs was never fetched")
    assert answers.of(made[1], made[-1]) == ()
    git(clone, "cat-file", "-e", f"{made[1]}:a.py")  # which fetches it
    git(clone, "cat-file", "-e", f"{made[0]}:a.py")
    assert targets(answers.by(made[-1]), made) == [1]  # what could not be told was not kept


@pytest.mark.parametrize("sha", ["HEAD", "--all", "-1", "", "0" * 39, "g" * 40, "a" * 40 + "\n"])
def test_only_whole_ids_are_asked_for(sha: str, tmp_path: Path) -> None:
    made = begun().write(tmp_path / "repository")
    answers = reverts(made, tmp_path)
    with pytest.raises(GitError):
        answers.by(sha)
    with pytest.raises(GitError):
        answers.of(made[1], sha)


def test_one_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    made = begun().write(tmp_path / "repository")
    answers = reverts(made, tmp_path)
    with pytest.raises(GitError):
        answers.by("0" * 39 + "1")
    assert [made.number(match.commit) for match in answers.of(made[0], made[1])] == []


def test_both_directions_agree_and_what_is_kept_is_the_same(tmp_path: Path) -> None:
    story = begun()
    changed = story.text("a.py")
    story.commit(f'Revert "{TITLE}"', {"a.py": joined(BASE)})
    story.commit("Take it up again", {"a.py": changed})
    story.commit("Let it be", {"a.py": joined(BASE)})
    made = story.write(tmp_path / "repository")
    first = reverts(made, tmp_path)
    fresh = (
        [first.by(sha) for sha in made.shas],
        first.of(made[1], made[4]),
        first.remade(made[1], made[4]),
    )
    repository = made.repository
    index = Index.open(repository, tmp_path / "cache")
    again = Reverts(repository, index)
    assert (
        [again.by(sha) for sha in made.shas],
        again.of(made[1], made[4]),
        again.remade(made[1], made[4]),
    ) == fresh
    for place, undoing in enumerate(fresh[0]):
        for match in undoing.matches if undoing else ():
            assert made[place] in [each.commit for each in again.of(match.commit, made[4])]
