"""Each state has its reason and its next step; the most pressing suspect comes first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.report.campaign import START, build, hypothesis, run_id
from workbench.model.campaign import CampaignSpec
from workbench.model.event import Bearing, Grade, Source
from workbench.model.hypothesis import Hypothesis, Problem
from workbench.model.registry import Registry, RunLine
from workbench.model.run import RunState
from workbench.model.standing import Item, Standing, State
from workbench.report.reasons import because
from workbench.report.steps import campaign_step, next_of_all, next_step
from workbench.report.suspects import Roster, roster


def item(bearing: Bearing, id: str = "E-aaaa", *, counts: bool = True) -> Item:
    return Item(
        id=id,
        at=START,
        who="ana",
        agent=False,
        grade=Grade.OBSERVED,
        bearing=bearing,
        text="",
        source=Source(),
        counts=counts,
        why_not="" if counts else "struck",
    )


FOR, AGAINST = item(Bearing.FOR), item(Bearing.AGAINST, "E-bbbb")
NEUTRAL, STRUCK = item(Bearing.NEUTRAL), item(Bearing.FOR, counts=False)


def campaign(
    *standings: Standing, files: tuple[Hypothesis, ...] | None = None, **fields: object
) -> Roster:
    if files is None:
        files = tuple(hypothesis(int(each.hypothesis[1:])) for each in standings)
    plain = Registry(
        root="",
        spec=CampaignSpec(title=""),
        hypotheses=files,
        standings={each.hypothesis: each for each in standings},
    )
    return roster(replace(plain, **fields))  # type: ignore[arg-type]


def standing(state: State, number: int = 1, *items: Item, **fields: object) -> Standing:
    plain = Standing(hypothesis=f"H{number}", state=state, items=items, grade=Grade.COMPARED)
    return replace(plain, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("state", "items", "reason"),
    [
        (State.OPEN, (), "nothing bears on it yet"),
        (State.OPEN, (STRUCK,), "nothing that bears on it counts any more"),
        (State.OPEN, (NEUTRAL,), "what there is speaks neither for nor against it: E-aaaa (observed)"),
        (
            State.INCONCLUSIVE,
            (NEUTRAL,),
            "what there is speaks neither for nor against it: E-aaaa (observed)",
        ),
        (State.SUPPORTED, (FOR, STRUCK), "E-aaaa (observed); nothing that counts is against it"),
        (State.CONTESTED, (FOR, AGAINST), "for it E-aaaa (observed), and against it E-bbbb (observed)"),
        (State.FALSIFIED, (AGAINST,), "E-bbbb (observed); nothing that counts is for it"),
        (
            State.OVERTURNED,
            (AGAINST,),
            "it was supported, and now E-bbbb (observed); nothing that counts is for it",
        ),
        (
            State.CONFIRMED,
            (FOR,),
            "removed and put back: E-aaaa (observed); nothing that counts is against it",
        ),
        (State.SUPERSEDED, (), "H2 replaces it"),
    ],
)
def test_each_state_has_its_reason(state: State, items: tuple[Item, ...], reason: str) -> None:
    (suspect,) = campaign(standing(state, 1, *items, replaced_by="H2"))
    assert because(suspect) == reason


@pytest.mark.parametrize(
    ("state", "fields", "command"),
    [
        (State.OPEN, {}, "workbench test H1"),
        (State.INCONCLUSIVE, {}, "workbench test H1"),
        (State.CONTESTED, {}, "workbench test H1"),
        (State.SUPPORTED, {"grade": Grade.READ}, "workbench test H1"),
        (State.SUPPORTED, {}, 'workbench new "..." --parent H1'),
        (State.CONFIRMED, {}, "workbench export"),
        (State.FALSIFIED, {}, 'workbench reopen H1 --because "..."'),
        (State.OVERTURNED, {}, 'workbench reopen H1 --because "..."'),
        (State.SUPERSEDED, {}, 'workbench reopen H1 --because "..."'),
        (State.FALSIFIED, {"reopened": True}, "workbench test H1"),
    ],
)
def test_each_state_has_its_next_step(state: State, fields: dict[str, object], command: str) -> None:
    (suspect,) = campaign(standing(state, 1, **fields))
    assert next_step(suspect).command == command


def test_what_cannot_be_run_is_to_be_written_first() -> None:
    bare = hypothesis(1, runnable=False)
    (suspect,) = campaign(standing(State.OPEN), files=(bare,))
    step = next_step(suspect)
    assert (step.what, step.command) == ("write its prediction and test", "workbench edit H1")
    (suspect,) = campaign(standing(State.OPEN), files=())
    assert next_step(suspect).command == "workbench check"


def test_the_most_pressing_comes_first() -> None:
    states = [State.INCONCLUSIVE, State.OPEN, State.SUPPORTED, State.CONTESTED, State.FALSIFIED]
    standings = [standing(state, number) for number, state in enumerate(states, 1)]
    standings[4] = replace(standings[4], reopened=True)
    order = []
    while standings:
        first = next_of_all(campaign(*standings)).what.partition(":")[0]
        order.append(first)
        standings = [each for each in standings if each.hypothesis != first]
    assert order == ["H5", "H4", "H3", "H2", "H1"]


def test_what_is_left_when_no_suspect_waits() -> None:
    problem = Problem(file="hypotheses/H02.yaml", line=1, column=1, what="bad")
    assert next_of_all(campaign()).what == "name a suspect"
    assert next_of_all(campaign(problems=(problem,))).command == "workbench check"
    fallen = standing(State.FALSIFIED)
    assert next_of_all(campaign(fallen)).what == "every suspect is out: name another"
    assert next_of_all(campaign(fallen, standing(State.CONFIRMED, 2))).command == "workbench export"


def test_a_run_under_way_is_waited_for() -> None:
    line = RunLine(id=run_id(0), path="", state=RunState.RUNNING)
    assert campaign_step(campaign(standing(State.OPEN), runs=(line,))).what == f"wait for {run_id(0)}"
    assert next_of_all(campaign(standing(State.OPEN), runs=(line,))).command == "workbench test H1"
    assert campaign_step(roster(build())).command == "workbench runs"
