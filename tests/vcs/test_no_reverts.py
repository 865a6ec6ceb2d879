"""What must not be called a revert, and of which commit it must not be called one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.vcs.repositories import Story, joined, sentences
from tests.vcs.test_reverts import BASE, BLOCK, TITLE, begun, hows, last, noise, reverts, targets, told
from workbench.model.commits import How, RevertKind


def test_a_title_that_content_contradicts_names_nobody(tmp_path: Path) -> None:
    story = begun()
    story.commit(f'Revert "{TITLE}"', {"b.py": joined(sentences("other", 20))})
    undoing, made = last(story, tmp_path)
    assert undoing is not None
    assert (undoing.kind, undoing.matches) == (RevertKind.UNKNOWN, ())
    assert made[1][:12] in undoing.because


def test_of_two_that_have_the_title_content_chooses(tmp_path: Path) -> None:
    story = begun()
    other = story.text("b.py").splitlines()
    story.commit(f"{TITLE} (#13)", {"b.py": told(other, 5, sentences("growth", 5))})
    story.commit(f'Revert "{TITLE}"', {"a.py": joined(BASE)})
    undoing, made = last(story, tmp_path)
    assert targets(undoing, made) == [1]


def test_of_two_that_have_the_title_the_number_tells(tmp_path: Path) -> None:
    story = begun()
    story.commit(f"{TITLE} (#13)", {"a.py": told(story.text("a.py").splitlines(), 30, BLOCK)})
    again = [*story.text("a.py").splitlines(), "more work at the end"]
    story.commit("Work", {"a.py": joined(again)})
    gone = "".join(story.text("a.py").rsplit(joined(BLOCK), 1))
    story.commit(f'Revert "{TITLE} (#13)"', {"a.py": gone})
    undoing, made = last(story, tmp_path)
    assert targets(undoing, made) == [2]


def test_of_two_that_are_there_at_once_neither_is_named(tmp_path: Path) -> None:
    # both put in the same lines, so their sum tells nothing of which of them goes
    story = begun()
    twice = [*BASE[:10], *BLOCK, *BASE[10:30], *BLOCK, *BASE[30:]]
    story.entries.pop()
    story.commit(TITLE, {"a.py": told(BASE, 10, BLOCK)})
    story.commit(TITLE, {"a.py": joined(twice)})
    changed = ["the first line is another one", *BASE[1:7], "so is this", "and this", "and that"]
    story.commit("Work on it", {"a.py": joined([*changed, *BLOCK, *BASE[10:30], *BLOCK, *BASE[30:]])})
    story.commit(f'Revert "{TITLE}"', {"a.py": joined([*changed, *BASE[10:30], *BLOCK, *BASE[30:]])})
    undoing, made = last(story, tmp_path)
    assert undoing is not None
    assert (undoing.kind, undoing.matches) == (RevertKind.UNKNOWN, ())
    assert made[1][:12] in undoing.because
    assert made[2][:12] in undoing.because


def test_the_lines_around_tell_which_of_two_goes(tmp_path: Path) -> None:
    story = begun()
    story.entries.pop()
    story.commit(TITLE, {"a.py": told(BASE, 10, BLOCK)})
    story.commit(TITLE, {"a.py": joined([*BASE[:10], *BLOCK, *BASE[10:30], *BLOCK, *BASE[30:]])})
    story.commit(f'Revert "{TITLE}"', {"a.py": joined([*BASE[:30], *BLOCK, *BASE[30:]])})
    undoing, made = last(story, tmp_path)
    assert targets(undoing, made) == [1]


def test_a_little_more_in_common_is_not_enough(tmp_path: Path) -> None:
    story = begun()
    story.entries.pop()
    first = told(BASE, 10, sentences("new path", 8))
    story.commit(TITLE, {"a.py": first})
    near = [*sentences("new path", 3), *sentences("other way", 5)]
    story.commit(TITLE, {"a.py": told(first.splitlines(), 40, near)})
    rest = story.text("a.py").splitlines()
    for line in sentences("new path", 4):
        rest.remove(line)
    story.commit(f'Revert "{TITLE}"', {"a.py": joined(rest)})
    undoing, made = last(story, tmp_path)
    assert undoing is not None
    assert (undoing.kind, undoing.matches) == (RevertKind.UNKNOWN, ())
    assert made[1][:12] in undoing.because
    assert made[2][:12] in undoing.because


def test_of_two_that_nearly_agree_the_one_that_agrees_is_meant(tmp_path: Path) -> None:
    story = begun()
    story.entries.pop()
    block = sentences("new path", 20)
    story.commit(TITLE, {"a.py": told(BASE, 10, block)})
    near = [*block[:19], "a line of its own to end with"]
    story.commit(TITLE, {"a.py": told(story.text("a.py").splitlines(), 50, near)})
    changed = [*story.text("a.py").splitlines()]
    changed[9] = "what stands before it is another line since"
    story.commit("Work on it", {"a.py": joined(changed)})
    story.commit(f'Revert "{TITLE}"', {"a.py": joined([*changed[:10], *changed[30:]])})
    undoing, made = last(story, tmp_path)
    assert undoing is not None
    assert (undoing.kind, targets(undoing, made)) == (RevertKind.FULL, [1])
    assert hows(undoing) == [[How.TITLE, How.LINES]]


def test_a_number_that_is_a_reason_is_no_target(tmp_path: Path) -> None:
    story = begun()
    rest = [line for line in story.text("a.py").splitlines() if line != BLOCK[0]]
    come = sentences("careful way", 5)
    story.commit("hotfix: revert to the careful way, see #12", {"a.py": told(rest, 30, come)})
    undoing, made = last(story, tmp_path)
    assert undoing is not None
    assert (undoing.kind, undoing.matches) == (RevertKind.UNKNOWN, ())
    assert made[1][:12] in undoing.because


def test_of_a_change_made_twice_with_a_revert_between_the_newest_is_meant(tmp_path: Path) -> None:
    story = begun()
    changed = story.text("a.py")
    story.commit(f'Revert "{TITLE}"', {"a.py": joined(BASE)})
    story.commit(TITLE, {"a.py": changed})
    story.commit(f'Revert "{TITLE}"', {"a.py": joined(BASE)})
    undoing, made = last(story, tmp_path)
    assert targets(undoing, made) == [3]


def test_what_is_no_ancestor_is_no_target(tmp_path: Path) -> None:
    story = Story()
    story.commit("Begin", {"a.py": told(BASE, 10, BLOCK), "b.py": joined(BASE)})
    story.commit("Prepare", {"b.py": joined(BASE[1:])})
    story.commit(f"{TITLE}", {"c.py": joined(BLOCK)}, branch="other")
    story.commit("On main", {"c.py": joined(BLOCK), "b.py": joined(BASE[2:])}, parents=[1])
    story.commit(f'Revert "{TITLE}"', {"c.py": None}, parents=[3])
    made = story.write(tmp_path / "repository")
    answers = reverts(made, tmp_path)
    undoing = answers.by(made[4])
    assert undoing is not None
    assert made[2] not in [match.commit for match in undoing.matches]
    assert answers.of(made[2], made[4]) == ()


@pytest.mark.parametrize("lines", [[""], ["}"], ["    return None"], ["", "", ""]])
def test_trivial_lines_prove_nothing_from_afar(lines: list[str], tmp_path: Path) -> None:
    story = begun()
    story.entries.pop()
    story.commit("Space it out", {"a.py": told(BASE, 10, lines)})
    story.commit("Work", {"a.py": told([*BASE[:30], "work on the far end"], 10, lines)})
    story.commit("Tidy", {"a.py": joined([*BASE[:30], "work on the far end"])})
    undoing, _made = last(story, tmp_path)
    assert undoing is None


def test_a_flag_that_goes_back_at_once_is_said_to_be_so_for_its_lines(tmp_path: Path) -> None:
    story = begun()
    story.entries.pop()
    on = [*BASE[:10], "enable_the_fast_path = True", *BASE[10:]]
    off = [*BASE[:10], "enable_the_fast_path = False", *BASE[10:]]
    story.commit("Have a flag", {"a.py": joined(off)})
    story.commit("Set it", {"a.py": joined(on)})
    noise(story, 2)
    story.commit("Be careful", {"a.py": joined(off)})
    undoing, made = last(story, tmp_path)
    assert undoing is not None
    assert targets(undoing, made) == [2]
    assert hows(undoing) == [[How.LINES]]
    assert undoing.matches[0].clues[0].detail.endswith("nobody else changed these files in between")


def test_a_word_alone_is_no_revert(tmp_path: Path) -> None:
    story = begun()
    story.commit(
        "Add a button that will revert the form", {"a.py": story.text("a.py") + "button it is\n"}
    )
    undoing, _made = last(story, tmp_path)
    assert undoing is not None
    assert (undoing.kind, undoing.matches) == (RevertKind.NOT_A_REVERT, ())
    assert undoing.because


def test_one_that_changes_nothing_is_none(tmp_path: Path) -> None:
    story = begun()
    story.commit(f'Revert "{TITLE}"')
    undoing, _made = last(story, tmp_path)
    assert undoing is not None
    assert (undoing.kind, undoing.because) == (RevertKind.NOT_A_REVERT, "it changes nothing")


def test_what_says_nothing_and_does_nothing_is_nothing(tmp_path: Path) -> None:
    story = begun()
    noise(story, 1)
    made = story.write(tmp_path / "repository")
    assert [reverts(made, tmp_path).by(sha) for sha in made.shas] == [None] * 3


def test_lines_that_anyone_takes_out_are_no_revert_of_who_wrote_them(tmp_path: Path) -> None:
    story = begun()
    story.commit("Revert to the plain way", {"b.py": joined(sentences("other", 30)[6:])})
    undoing, made = last(story, tmp_path)
    assert undoing is not None
    assert (undoing.kind, undoing.matches) == (RevertKind.UNKNOWN, ())
    assert made[0][:12] in undoing.because


def test_numbers_in_addresses_are_nobodys(tmp_path: Path) -> None:
    story = begun()
    body = "Revert it.\n\nCo-authored-by: Ben <12+ben@users.noreply.example.org>"
    story.commit(f"Revert the plain way\n\n{body}", {"b.py": story.text("b.py") + "more of it\n"})
    undoing, made = last(story, tmp_path)
    assert undoing is not None
    assert undoing.matches == ()
    assert made[1][:12] not in undoing.because
