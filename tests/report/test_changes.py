"""What became of the changes that were made because of a suspect."""

from __future__ import annotations

import pytest

from tests.report.campaign import Log, build, hypothesis
from workbench.model.campaign import CampaignSpec
from workbench.model.event import Body, InterventionNoted, Link
from workbench.model.hypothesis import Intervention
from workbench.model.registry import Registry
from workbench.model.standing import Standing, State
from workbench.report.changes import Change, changes
from workbench.report.show import show_record
from workbench.report.suspects import roster

SHA = "0c16cace8" + "0" * 31
FIX = (Intervention(commit=SHA, kind="fix"),)


def found(state: State, *bodies: Body, stated: tuple[Intervention, ...] = FIX) -> tuple[Change, ...]:
    log = Log()
    for body in bodies:
        log.add(body)
    registry = Registry(
        root="",
        spec=CampaignSpec(title=""),
        hypotheses=(hypothesis(5, interventions=stated),),
        standings={"H5": Standing(hypothesis="H5", state=state)},
        events=tuple(log.events),
    )
    return changes(roster(registry).by_id["H5"])


def noted(state: str, commit: str = SHA) -> InterventionNoted:
    return InterventionNoted(hypothesis="H5", commit=commit, state=state, effect="none", because="seen")


@pytest.mark.parametrize(
    ("state", "bodies", "said"),
    [
        (State.OPEN, [], "state not noted, effect unmeasured"),
        (State.SUPPORTED, [noted("live")], "live, effect none (seen)"),
        (State.FALSIFIED, [], "dead, effect unmeasured"),
        (State.OVERTURNED, [noted("live")], "dead, effect none (seen)"),
        (State.FALSIFIED, [noted("live"), noted("reverted")], "dead fix, reverted, effect none (seen)"),
        (State.FALSIFIED, [noted("planned")], "planned, effect none (seen)"),
        (State.SUPPORTED, [noted("dead")], "dead, effect none (seen)"),
    ],
)
def test_a_fix_is_dead_once_its_hypothesis_fell(state: State, bodies: list[Body], said: str) -> None:
    (change,) = found(state, *bodies)
    assert str(change) == f"fix {SHA}: {said}"
    assert change.dead is said.startswith("dead,")
    assert change.was_dead is said.startswith("dead fix")


def test_an_abbreviation_names_the_same_commit_and_a_short_one_none() -> None:
    assert len(found(State.OPEN, noted("live", SHA[:9]))) == 1
    assert len(found(State.OPEN, noted("live", SHA[:4]))) == 2
    assert len(found(State.OPEN, noted("live", "1" + SHA[1:]))) == 2


def test_commits_that_only_the_log_knows_are_told() -> None:
    link = Link(hypothesis="H5", commit="f" * 40, role="cause")
    cause, fix = found(State.FALSIFIED, link, noted("live"), stated=())
    assert str(cause) == f"cause {'f' * 40}"
    assert not cause.dead
    assert (fix.kind, fix.commit, fix.dead) == ("change", SHA, True)


def test_the_record_of_a_suspect_has_its_changes_and_notes() -> None:
    record = show_record(build(), "H5")
    assert [(each["kind"], each["dead"]) for each in record["changes"]] == [("fix", True)]
    assert [each["kind"] for each in record["noted"]] == ["link", "intervention"]
