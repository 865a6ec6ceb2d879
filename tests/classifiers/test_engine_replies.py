"""Replies of the local engine with a race in it: garbled ones are told from right ones."""

from __future__ import annotations

import json
import logging
from collections import Counter
from functools import cache
from typing import Any, Literal

import pytest

from tests.conftest import ROOT
from tests.local_engine.bugs import HalfMirror, Ungated
from tests.local_engine.driver import ARGS, BF16, Answer, Dose, drive
from workbench.classifiers.tool_call import ToolCall, ToolCallOptions
from workbench.local_engine.function_call.dsv4 import DSMLParser
from workbench.local_engine.managers.unified import UnifiedScheduler
from workbench.local_engine.tokenizer import get_tokenizer, read_vocabulary
from workbench.model.ids import ExchangeKey, SessionKey
from workbench.model.outcome import Exchange, Label
from workbench.stats.interval import rate_interval

_log = logging.getLogger(__name__)
DOCUMENT = (ROOT / "docs" / "classifiers.md").read_text(encoding="utf-8")
KEY = ExchangeKey(SessionKey("control", 1, 0), 0)
ROUTES = ("raw", "fail-open", "fail-closed")
VOCABULARY = read_vocabulary()
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in VOCABULARY["parameter"]},
    "additionalProperties": False,
}
TOOLS = dict.fromkeys(VOCABULARY["function"], SCHEMA)


@cache
def answers(scheduler: type[UnifiedScheduler]) -> list[Answer]:
    return drive(scheduler(ARGS, BF16), Dose(sessions=24, turns=3)).answers


def reply(answer: Answer, route: str) -> str:
    """Give a reply as a client sees it: the words, or what the server's parser makes of them."""
    text = get_tokenizer().decode(answer.said)
    if route == "raw":
        return text
    parser = DSMLParser(VOCABULARY["function"], fail_open=route == "fail-open")
    first, last = parser.feed(text), parser.close()
    made = [
        {"function": {"name": call.name, "arguments": json.dumps(call.arguments)}}
        for call in (*first.calls, *last.calls)
    ]
    reason = (
        "tool_calls" if made and answer.output.finish_reason == "stop" else answer.output.finish_reason
    )
    message = {"role": "assistant", "content": first.content + last.content, "tool_calls": made}
    return json.dumps({"choices": [{"message": message, "finish_reason": reason}]})


def right(answer: Answer) -> str:
    """Give the right answer as the client knows it."""
    parsed = DSMLParser(VOCABULARY["function"], fail_open=False).feed(
        get_tokenizer().decode(answer.right)
    )
    (call,) = parsed.calls
    return json.dumps({"name": call.name, "arguments": call.arguments})


@cache
def classifier(call: Literal["optional", "required"]) -> ToolCall:
    return ToolCall(ToolCallOptions(family="deepseek_v4", tools=TOOLS, call=call))


def label(
    answer: Answer, route: str, *, knowing: bool, call: Literal["optional", "required"] = "optional"
) -> Label:
    expected = right(answer) if knowing else ""
    return classifier(call).label(Exchange(key=KEY, text=reply(answer, route), expected=expected))


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("scheduler", [UnifiedScheduler, Ungated, HalfMirror])
@pytest.mark.parametrize("knowing", [False, True])
def test_right_answers_are_ok(scheduler: type[UnifiedScheduler], route: str, knowing: bool) -> None:
    fine = [answer for answer in answers(scheduler) if not answer.wrong]
    words = Counter(label(answer, route, knowing=knowing, call="required").word for answer in fine)
    assert words == {"ok": len(fine)}
    assert len(fine) >= 50


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("scheduler", [Ungated, HalfMirror])
def test_garbled_answers_are_not(scheduler: type[UnifiedScheduler], route: str) -> None:
    """All but those whose call is fine for all that one can see of it."""
    garbled = [answer for answer in answers(scheduler) if answer.wrong]
    blind = Counter(label(answer, route, knowing=False).word for answer in garbled)
    due = Counter(label(answer, route, knowing=False, call="required").word for answer in garbled)
    knowing = Counter(label(answer, route, knowing=True).word for answer in garbled)
    _log.info("%s %s: %s; call due: %s; knowing: %s", scheduler.__name__, route, blind, due, knowing)
    assert len(garbled) >= 10
    assert due["ok"] <= 1
    assert knowing["ok"] <= due["ok"] <= blind["ok"]
    if route != "fail-closed":
        assert blind["markup_leaked"] >= 0.6 * len(garbled)
    else:
        assert blind["ok"] + blind["empty"] > 0  # a parser that drops what it cannot read hides it
        assert due["call_lost"] > 0


def test_one_broken_answer_is_told_by_each_route_in_its_way() -> None:
    """The same corruption leaks, or is lost, by the build of a parser alone."""
    garbled = [answer for answer in answers(Ungated) if answer.wrong]
    told = {tuple(label(answer, route, knowing=False).word for route in ROUTES) for answer in garbled}
    assert ("markup_leaked", "markup_leaked", "empty") in told


def test_the_documented_figures_are_these() -> None:
    garbled = [answer for each in (Ungated, HalfMirror) for answer in answers(each) if answer.wrong]
    shown = {"raw": "the model's words", "fail-open": "a parser that shows what it cannot read"}
    for route in ROUTES:
        found = [
            sum(label(answer, route, knowing=False).word != "ok" for answer in garbled),
            sum(
                label(answer, route, knowing=False, call="required").word != "ok" for answer in garbled
            ),
            sum(label(answer, route, knowing=True).word != "ok" for answer in garbled),
        ]
        cells = []
        for number in found:
            low, high = rate_interval(number, len(garbled))
            cells.append(f"{number}/{len(garbled)}, {100 * low:.1f} to {100 * high:.1f} %")
        row = f"| {shown.get(route, 'a parser that drops it')} | {' | '.join(cells)} |"
        assert row in DOCUMENT, row
