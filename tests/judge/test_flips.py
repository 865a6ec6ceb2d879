"""Flips: whatever is listed flips the state when it is done, and nothing that would is left out."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tests.judge.causes import AGAIN, BROKEN, FIXED, FULL, back, removal
from tests.judge.events import by_hand, log
from tests.judge.test_confirming import HISTORIES
from workbench.judge.confirming import Pair
from workbench.judge.flips import Change, Flip, Planned, flips, strike
from workbench.judge.states import standings
from workbench.model.event import Bearing, Body, Grade
from workbench.model.standing import Standing, State
from workbench.model.verdict import Verdict

TEST = Pair(control=BROKEN, treatment=FIXED, symptom="garbled", workload="agents", engine="local")
BACK = replace(TEST, control=AGAIN)
PLANNED = Planned(hypothesis="H1", test=TEST, put_back=BACK, exposed=(FULL,), assumptions=("A1",))
SUSPECTS = st.sampled_from(
    [PLANNED, replace(PLANNED, test=None), Planned(hypothesis="H1"), replace(PLANNED, exposed=())]
)


def standing(*bodies: Body) -> Standing:
    return standings(log(bodies), ["H1"])["H1"]


def found(planned: Planned, *bodies: Body) -> tuple[Flip, ...]:
    return flips(planned, standing(*bodies), log(bodies))


def told(*bodies: Body, planned: Planned = PLANNED) -> list[tuple[str, str, str]]:
    return [(each.change.value, each.about, each.state.value) for each in found(planned, *bodies)]


def test_an_open_suspect_flips_by_what_its_test_may_say() -> None:
    assert told() == [
        ("test", "present", "supported"),
        ("test", "present-but-small", "supported"),
        ("test", "falsified", "falsified"),
        ("test", "prediction-refuted", "falsified"),
        ("test", "not-reproduced", "inconclusive"),
        ("test", "inconclusive", "inconclusive"),
    ]


def test_a_removed_suspect_flips_by_a_strike_an_assumption_and_its_put_back_run() -> None:
    decided = replace(PLANNED, test=None)
    assert told(removal(), planned=decided) == [
        ("strike", "n0000", "open"),
        ("assumption", "A1", "open"),
        ("put-back", "present", "confirmed"),
        ("put-back", "falsified", "contested"),
        ("put-back", "prediction-refuted", "contested"),
    ]
    without_path = replace(decided, exposed=())
    assert ("put-back", "present", "confirmed") not in told(removal(exposed=()), planned=without_path)


def test_what_two_items_hold_no_single_one_flips() -> None:
    twice = (by_hand(Grade.OBSERVED, Bearing.FOR), by_hand(Grade.OBSERVED, Bearing.FOR))
    assert found(Planned(hypothesis="H1"), *twice) == ()


def test_the_cheapest_comes_first_and_of_strikes_the_worst_founded() -> None:
    bodies = (by_hand(Grade.READ, Bearing.AGAINST), by_hand(Grade.ARGUED, Bearing.FOR))
    changes = found(PLANNED, *bodies)
    assert [each.about for each in changes if each.change is Change.STRIKE] == ["E-0001", "E-0000"]
    order = list(Change)
    places = [order.index(each.change) for each in changes]
    assert places == sorted(places)


@given(SUSPECTS, HISTORIES)
def test_striking_what_flips_lists_flips_and_striking_anything_else_does_not(
    planned: Planned, history: list[Body]
) -> None:
    before = standing(*history)
    listed = {
        each.about: each.state
        for each in flips(planned, before, log(history))
        if each.change is Change.STRIKE
    }
    for item in before.items:
        after = standing(*history, strike("H1", item.id))
        if item.counts and after.state is not before.state:
            assert listed[item.id] is after.state
        else:
            assert item.id not in listed


@given(SUSPECTS, HISTORIES)
def test_every_flip_leads_to_another_state(planned: Planned, history: list[Body]) -> None:
    before = standing(*history)
    for each in flips(planned, before, log(history)):
        assert each.state is not before.state
        if each.state is State.CONFIRMED:
            assert each.change is not Change.TEST or any(
                item.verdict is not None and item.verdict.put_back for item in before.items
            )


def test_a_put_back_that_would_be_refused_is_not_offered() -> None:
    wrong = replace(PLANNED, test=None, put_back=replace(BACK, treatment={"build": "broken"}))
    assert not any(change == "put-back" for change, _, _ in told(removal(), planned=wrong))
    assert not any(change == "put-back" for change, _, _ in told(removal(Verdict.INCONCLUSIVE)))
    assert not any(change == "put-back" for change, _, _ in told(back()))
