"""Patterns in their order, and what they may look at."""

from __future__ import annotations

import json
from typing import Any

import pytest

from workbench.classifiers.regex import Regex, RegexOptions
from workbench.errors import PluginError
from workbench.model.ids import ExchangeKey, SessionKey
from workbench.model.outcome import Ending, Exchange, Label
from workbench.model.plan import Part
from workbench.plugins import Group, build

KEY = ExchangeKey(SessionKey("control", 1, 0), 0)
PATTERNS = {"leaked": "<.DSML", "garbled": "(?i)garb.ed|DSML"}


def label(text: str, *, code: int | None = None, signal: str = "", **options: Any) -> Label:
    classifier = Regex(RegexOptions(**{"patterns": PATTERNS, **options}))
    return classifier.label(Exchange(key=KEY, text=text, exit_code=code, signal=signal))


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("all is well", "clean"),
        ("Garbled", "garbled"),
        ("the <\uff5cDSML", "leaked"),
        ("DSML, then <\uff5cDSML", "leaked"),  # the order of patterns decides, not that of the text
        ("", "clean"),
    ],
)
def test_the_first_pattern_found_gives_the_label(text: str, word: str) -> None:
    assert label(text).word == word


def test_a_label_says_which_pattern_and_groups_by_it() -> None:
    found = label("garbled at 17")
    assert found.rule == "pattern 'garbled' is found in the text"
    assert found.signature == label("GARBLED at 18").signature
    assert label("fine").signature == ""


@pytest.mark.parametrize(
    ("code", "signal", "text", "word"),
    [
        (0, "", "fine", "clean"),
        (1, "", "garbled", "garbled"),
        (1, "", "ImportError", "other"),
        (125, "", "no device", "skipped"),
        (None, "SIGSEGV", "", "other"),
        (None, "SIGKILL", "", "skipped"),
        (None, "", "fine", "clean"),
    ],
)
def test_a_command_that_failed_is_not_clean_for_want_of_a_pattern(
    code: int | None, signal: str, text: str, word: str
) -> None:
    assert label(text, code=code, signal=signal).word == word


def test_an_exchange_without_an_end_is_not_judged() -> None:
    classifier = Regex(RegexOptions(patterns=PATTERNS))
    assert classifier.label(Exchange(key=KEY, text="DSML", ending=Ending.TIMEOUT)).word == "unfinished"


def test_within_content_the_escapes_of_json_are_gone() -> None:
    call = {"function": {"name": "book", "arguments": json.dumps({"a": ["<\uff5cDSML"]})}}
    body = json.dumps({"choices": [{"message": {"content": "x", "tool_calls": [call]}}]})
    assert label(body).word == "garbled"
    assert label(body, within="content").word == "leaked"


def test_long_texts_are_looked_at_from_both_ends_and_the_label_says_so() -> None:
    middle = "x" * 60 + "garbled" + "x" * 60
    assert label(middle, look_at=127).word == "garbled"
    found = label(middle, look_at=100)
    assert (found.word, found.rule) == (
        "clean",
        "no pattern is found in the first and last 50 characters",
    )
    for text in ("garbled" + "x" * 200, "x" * 200 + "garbled"):
        assert label(text, look_at=100).word == "garbled"


def test_a_pattern_of_quadratic_time_ends_on_a_long_text() -> None:
    assert label("x" * 2_000_000, patterns={"slow": "x*y"}, look_at=4_000).word == "clean"


def test_labels_can_be_clean_or_void_as_the_campaign_says() -> None:
    options = RegexOptions(
        patterns={"fine": "ok", "busy": "try again"}, otherwise="lost", clean=("fine",), void=("busy",)
    )
    classifier = Regex(options)
    assert (classifier.clean, classifier.void) == (("fine",), ("busy", "skipped"))
    assert set(classifier.words) == {"fine", "busy", "lost", "unfinished", "other", "skipped"}
    assert label("?", patterns={"fine": "ok"}, otherwise="lost").word == "lost"


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"patterns": {}}, "one at least"),
        ({"patterns": {"bad": "a(b"}}, "'bad' is no regular expression: .*at position 1: 'a\\(b'"),
        ({"patterns": {"bad": "x{9999999999999}"}}, "'bad' is"),
        ({"patterns": {"two words": "x"}}, "no name"),
        ({"patterns": {"skipped": "x"}}, "is taken"),
        ({"patterns": {"a": "x"}, "otherwise": "other"}, "is taken"),
        ({"patterns": {"a": "x"}, "clean": ("b",)}, "clean: no pattern gives the label 'b'"),
        ({"patterns": {"a": "x"}, "void": ("b",)}, "void: no pattern gives the label 'b'"),
        ({"patterns": {"a": "x"}, "void": ("a",), "clean": ("a",)}, "clean and void"),
        ({"patterns": {"a": "x"}, "look_at": 1}, "look_at"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], what: str) -> None:
    with pytest.raises(ValueError, match=what):
        RegexOptions(**options)


def test_a_bad_pattern_of_a_plan_is_told_with_its_position() -> None:
    with pytest.raises(PluginError, match=r"classifier 'regex': pattern 'a' .* at position 0"):
        build(Group.CLASSIFIER, Part(kind="regex", options={"patterns": {"a": "*"}}))
