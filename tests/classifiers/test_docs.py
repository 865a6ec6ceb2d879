"""`docs/classifiers.md` names every label, and its examples are given the labels beside them."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT
from workbench.classifiers.expected import Expected, ExpectedOptions
from workbench.classifiers.families import FAMILIES
from workbench.classifiers.tool_call import ToolCall, ToolCallOptions
from workbench.classifiers.words import MEANINGS
from workbench.model.ids import ExchangeKey, SessionKey
from workbench.model.outcome import Exchange
from workbench.ports import Classifier

DOCUMENT = (ROOT / "docs" / "classifiers.md").read_text(encoding="utf-8")
KEY = ExchangeKey(SessionKey("control", 1, 0), 0)
CLASSIFIERS: dict[str, Classifier] = {
    "tool_call": ToolCall(
        ToolCallOptions(family="deepseek_v4", tools={"book": {"required": ["item"]}})
    ),
    "expected": Expected(ExpectedOptions(well_formed="[a-z]+ [a-z]+")),
}


def rows(title: str) -> list[list[str]]:
    section = DOCUMENT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    found = re.findall(r"^\| `\w+` \|.*\|$", section, re.MULTILINE)
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in found]


EXAMPLES = [
    pytest.param(title, word.strip("`"), example, id=f"{title}-{word.strip('`')}")
    for title in CLASSIFIERS
    for word, _, example in rows(title)
]


@pytest.mark.parametrize(("title", "word", "example"), EXAMPLES)
def test_an_example_is_given_its_label(title: str, word: str, example: str) -> None:
    *expected, reply = re.findall(r"`([^`]+)`", example)
    exchange = Exchange(key=KEY, text=reply, expected=expected[0] if expected else "")
    assert CLASSIFIERS[title].label(exchange).word == word


@pytest.mark.parametrize("title", CLASSIFIERS)
def test_every_label_is_there_with_its_meaning(title: str) -> None:
    told = {word.strip("`"): meaning for word, meaning, _ in rows(title)}
    assert {**told, **MEANINGS} == CLASSIFIERS[title].words


def test_labels_that_all_share_are_there_with_their_meanings() -> None:
    assert {word.strip("`"): meaning for word, meaning in rows("For all but exit_code")} == MEANINGS


def test_every_family_is_named() -> None:
    assert all(f"`{family}`" in DOCUMENT for family in FAMILIES)
