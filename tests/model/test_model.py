"""The nouns: ids, keys, counts and predictions, and what they refuse."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.model.ids import RUN_ID, ExchangeKey, SessionKey, run_id
from workbench.model.outcome import Counts, Status
from workbench.model.prediction import Prediction

NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True)
PLACES = st.integers(0, 10**6)


@given(st.integers(0, 2**37), st.integers(0, 2**40 - 1))
def test_run_ids_have_their_form_whatever_the_second_and_the_bits(second: int, bits: int) -> None:
    assert RUN_ID.match(run_id(datetime.fromtimestamp(second, UTC), bits))


def test_run_ids_sort_by_time_in_utc() -> None:
    early = datetime(2026, 11, 29, 23, 30, tzinfo=timezone(timedelta(hours=9)))
    late = datetime(2026, 11, 29, 15, 0, tzinfo=UTC)
    assert run_id(early, 2**40 - 1) < run_id(late, 0)


@given(st.integers(0, 2**40 - 1), st.integers(0, 2**40 - 1))
def test_different_bits_give_different_ids(one: int, other: int) -> None:
    at = datetime(2026, 11, 29, tzinfo=UTC)
    assert (run_id(at, one) == run_id(at, other)) == (one == other)


@given(NAMES, PLACES, PLACES, PLACES)
def test_keys_are_read_as_they_are_written(arm: str, block: int, session: int, turn: int) -> None:
    key = ExchangeKey(SessionKey(arm, block, session), turn)
    assert ExchangeKey.parse(str(key)) == key


@pytest.mark.parametrize("text", ["", "a/1/2", "a/b/c/d", "a/1/2/x"])
def test_what_is_no_key_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        ExchangeKey.parse(text)


@given(st.lists(st.sampled_from(Status)), st.lists(st.sampled_from(Status)))
def test_counts_add_up(some: list[Status], more: list[Status]) -> None:
    assert Counts.of(some) + Counts.of(more) == Counts.of(some + more)
    assert Counts.of(some).total == len(some)


@pytest.mark.parametrize("numbers", [(-1, 0, 0, 0), (0, 0, 0, -2)])
def test_negative_counts_are_refused(numbers: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="negative"):
        Counts(*numbers)


def test_an_order_that_does_not_add_up_is_refused() -> None:
    with pytest.raises(ValueError, match="does not add up"):
        Counts(1, 1, order="hh")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.17:0.05", Prediction(control=0.17, treatment=0.05)),
        ("0.17:0", Prediction(control=0.17, treatment=0.0, removes=True)),
        ("0.17:removes", Prediction(control=0.17, treatment=0.0, removes=True)),
        ("removes", Prediction(treatment=0.0, removes=True)),
    ],
)
def test_predictions_are_read_and_written(text: str, expected: Prediction) -> None:
    assert Prediction.parse(text) == expected
    assert Prediction.parse(str(expected)) == expected


@pytest.mark.parametrize(
    "text", ["", "0.17", "x:y", "1:0", "0:0", "1.2:0", "0.1:0.1", "0.1:-1", "nan:0"]
)
def test_what_is_no_prediction_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        Prediction.parse(text)
