"""Where a change stands: what was noted, whether its hypothesis fell, what git sees; all combined."""

from __future__ import annotations

import itertools

import pytest

from tests.judge.events import log
from workbench.judge.interventions import Judged, judged, linked, named
from workbench.model.campaign import CampaignSpec
from workbench.model.commits import CommitStanding, Presence
from workbench.model.event import Body, InterventionNoted, Link, Note
from workbench.model.hypothesis import Intervention
from workbench.model.intervention import InterventionState, Linked, LinkRole
from workbench.model.registry import Registry
from workbench.model.standing import Standing, State

SHA = "0c16cace8" + "0" * 31
ROLES = [*map(str, LinkRole), "change"]
NOTED = ["", *map(str, InterventionState)]


def seen(presence: Presence) -> CommitStanding:
    return CommitStanding(named=SHA, commit=None, presence=presence)


def says(
    role: str = "fix",
    noted: str = "",
    *,
    fallen: bool = False,
    git: Presence | None = None,
    noted_dead: bool = False,
) -> Judged:
    change = Linked(commit=SHA, role=role, state=noted, noted_dead=noted_dead or noted == "dead")
    return judged(change, fallen=fallen, standing=seen(git) if git else None)


@pytest.mark.parametrize(
    ("noted", "fallen", "state", "was_dead"),
    [
        ("", False, "", False),
        ("", True, "dead", False),
        ("planned", True, "planned", False),
        ("live", False, "live", False),
        ("live", True, "dead", False),
        ("reverted", False, "reverted", False),
        ("reverted", True, "reverted", True),
        ("dead", False, "dead", False),
    ],
)
def test_without_git_it_is_what_was_noted(noted: str, fallen: bool, state: str, was_dead: bool) -> None:
    for git in (None, Presence.UNKNOWN):
        found = says(noted=noted, fallen=fallen, git=git)
        assert found == Judged(state=state, was_dead=was_dead)


@pytest.mark.parametrize("git", [Presence.LIVE, Presence.PARTLY])
def test_what_is_in_the_tree_lives_until_its_hypothesis_falls(git: Presence) -> None:
    assert says(git=git) == Judged(state="live", seen=True)
    assert says(git=git, fallen=True) == Judged(state="dead", seen=True)
    assert says(noted="planned", git=git) == Judged(state="live", seen=True)
    assert says(noted="reverted", git=git) == Judged(state="live", seen=True, disputed=True)
    assert says(noted="dead", git=git).state == "dead"


def test_what_was_taken_back_is_reverted_and_may_have_been_dead() -> None:
    git = Presence.REVERTED
    assert says(git=git) == Judged(state="reverted", seen=True)
    assert says(git=git, fallen=True) == Judged(state="reverted", was_dead=True, seen=True)
    assert says(git=git, noted="dead") == Judged(
        state="reverted", was_dead=True, seen=True, disputed=True
    )
    assert says(git=git, noted="reverted", noted_dead=True).was_dead
    assert says(git=git, noted="live").disputed


def test_what_is_not_in_this_history_is_planned_unless_somebody_knows_better() -> None:
    git = Presence.ABSENT
    assert says(git=git) == Judged(state="planned", seen=True)
    assert says(git=git, fallen=True) == Judged(state="planned", seen=True)
    assert says(git=git, noted="live") == Judged(state="live")
    assert says(git=git, noted="live", fallen=True).state == "dead"


@pytest.mark.parametrize("role", ["cause", "revert"])
def test_neither_a_cause_nor_a_revert_dies(role: str) -> None:
    for git in (None, *Presence):
        found = says(role, fallen=True, git=git)
        assert found.state != "dead"
        assert not found.was_dead


def test_all_combinations_agree_with_git_and_with_each_other() -> None:
    for role, noted, fallen, git in itertools.product(ROLES, NOTED, (False, True), Presence):
        found = says(role, noted, fallen=fallen, git=git)
        assert found.state in ("", *InterventionState)
        assert not (found.state == "dead" and found.was_dead)
        if found.was_dead:
            assert found.state == "reverted"
        if found.disputed:
            assert found.seen
            assert noted
        if git is Presence.REVERTED:
            assert found.state == "reverted"
        if git in (Presence.LIVE, Presence.PARTLY):
            assert found.state in ("live", "dead")
            assert found.seen


def gathered(*bodies: Body, stated: tuple[Intervention, ...] = ()) -> tuple[Linked, ...]:
    return linked(stated, log(bodies))


def link(role: str, commit: str = SHA, because: str = "") -> Link:
    return Link(hypothesis="H1", commit=commit, role=role, because=because)


def noted(state: str = "", commit: str = SHA, effect: str = "unmeasured") -> InterventionNoted:
    return InterventionNoted(hypothesis="H1", commit=commit, state=state, effect=effect)


def test_the_log_adds_to_the_file_and_the_last_word_counts() -> None:
    stated = (Intervention(commit=SHA[:9], kind="instrument"),)
    (found,) = gathered(
        link("fix", because="sizes it"), noted("dead"), noted("reverted", effect="none"), stated=stated
    )
    assert (found.commit, found.role, found.state, found.effect) == (
        SHA[:9],
        "fix",
        "reverted",
        "none",
    )
    assert found.noted_dead
    assert found.because == "sizes it"


def test_an_effect_alone_leaves_the_state_as_it_was_noted() -> None:
    (found,) = gathered(link("fix"), noted("live"), noted(effect="none"))
    assert (found.state, found.effect) == ("live", "none")
    (found,) = gathered(link("fix"), noted(effect="none"))
    assert (found.state, found.effect) == ("", "none")


def test_names_of_one_commit_are_one_where_git_knows_them() -> None:
    bodies = (link("fix", "v1.2"), noted("live", SHA))
    assert len(gathered(*bodies)) == 2
    assert len(linked((), log(bodies), {"v1.2": SHA})) == 1


def test_a_change_that_only_was_noted_is_a_change() -> None:
    assert [each.role for each in gathered(noted("live"), Note(text="x"))] == ["change"]


def test_all_commits_of_a_campaign_are_named_once() -> None:
    registry = Registry(
        root="",
        spec=CampaignSpec(title=""),
        standings={"H1": Standing(hypothesis="H1", state=State.OPEN)},
        events=tuple(log([link("fix"), noted("live"), link("cause", "b" * 40)])),
    )
    assert named(registry) == (SHA, "b" * 40)
    assert named(registry, ["H1"]) == (SHA, "b" * 40)
    assert named(registry, ["H2"]) == ()


def test_a_change_of_settings_is_no_name_for_git() -> None:
    said = InterventionNoted(hypothesis="H1", commit="hicache=off", state="live", effect="reduced")
    registry = Registry(
        root="",
        spec=CampaignSpec(title=""),
        standings={"H1": Standing(hypothesis="H1", state=State.OPEN)},
        events=tuple(log([link("fix"), said])),
    )
    assert named(registry) == (SHA,)
    (change,) = linked([Intervention(commit="hicache=off", kind="mitigation")], log([said]))
    assert (change.role, change.state, change.effect) == ("mitigation", "live", "reduced")
    assert judged(change, fallen=False).state == "live"
    assert judged(change, fallen=True).state == "dead"
