"""The right answer, known beforehand, against what was said."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.classifiers.expected import Expected, ExpectedOptions
from workbench.model.ids import ExchangeKey, SessionKey
from workbench.model.outcome import Ending, Exchange, Label

KEY = ExchangeKey(SessionKey("control", 1, 0), 0)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def label(text: str, right: str = "amber kelp", **options: Any) -> Label:
    exchange = Exchange(key=KEY, text=text, expected=right)
    return Expected(ExpectedOptions(**options)).label(exchange)


@pytest.mark.parametrize(
    ("compare", "text", "right", "word"),
    [
        ("exact", " amber kelp\n", "amber kelp", "ok"),
        ("exact", "Amber kelp", "amber kelp", "wrong"),
        ("words", "Amber\n KELP", "amber kelp", "ok"),
        ("words", "amber kelp.", "amber kelp", "wrong"),
        ("contains", "It is Amber  kelp.", "amber kelp", "ok"),
        ("contains", "It is 142.", "42", "wrong"),
        ("contains", "It is 4.2 (or so)", "4.2", "ok"),
        ("json", '{"b": 1.0, "a": [true]}', '{"a": [true], "b": 1}', "ok"),
        ("json", '{"a": 1}', '{"a": true}', "wrong_but_well_formed"),
        ("json", '{"a": 1', '{"a": 1}', "wrong"),
        ("json", "[" * 100_000, "[]", "wrong"),
        ("exact", " \n ", "x", "empty"),
    ],
)
def test_each_way_of_comparing(compare: str, text: str, right: str, word: str) -> None:
    assert label(text, right, compare=compare).word == word


def test_a_wrong_answer_of_the_right_form_is_told_from_garbage() -> None:
    form = r"[a-z]+ [a-z]+"
    assert label("mint fox", well_formed=form).word == "wrong_but_well_formed"
    assert label("mint fox ?? fox", well_formed=form).word == "wrong"
    assert label("mint " + "f" * 70_000, well_formed=form).word == "wrong"  # too long to be tried


def test_what_is_said_is_read_out_of_a_body() -> None:
    body = {"choices": [{"message": {"content": "amber kelp", "reasoning_content": "hm"}}]}
    assert label(json.dumps(body)).word == "ok"
    assert label("<think>mint?</think>amber kelp").word == "ok"
    body["choices"][0]["message"]["content"] = ""
    assert label(json.dumps(body)).word == "empty"


def test_without_a_right_answer_there_is_no_observation() -> None:
    found = label("amber kelp", right="")
    assert found.word == "unjudged"
    assert "unjudged" in Expected.void


def test_that_of_the_exchange_goes_before_that_of_the_options() -> None:
    assert label("amber", right="", answer="amber").word == "ok"
    assert label("amber", right="kelp", answer="amber").word == "wrong"


def test_a_harness_that_failed_or_never_ended_is_not_judged() -> None:
    classifier = Expected(ExpectedOptions(answer="x"))
    assert classifier.label(Exchange(key=KEY, text="x", exit_code=2)).word == "other"
    assert classifier.label(Exchange(key=KEY, text="x", exit_code=125)).word == "skipped"
    assert classifier.label(Exchange(key=KEY, text="x", ending=Ending.ENGINE_DIED)).word == "unfinished"


@given(values)
def test_a_json_value_is_itself_however_it_is_written(value: object) -> None:
    assert label(json.dumps(value, indent=3), json.dumps(value), compare="json").word == "ok"


@given(values, values)
def test_json_values_are_the_same_only_if_python_says_so(one: object, other: object) -> None:
    if one != other:
        assert label(json.dumps(one), json.dumps(other), compare="json").word != "ok"


@pytest.mark.parametrize(
    ("options", "what"),
    [({"well_formed": "("}, "position 0"), ({"compare": "json", "answer": "{"}, "must be JSON")],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], what: str) -> None:
    with pytest.raises(ValueError, match=what):
        ExpectedOptions(**options)
