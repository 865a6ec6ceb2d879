"""Each family reads its own markup, finds fragments of it, and does not take a sibling's for it."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from workbench.classifiers import markup
from workbench.classifiers.families import FAMILIES
from workbench.classifiers.tool_call import ToolCall, ToolCallOptions
from workbench.local_engine.chat_template import render_call
from workbench.model.ids import ExchangeKey, SessionKey
from workbench.model.outcome import Exchange

KEY = ExchangeKey(SessionKey("control", 1, 0), 0)
V4 = render_call("book", {"item": "a boat"})
V32 = V4.replace("tool_calls>", "function_calls>")
KIMI = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.book:0<|tool_call_argument_begin|>"
    '{"item": "a boat"}<|tool_call_end|><|tool_calls_section_end|>'
)
GLM = "<tool_call>book\n<arg_key>item</arg_key>\n<arg_value>a boat</arg_value>\n</tool_call>"
HERMES = '<tool_call>\n{"name": "book", "arguments": {"item": "a boat"}}\n</tool_call>'
LLAMA = '{"name": "book", "parameters": {"item": "a boat"}}'
WRITTEN = {
    "deepseek_v4": V4,
    "deepseek_v32": V32,
    "kimi_k2": KIMI,
    "glm": GLM,
    "hermes": HERMES,
    "llama3": LLAMA,
}
RIGHT = '{"name": "book", "arguments": {"item": "a boat"}}'


def word(family: str, text: str, **options: Any) -> str:
    classifier = ToolCall(ToolCallOptions(family=family, tools={"book": {}}, **options))
    return classifier.label(Exchange(key=KEY, text=text, expected=RIGHT)).word


def content(text: str) -> str:
    return json.dumps({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]})


def test_every_family_has_a_case_here() -> None:
    assert WRITTEN.keys() == FAMILIES.keys()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_call_is_read_from_raw_text_and_is_a_leak_in_content(family: str) -> None:
    assert word(family, WRITTEN[family]) == "ok"
    assert word(family, content(WRITTEN[family])) == "markup_leaked"


@pytest.mark.parametrize("family", FAMILIES)
def test_half_a_call_is_no_call(family: str) -> None:
    half = WRITTEN[family][: len(WRITTEN[family]) * 2 // 3]
    assert word(family, half) in {"call_lost", "invalid_json"}
    assert word(family, content(half)) == "markup_leaked"


@pytest.mark.parametrize(
    ("family", "text"),
    [
        ("kimi_k2", KIMI.replace("functions.", "")),
        ("glm", GLM.replace("\n", "\\n")),
        ("glm", GLM.replace("\n", "")),
        ("llama3", f"<|python_tag|>{LLAMA}<|eom_id|>"),
        ("deepseek_v32", V32.replace("<\uff5cDSML\uff5c", "<").replace("</\uff5cDSML\uff5c", "</")),
    ],
)
def test_spellings_in_the_wild_are_read(family: str, text: str) -> None:
    assert word(family, text) == "ok"


@pytest.mark.parametrize(("family", "text"), [("glm", HERMES), ("hermes", GLM)])
def test_families_that_open_alike_are_told_by_what_follows(family: str, text: str) -> None:
    assert word(family, text) == "call_lost"


@pytest.mark.parametrize(
    ("family", "text", "expected"),
    [
        ("kimi_k2", KIMI.replace('"a boat"}', '"a boat"'), "invalid_json"),
        ("hermes", HERMES.replace('boat"}}', "boat"), "invalid_json"),
        ("llama3", LLAMA.replace('boat"}}', "boat"), "invalid_json"),
        ("hermes", HERMES.replace("book", "eat"), "unknown_tool"),
        ("glm", GLM.replace("</arg_key>", ""), "call_lost"),
        ("kimi_k2", "<|tool_calls_section_begin|><|tool_calls_section_end|>", "call_lost"),
        ("kimi_k2", KIMI.replace("<|tool_calls_section_begin|>", ""), "markup_leaked"),
        ("kimi_k2", f"{KIMI}<|im_end|>", "control_token"),
        ("hermes", f"{HERMES}<|im_end|>", "control_token"),
        ("glm", f"{GLM}<|observation|>", "control_token"),
    ],
)
def test_broken_calls_of_each_family(family: str, text: str, expected: str) -> None:
    assert word(family, text) == expected


@given(st.sampled_from(sorted(FAMILIES)), st.text(max_size=60), st.booleans())
@example("llama3", "\r", False)  # its opener takes space before it
def test_text_is_never_lost_between_blocks(family: str, between: str, cut: bool) -> None:
    found = markup.find(f"{between}{WRITTEN[family]}", FAMILIES[family], cut=cut)
    assert found.outside.startswith(between) or found.blocks == 0 or found.open
    assert len(found.bare) <= len(found.outside)


@given(st.sampled_from(["deepseek_v4", "deepseek_v32", "kimi_k2", "glm", "hermes"]), st.integers(2, 5))
def test_blocks_in_a_row_give_their_calls_in_order(family: str, number: int) -> None:
    text = "".join(WRITTEN[family].replace("a boat", f"boat {place}") for place in range(number))
    found = markup.find(text, FAMILIES[family])
    assert (found.blocks, found.fault, found.outside) == (number, "", "")
    places = [json.loads(call.arguments)["item"] for call in found.calls]
    assert all(one < other for one, other in pairwise(places))
    assert len(places) == number
