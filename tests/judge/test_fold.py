"""From exchanges to trials to counts, in assignment order."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.judge.fold import Tally, exchange_status, trial_status
from workbench.model.ids import ExchangeKey, SessionKey
from workbench.model.outcome import Counts, Ending, Exchange, Label, Status, Symptom

KEY = ExchangeKey(SessionKey("control", 1, 0), 0)
GARBLED = Symptom(name="garbled", labels=("leaked",), clean=("ok",), void=("skipped",))
WEDGED = Symptom(name="wedged", clean=("ok",), endings=(Ending.TIMEOUT,))


@pytest.mark.parametrize(
    ("symptom", "ending", "word", "expected"),
    [
        (GARBLED, Ending.COMPLETED, "leaked", Status.HIT),
        (GARBLED, Ending.COMPLETED, "ok", Status.CLEAN),
        (GARBLED, Ending.COMPLETED, "skipped", Status.INCOMPLETE),
        (GARBLED, Ending.COMPLETED, "something else", Status.ERRORED),
        (GARBLED, Ending.TIMEOUT, "leaked", Status.ERRORED),
        (GARBLED, Ending.ENGINE_DIED, "ok", Status.ERRORED),
        (WEDGED, Ending.TIMEOUT, "ok", Status.HIT),
        (WEDGED, Ending.ENGINE_DIED, "ok", Status.ERRORED),
        (WEDGED, Ending.COMPLETED, "leaked", Status.ERRORED),
    ],
)
def test_what_an_exchange_means_depends_on_the_symptom(
    symptom: Symptom, ending: Ending, word: str, expected: Status
) -> None:
    exchange = Exchange(key=KEY, ending=ending)
    assert exchange_status(exchange, Label(word=word, rule=""), symptom) is expected


@given(st.lists(st.sampled_from(Status), min_size=1))
def test_a_session_is_the_worst_of_its_turns_in_order_of_precedence(statuses: list[Status]) -> None:
    expected = next(status for status in Status if status in statuses)
    assert trial_status(statuses) is expected


@given(st.lists(st.sampled_from(Status), min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_counts_do_not_depend_on_the_order_of_finishing(
    statuses: list[Status], shuffler: random.Random
) -> None:
    places = list(range(len(statuses)))
    shuffler.shuffle(places)
    tally = Tally()
    for place in places:
        tally.add(SessionKey("control", 1, place), statuses[place], last=True)
    counts = tally.counts("control", 1)
    assert counts == Counts.of(statuses)
    assert counts.order == Counts.of(statuses).order


def test_a_session_counts_when_its_last_turn_is_in() -> None:
    tally = Tally()
    session = SessionKey("control", 1, 0)
    tally.add(session, Status.HIT, last=False)
    assert tally.counts("control", 1).total == 0
    assert tally.done("control", 1) == frozenset()
    tally.add(session, Status.CLEAN, last=True)
    assert tally.counts("control", 1) == Counts(1, 0)


def test_turns_of_a_session_that_never_ended_are_forgotten() -> None:
    tally = Tally()
    session = SessionKey("control", 1, 0)
    tally.add(session, Status.HIT, last=False)
    tally.forget_unfinished()
    tally.add(session, Status.CLEAN, last=True)
    assert tally.counts("control", 1) == Counts(0, 1)


def test_a_finished_session_is_never_counted_again() -> None:
    tally = Tally()
    session = SessionKey("control", 1, 0)
    tally.add(session, Status.CLEAN, last=True)
    tally.add(session, Status.HIT, last=True)
    assert tally.counts("control", 1) == Counts(0, 1)


def test_the_prefix_stops_at_the_first_gap() -> None:
    tally = Tally()
    for place in (0, 1, 3):
        tally.add(SessionKey("control", 0, place), Status.CLEAN, last=True)
    assert len(list(tally.prefix("control", 0))) == 2


def test_blocks_and_arms_are_kept_apart_and_summed_on_request() -> None:
    tally = Tally()
    for arm, block in (("control", 0), ("control", 1), ("control", 2), ("treatment", 1)):
        tally.add(SessionKey(arm, block, 0), Status.HIT, last=True)
    assert tally.total("control", from_block=1) == Counts(2, 0)
    assert tally.total("treatment", from_block=1) == Counts(1, 0)
    assert tally.total("nobody") == Counts(0, 0)
