"""What is wrong with a chat server's reply: a case for each way in which engines fail in the wild."""

from __future__ import annotations

import json
from typing import Any

import pytest

from workbench.classifiers.tool_call import ToolCall, ToolCallOptions
from workbench.model.ids import ExchangeKey, SessionKey
from workbench.model.outcome import Ending, Exchange, Label

KEY = ExchangeKey(SessionKey("control", 1, 0), 0)
BAR = "\uff5c"
D = f"{BAR}DSML{BAR}"
TOOLS: dict[str, Any] = {
    "book": {
        "type": "object",
        "properties": {"item": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
        "required": ["item"],
        "additionalProperties": False,
    },
    "ping": {},
}
ITEM = f'<{D}parameter name="item" string="true">a boat</{D}parameter>'
DAYS = f'<{D}parameter name="days" string="false">3</{D}parameter>'


def invoke(*parameters: str, name: str = "book") -> str:
    return f'<{D}invoke name="{name}">\n' + "\n".join(parameters) + f"\n</{D}invoke>"


def block(*invokes: str, tag: str = "tool_calls") -> str:
    return f"<{D}{tag}>\n" + "\n".join(invokes) + f"\n</{D}{tag}>"


WHOLE = block(invoke(ITEM, DAYS))


def call(name: str = "book", arguments: object = '{"item": "a boat"}') -> dict[str, object]:
    return {"id": "call_0", "type": "function", "function": {"name": name, "arguments": arguments}}


def chat(content: object = None, *calls: dict[str, object], finish: str = "", **message: object) -> str:
    reason = finish or ("tool_calls" if calls else "stop")
    said = {"role": "assistant", "content": content, **message}
    if calls:
        said["tool_calls"] = list(calls)
    return json.dumps(
        {"object": "chat.completion", "choices": [{"message": said, "finish_reason": reason}]}
    )


def label(text: str, *, expected: str = "", family: str = "deepseek_v4", **options: Any) -> Label:
    classifier = ToolCall(ToolCallOptions(family=family, **{"tools": TOOLS, **options}))
    return classifier.label(Exchange(key=KEY, text=text, expected=expected))


def word(text: str, **options: Any) -> str:
    return label(text, **options).word


PARSED = [
    (chat(None, call()), "ok", "calls"),
    (chat("I book it.", call(), call("ping", "{}")), "ok", "calls"),
    (chat("", call(arguments={"item": "a boat"})), "ok", "calls"),
    (chat("There is no boat."), "ok", "words"),
    (chat([{"type": "text", "text": "There is no boat."}]), "ok", "words"),
    (chat("4", reasoning_content="2 and 2"), "ok", "words"),
    (chat("<think>2 and 2</think>4"), "ok", "words"),
    (chat(None, call(arguments='{"item": ')), "invalid_json", "not JSON"),
    (chat(None, call(arguments="")), "invalid_json", "not JSON"),
    (chat(None, call(arguments="[" * 100_000)), "repetition", "arguments: loop"),
    (chat(None, call(arguments='["a boat"]')), "schema_violation", "not an object"),
    (chat(None, call(arguments="{}")), "schema_violation", "required at $"),
    (chat(None, call(arguments='{"item": "a", "days": 0}')), "schema_violation", "minimum at $.days"),
    (chat(None, call(arguments='{"item": 3}')), "schema_violation", "type at $.item"),
    (chat(None, call(), call("eat", "{}")), "unknown_tool", "'eat'"),
    (chat(None, {"function": "book"}), "unknown_tool", "''"),
    (chat(f"so {WHOLE}"), "markup_leaked", "content: whole markup"),
    (chat(block(invoke(ITEM)[:-9])), "markup_leaked", "content: broken markup"),
    (chat("I will.", call(), reasoning_content=WHOLE), "markup_leaked", "reasoning: whole markup"),
    (chat(f"<think>now {WHOLE}</think>ok"), "markup_leaked", "reasoning: whole markup"),
    (chat(None, reasoning_content=f"hm <{D}tool_calls>"), "markup_leaked", "reasoning: broken"),
    (
        chat(None, call(arguments=json.dumps({"item": f"a</{D}parameter>"}))),
        "markup_leaked",
        "arguments",
    ),
    (chat(f"a boat{BAR}DSML"), "markup_leaked", "stray piece"),
    (chat('a boat" string="true">'), "markup_leaked", "stray piece"),
    (chat("</function_calls>"), "markup_leaked", "stray piece"),
    (chat("done<\uff5cend\u2581of\u2581sentence\uff5c>"), "control_token", "content: <\uff5cend"),
    (chat("a", reasoning_content="<\uff5cUser\uff5c>"), "control_token", "reasoning"),
    (chat(None, call(arguments='{"item": "<unk>"}')), "control_token", "arguments: <unk>"),
    (chat("one\u2581boat"), "control_token", "content"),
    (chat("x", reasoning_content="y</think>"), "control_token", "reasoning: </think>"),
    (chat("It goes on and", finish="length"), "truncated", "length"),
    (chat(None, call(arguments='{"item": "a b'), finish="length"), "truncated", "length"),
    (chat(f"<{D}tool_calls>\n<{D}inv", finish="length"), "truncated", "length"),
    (chat("x", call())[:-20], "truncated", "no whole JSON"),
    (chat("", finish="tool_calls"), "call_lost", "finish reason tool_calls"),
    (chat("Let me see.", finish="function_call"), "call_lost", "and no call"),
    (chat(""), "empty", "nothing at all"),
    (chat(" \n", reasoning_content="I should book."), "empty", "reasoning only"),
    ("", "empty", "nothing at all"),
    ('{"error": {"message": "CUDA error"}}', "error", "CUDA error"),
    ('{"object": "error", "message": "out of memory", "code": 500}', "error", "out of memory"),
    (chat("boat " * 100), "repetition", "content: loop"),
    (chat("ok", reasoning_content="hm, no. " * 40), "repetition", "reasoning: loop"),
    (chat(None, call(arguments=json.dumps({"item": "!" * 500}))), "repetition", "arguments: loop"),
    (chat("".join(chr(0x21 + place * 7 % 1200) for place in range(700))), "salad", "content"),
]


@pytest.mark.parametrize(("text", "expected", "rule"), PARSED, ids=range(len(PARSED)))
def test_what_a_server_has_parsed(text: str, expected: str, rule: str) -> None:
    found = label(text)
    assert (found.word, rule in found.rule) == (expected, True), found
    assert bool(found.signature) == (expected != "ok")


RAW = [
    (f"\n\n{WHOLE}", "ok", "calls"),
    (f"</think>I book it.\n\n{WHOLE}", "ok", "calls"),
    (f"<think>hm</think>{block(invoke(ITEM), invoke(name='ping'))}", "ok", "calls"),
    (block(invoke('{"item": "a boat"}')), "ok", "calls"),
    (
        block(invoke(f'<{D}parameter name="item" string="true">`x` ```\n<b></{D}parameter>')),
        "ok",
        "calls",
    ),
    (block(invoke(ITEM.replace("boat", "<tool_call> of `code"))), "ok", "calls"),
    (block(invoke('{"item": "a boat"')), "invalid_json", "book"),
    (block(invoke(ITEM, DAYS.replace("3", "three"))), "invalid_json", "book"),
    (block(invoke(DAYS)), "schema_violation", "required"),
    (block(invoke(ITEM, name="eat")), "unknown_tool", "'eat'"),
    (f"I see. {WHOLE[:-20]}", "call_lost", "a block is not closed"),
    (block(), "call_lost", "a block is empty"),
    (block(invoke(ITEM), invoke(ITEM)[:-5]), "call_lost", "more than invokes"),
    (block(invoke(ITEM), "boat"), "call_lost", "more than invokes"),
    (block(invoke(ITEM, "boat")), "call_lost", "more than parameters"),
    (block(invoke(ITEM, ITEM)), "call_lost", "twice"),
    (invoke(ITEM), "markup_leaked", "stray piece"),
    (
        WHOLE.replace("<\uff5cDSML\uff5ctool_calls>", f"<{D}toolcalls>", 1),
        "markup_leaked",
        "stray piece",
    ),
    (f"{WHOLE}</{D}invoke>", "markup_leaked", "stray piece"),
    (f"a boat</{D}tool_calls>", "markup_leaked", "stray piece"),
    (WHOLE.replace(BAR, BAR * 2), "markup_leaked", "stray piece"),
    (WHOLE.replace(BAR, "\u2016"), "markup_leaked", "stray piece"),
    (WHOLE.replace(BAR, "|"), "markup_leaked", "stray piece"),
    (f"<think>now {WHOLE}</think>", "markup_leaked", "reasoning: whole markup"),
    (f"<\uff5cAssistant\uff5c>{WHOLE}", "control_token", "Assistant"),
    (json.dumps({"text": WHOLE, "meta_info": {"finish_reason": {"type": "stop"}}}), "ok", "calls"),
    (
        json.dumps({"text": WHOLE[:-9], "meta_info": {"finish_reason": {"type": "length"}}}),
        "truncated",
        "",
    ),
    (json.dumps({"choices": [{"text": WHOLE, "finish_reason": "stop"}]}), "ok", "calls"),
    ('{"item": "a boat"}', "ok", "words"),
]


@pytest.mark.parametrize(("text", "expected", "rule"), RAW, ids=range(len(RAW)))
def test_what_a_model_wrote_itself(text: str, expected: str, rule: str) -> None:
    found = label(text)
    assert (found.word, rule in found.rule) == (expected, True), found


QUOTED = [
    f"Write `<{D}tool_calls>` to call a tool.",
    f"So:\n```xml\n{WHOLE}\n```\nThat is all.",
    f"~~~\n{WHOLE}\n~~~",
    f'Use ``<{D}invoke name="x">`` and `<{BAR}User{BAR}>`.',
]


@pytest.mark.parametrize("text", QUOTED, ids=range(len(QUOTED)))
@pytest.mark.parametrize("raw", [False, True])
def test_markup_that_is_quoted_is_neither_a_leak_nor_a_call(text: str, raw: bool) -> None:
    found = label(text if raw else chat(text))
    assert (found.word, found.rule) == ("ok", "words")


@pytest.mark.parametrize(
    "text",
    [
        f"A stray ` and <{D}tool_calls>",
        f"An open fence:\n```\n{WHOLE}",
        f"Quoted `x`, then {WHOLE}",
        f"Not ` in one\n\nparagraph ` {WHOLE}",
    ],
)
def test_markup_beside_quotes_is_a_leak(text: str) -> None:
    assert word(chat(text)) == "markup_leaked"


def test_a_reply_cut_in_an_open_fence_is_cut_and_no_leak() -> None:
    assert word(chat(f"An open fence:\n```\n{WHOLE}", finish="length")) == "truncated"


def test_a_call_beside_a_quote_of_one_is_that_call() -> None:
    found = label(
        f"As in `{WHOLE}`:\n\n{block(invoke(name='ping'))}", expected='{"name":"ping","arguments":{}}'
    )
    assert found.word == "ok"


@pytest.mark.parametrize(
    ("text", "due", "expected"),
    [
        (chat("I will look that up."), "required", "call_lost"),
        (chat("I will look that up."), "optional", "ok"),
        (chat(""), "required", "call_lost"),
        (chat(None, call()), "required", "ok"),
    ],
)
def test_a_call_that_is_due_and_not_there_is_lost(text: str, due: str, expected: str) -> None:
    assert word(text, call=due) == expected


BOTH = '[{"name":"book","arguments":{"item":"a boat"}},{"name":"ping","arguments":{}}]'
RIGHT = '{"name": "book", "arguments": {"item": "a boat", "days": 3}}'


@pytest.mark.parametrize(
    ("text", "right", "expected"),
    [
        (chat(None, call(arguments='{"days": 3.0, "item": "a boat"}')), RIGHT, "ok"),
        (WHOLE, RIGHT, "ok"),
        (chat(None, call(arguments='{"days": 4, "item": "a boat"}')), RIGHT, "wrong_but_well_formed"),
        (chat(None, call(), call()), RIGHT, "wrong_but_well_formed"),
        (chat(None, call("ping", "{}")), RIGHT, "wrong_but_well_formed"),
        (chat("It is booked."), RIGHT, "call_lost"),
        (
            chat(None, call("ping", "{}"), call()),
            BOTH,
            "ok",
        ),
        (chat(None, call()), "the right answer in words says nothing of calls", "ok"),
    ],
)
def test_a_call_is_held_against_the_right_one(text: str, right: str, expected: str) -> None:
    assert word(text, expected=right) == expected


def test_chunks_are_judged_joined() -> None:
    chunks = [WHOLE[at : at + 3] for at in range(0, len(WHOLE), 3)]
    assert word(chat("".join(chunks))) == "markup_leaked"
    assert all(D not in chunk for chunk in chunks)


def test_broken_words_go_before_the_markup_among_them() -> None:
    """Or a parser would be blamed for what was decoded wrongly."""
    found = label(chat(f'larch record</{D}parameter><{D}parameter name="topic ' * 9))
    assert found.word == "repetition"


def test_v32_takes_markup_without_its_token() -> None:
    bare = block(invoke(ITEM), tag="function_calls").replace(D, "")
    mixed = block(invoke(ITEM), tag="function_calls").replace(f"</{D}", "</")
    for text in (bare, mixed):
        assert (word(text, family="deepseek_v32"), word(text)) == ("ok", "markup_leaked")


@pytest.mark.parametrize(
    ("ending", "code", "signal", "expected"),
    [
        (Ending.TIMEOUT, None, "", "unfinished"),
        (Ending.ENGINE_DIED, None, "", "unfinished"),
        (Ending.COMPLETED, 1, "", "other"),
        (Ending.COMPLETED, 125, "", "skipped"),
        (Ending.COMPLETED, None, "SIGSEGV", "other"),
        (Ending.COMPLETED, None, "SIGKILL", "skipped"),
        (Ending.COMPLETED, 0, "", "ok"),
    ],
)
def test_a_harness_that_failed_has_no_reply_to_judge(
    ending: Ending, code: int | None, signal: str, expected: str
) -> None:
    exchange = Exchange(key=KEY, text=WHOLE, ending=ending, exit_code=code, signal=signal)
    assert ToolCall(ToolCallOptions(family="deepseek_v4")).label(exchange).word == expected


def test_signatures_leave_out_what_varies() -> None:
    texts = [chat(f"{'boat ' * number}") for number in (90, 120)]
    assert len({label(text).signature for text in texts}) == 1


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"family": "deepseek_v5"}, "did you mean 'deepseek_v4'"),
        ({"family": "xyzzy"}, "known: deepseek_v4"),
        ({"thresholds": {"unglue": 3}}, "did you mean 'unglued'"),
        ({"thresholds": {"unglued": float("nan")}}, "a number above 0"),
        ({"tools": {"book": {"type": "objekt"}}}, r"tool 'book' is none: at \$.type"),
        ({"tools": {"book": {"properties": {"a": {"pattern": "("}}}}}, r"at \$.properties.a.pattern"),
        ({"tools": {"book": {"$ref": "http://127.0.0.1/x"}}}, "parts of itself"),
        ({"tools": {"book": {"$ref": "#/$defs/day"}}}, "not there"),
        ({"tools": {"book": {"$ref": "#"}}}, "without end"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], what: str) -> None:
    with pytest.raises(ValueError, match=what):
        ToolCallOptions(**{"family": "deepseek_v4", **options})


def test_a_schema_may_refer_to_its_own_parts() -> None:
    tools = {
        "book": {"properties": {"a": {"$ref": "#/$defs/day"}}, "$defs": {"day": {"enum": ["May"]}}}
    }
    for value, expected in (("May", "ok"), ("Mai", "schema_violation")):
        assert word(chat(None, call(arguments=json.dumps({"a": value}))), tools=tools) == expected


@pytest.mark.parametrize("number", ["1e400", "NaN", "1" + "0" * 400, "-Infinity"])
def test_numbers_beyond_all_bounds_are_judged_too(number: str) -> None:
    tools = {"book": {"properties": {"a": {"multipleOf": 0.5}}}}
    found = word(chat(None, call(arguments=f'{{"a": {number}}}')), tools=tools)
    assert found in {"ok", "schema_violation"}
