"""`confirmed`: what it takes, what each missing part is called, and that nothing else makes it so."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.judge.causes import AGAIN, BROKEN, FIXED, FULL, arms, back, removal
from tests.judge.events import AT, by_hand, log
from workbench.judge.confirming import Proof, is_load, proof
from workbench.judge.states import standings
from workbench.model.event import (
    Bearing,
    Body,
    Circumstances,
    Exposed,
    Grade,
    Role,
    Ruling,
    VerdictGiven,
)
from workbench.model.standing import Standing, State
from workbench.model.verdict import Held, Verdict

IN_ONE = Exposed(what="metric pages_total", control=True)
LOAD = Exposed(what="metric peak_in_flight", control=True, treatment=True)


def standing(*bodies: Body) -> Standing:
    return standings(log(bodies), ["H1"])["H1"]


def shown(*bodies: Body) -> Proof:
    return proof(standing(*bodies).items)


def test_removed_put_back_and_exposed_is_confirmed() -> None:
    seen = standing(removal(), back())
    assert (seen.state, seen.grade) == (State.CONFIRMED, Grade.INTERVENED)
    assert seen.was == (State.OPEN, State.SUPPORTED, State.CONFIRMED)
    assert (seen.role, seen.role_suggested) == (None, False)
    found = proof(seen.items)
    assert found.confirmed
    assert found.exposed
    assert found.removed is not None
    assert found.put_back is not None
    assert (found.removed.source.run, found.put_back.source.run) == ("away1", "back3")


def test_the_order_in_which_verdicts_came_on_record_does_not_matter() -> None:
    """When the runs were planned and ended does; whoever was killed may say so late."""
    assert standing(back(), removal()).state is State.CONFIRMED
    assert standing(removal(hour=3), back(hour=1)).state is State.SUPPORTED


@pytest.mark.parametrize(
    ("bodies", "lacks", "because"),
    [
        ([], "a", "no run has tried"),
        ([back()], "a", "no run has tried"),
        ([by_hand(Grade.INTERVENED, Bearing.FOR)], "a", "no run has tried"),
        ([removal(Verdict.PRESENT_BUT_SMALL), back()], "a", "away1 says present-but-small"),
        ([removal(prediction=Held.UNTESTED), back()], "a", "of the prediction untested"),
        ([removal(prediction=Held.REFUTED), back()], "a", "of the prediction refuted"),
        ([removal(arms=arms(BROKEN, {"build": "fixed", "cache": "off"})), back()], "a", "joint claim"),
        ([removal(arms={}), back()], "a", "what away1 changed is not on record"),
        ([removal(circumstances=None), back()], "a", "when away1 ended is not on record"),
        ([removal(ended=None), back()], "a", "when away1 ended is not on record"),
        ([removal()], "b", "no run has tried"),
        ([removal(), removal(hour=4)], "b", "no run has tried"),
        ([removal(), back(Verdict.INCONCLUSIVE)], "b", "back3 put it back and says inconclusive"),
        ([removal(), back(Verdict.PRESENT_BUT_SMALL)], "b", "says present-but-small"),
        ([removal(), back(arms=arms(AGAIN, BROKEN))], "b", "not the fixed setting"),
        ([removal(), back(arms=arms({**FIXED, "cache": "off"}, FIXED))], "b", "differ in cache"),
        ([removal(), back(arms=arms({**AGAIN, "cache": "off"}, FIXED))], "b", "differ in 2 knobs"),
        ([removal(), back(symptom="wedged")], "b", "symptom is wedged"),
        ([removal(), back(workload="other")], "b", "workload is other"),
        ([removal(), back(engine="prod")], "b", "engine is prod"),
        ([removal(), back(hour=0)], "b", "planned or begun before away1 had ended"),
        ([removal(), back(planned=AT)], "b", "planned or begun before away1 had ended"),
        ([removal(), back(began=None)], "b", "planned and begun is not on record"),
        ([removal(), back(reset="")], "b", "what lay between the starts of back3 is not on record"),
        ([removal(exposed=()), back()], "c", "away1 counted nothing of its own path"),
        ([removal(), back(exposed=(LOAD,))], "c", "back3 counted nothing of its own path"),
        ([removal(), back(exposed=(IN_ONE,))], "c", "back3 counted metric pages_total in one arm"),
        (
            [removal(), back(exposed=(replace(FULL, treatment=False),))],
            "c",
            "back3 did not reach metric pages_total in both arms",
        ),
        ([removal(), back(exposed=(replace(FULL, what="metric b"),))], "c", "different things"),
    ],
)
def test_what_is_missing_is_named(bodies: list[Body], lacks: str, because: str) -> None:
    found = shown(*bodies)
    assert found.lacks == lacks
    assert because in found.because
    assert not found.confirmed
    assert standing(*bodies).state is not State.CONFIRMED


def test_without_the_path_it_is_intervened_and_supported_and_the_role_is_suggested() -> None:
    seen = standing(removal(exposed=()), back())
    assert (seen.state, seen.grade) == (State.SUPPORTED, Grade.INTERVENED)
    assert (seen.role, seen.role_suggested) == (Role.CONTRIBUTING, True)
    alone = standing(removal(exposed=(IN_ONE, LOAD)), back())
    assert (alone.state, alone.role, alone.role_suggested) == (State.SUPPORTED, Role.EXPOSER, True)
    ruled = standing(
        removal(exposed=()), back(), Ruling(hypothesis="H1", because="so", role=Role.CAUSE)
    )
    assert (ruled.state, ruled.role, ruled.role_suggested) == (State.SUPPORTED, Role.CAUSE, False)


def test_one_whole_pair_is_enough_whatever_else_was_run() -> None:
    lame = removal(hour=5, exposed=(), digest="another test")
    assert standing(removal(), back(), lame).state is State.CONFIRMED
    assert standing(removal(), back(exposed=()), back(hour=6)).state is State.CONFIRMED
    assert standing(removal(), back(Verdict.NOT_REPRODUCED), back(hour=6)).state is State.CONFIRMED


def test_what_is_against_it_takes_it_back_and_so_does_a_strike() -> None:
    against = removal(Verdict.FALSIFIED, hour=8, digest="another test")
    assert standing(removal(), back(), against).state is State.CONTESTED
    assert standing(removal(), back(), back(Verdict.FALSIFIED, hour=8)).state is State.CONTESTED
    struck = standing(removal(), back(), Ruling(hypothesis="H1", because="so", strikes=("n0000",)))
    assert (struck.state, struck.grade) == (State.SUPPORTED, Grade.COMPARED)
    assert struck.was[-2] is State.CONFIRMED
    both = Ruling(hypothesis="H1", because="so", strikes=("n0000", "n0001"))
    assert standing(removal(), back(), both, against).state is State.OVERTURNED


def test_two_runs_that_put_back_are_never_one_process() -> None:
    seen = standing(removal(), back(Verdict.FALSIFIED), back(hour=6))
    assert [item.counts for item in seen.items] == [True, True, True]
    assert seen.state is State.CONTESTED


def test_measures_of_load_tell_of_no_path() -> None:
    for what in ("metric peak_in_flight", "metric sglang:num_running_reqs"):
        assert is_load(what)
    for what in ("metric hicache_loaded_pages_total", "log 'in_flight' of prefill"):
        assert not is_load(what)


EXPOSED = st.sampled_from(
    [
        FULL,
        IN_ONE,
        LOAD,
        Exposed(what="metric pages_total", control=True, treatment=False),
        Exposed(what="metric other_total", control=True, treatment=True),
    ]
)
RUNS = st.builds(
    lambda made, word, hour, held, reset, exposed: made(
        word, hour, prediction=held, reset=reset, exposed=tuple(exposed)
    ),
    st.sampled_from([removal, back]),
    st.sampled_from([Verdict.PRESENT, Verdict.PRESENT, Verdict.PRESENT, Verdict.FALSIFIED]),
    st.integers(0, 6),
    st.sampled_from([Held.HELD, Held.HELD, Held.UNTESTED]),
    st.sampled_from(["a new process", "a new process", ""]),
    st.lists(EXPOSED, max_size=2),
)
OTHERS = st.sampled_from(
    [
        by_hand(Grade.COMPARED, Bearing.FOR),
        by_hand(Grade.READ, Bearing.AGAINST),
        Ruling(hypothesis="H1", because="so", strikes=("n0001",)),
        Ruling(hypothesis="H1", because="so", role=Role.CAUSE),
    ]
)
HISTORIES = st.lists(st.one_of(RUNS, RUNS, RUNS, OTHERS), max_size=7).map(
    lambda bodies: [
        replace(body, digest=f"d{at}", run=f"{body.run}-{at}")
        if isinstance(body, VerdictGiven)
        else body
        for at, body in enumerate(bodies)
    ]
)


def by_the_rules(seen: Standing) -> bool:
    """Read RULES 8 once more, over the verdicts that count."""
    runs: list[tuple[VerdictGiven, Circumstances]] = [
        (item.verdict, item.verdict.circumstances or Circumstances())
        for item in seen.items
        if item.counts and item.verdict is not None and item.verdict.verdict is Verdict.PRESENT
    ]
    for a, first in runs:
        for _, second in runs:
            full = {each.what for each in first.exposed if each.control and each.treatment}
            full &= {each.what for each in second.exposed if each.control and each.treatment}
            asked: list[Any] = [*first.exposed, *second.exposed]
            missed = any(each.treatment is False for each in asked)
            if (
                (first.put_back, second.put_back) == (False, True)
                and a.prediction is Held.HELD
                and first.ended is not None
                and second.planned is not None
                and second.planned >= first.ended
                and second.reset
                and full - {LOAD.what}
                and not missed
            ):
                return True
    return False


@given(HISTORIES)
def test_it_is_confirmed_exactly_when_the_rules_say_so(history: list[Body]) -> None:
    seen = standing(*history)
    against = any(item.counts and item.bearing is Bearing.AGAINST for item in seen.items)
    assert (seen.state is State.CONFIRMED) == (by_the_rules(seen) and not against)


@given(HISTORIES)
def test_it_is_never_confirmed_without_both_runs(history: list[Body]) -> None:
    for kept in (True, False):
        some = [body for body in history if not isinstance(body, VerdictGiven) or body.put_back is kept]
        assert State.CONFIRMED not in standing(*some).was


@given(HISTORIES.flatmap(lambda history: st.tuples(st.just(history), st.permutations(history))))
def test_the_order_of_the_log_does_not_matter(orders: tuple[list[Body], list[Body]]) -> None:
    confirmed = []
    for order in orders:
        runs = [body for body in order if not isinstance(body, Ruling)]
        confirmed.append(standing(*runs).state is State.CONFIRMED)
    assert confirmed[0] == confirmed[1]


@given(HISTORIES)
def test_what_an_older_workbench_wrote_confirms_nothing(history: list[Body]) -> None:
    older = [
        replace(body, circumstances=None) if isinstance(body, VerdictGiven) else body
        for body in history
    ]
    seen = standing(*older)
    assert State.CONFIRMED not in seen.was
    assert seen.grade is not Grade.INTERVENED


def test_a_removal_that_ends_when_the_put_back_is_planned_came_before() -> None:
    assert standing(removal(ended=AT + timedelta(hours=3)), back()).state is State.CONFIRMED
