"""A server may ask to be waited for, in seconds or until a date, and not for ever."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.http.reply import Attempt, Outcome, Stamps
from workbench.http.retrying import Retry, retry_after

NOW = datetime(2026, 1, 10, 12, 0, 0, tzinfo=UTC)


def ended(outcome: Outcome, status: int | None = None, **headers: str) -> Attempt:
    told = {name.replace("_", "-"): value for name, value in headers.items()}
    return Attempt(outcome=outcome, status=status, headers=told, stamps=Stamps(sent=0.0, ended=1.0))


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        ("120", 120.0),
        ("9" * 4000, 999_999_999_999.0),
        ("Sat, 10 Jan 2026 12:00:05 GMT", 5.0),
        ("Saturday, 10-Jan-26 12:00:05 GMT", 5.0),
        ("Sat Jan 10 12:00:05 2026", 5.0),
        ("Sat, 10 Jan 2026 11:00:00 GMT", 0.0),
        ("soon", None),
        ("-5", None),
        ("", None),
        ("٣", None),
        ("Sat, 99 Jan 2026 12:00:05 GMT", None),
    ],
)
def test_both_forms(value: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": value}, NOW) == seconds


@given(st.text(max_size=60))
def test_anything_else_is_nothing(value: str) -> None:
    asked = retry_after({"retry-after": value}, NOW)
    assert asked is None or asked >= 0


def test_a_date_is_relative_to_the_servers_own_clock() -> None:
    theirs = NOW + timedelta(hours=3)
    told = {"date": format_datetime(theirs, usegmt=True)}
    told["retry-after"] = format_datetime(theirs + timedelta(seconds=7), usegmt=True)
    assert retry_after(told, NOW) == 7.0


def test_the_year_2099_is_not_waited_for() -> None:
    busy = ended(Outcome.HTTP_ERROR, 503, retry_after="Thu, 01 Jan 2099 00:00:00 GMT")
    assert Retry(longest_wait=20.0).pause(busy, 1, NOW) == 20.0


def test_only_what_was_asked_for_is_sent_again() -> None:
    retry = Retry(times=2, wait=0.5)
    assert retry.pause(ended(Outcome.HTTP_ERROR, 429), 1, NOW) == 0.5
    assert retry.pause(ended(Outcome.HTTP_ERROR, 429), 2, NOW) == 0.5
    assert retry.pause(ended(Outcome.HTTP_ERROR, 429), 3, NOW) is None
    assert retry.pause(ended(Outcome.HTTP_ERROR, 500), 1, NOW) is None
    assert retry.pause(ended(Outcome.RESET), 1, NOW) is None
    assert retry.pause(ended(Outcome.COMPLETED, 200), 1, NOW) is None
    refused = Retry(outcomes=frozenset({Outcome.REFUSED}), wait=0.0)
    assert refused.pause(ended(Outcome.REFUSED), 1, NOW) == 0.0


@pytest.mark.parametrize("wrong", [{"times": -1}, {"wait": -1.0}, {"longest_wait": float("nan")}])
def test_negative_numbers_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must not be negative"):
        Retry(**wrong)  # type: ignore[arg-type]
