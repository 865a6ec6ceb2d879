"""DSML replies: calls, content, and what becomes of markup that does not parse."""

from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.local_engine.chat_template import render_call
from workbench.local_engine.function_call.dsv4 import DSMLParser, ToolCall
from workbench.local_engine.tokenizer import get_tokenizer

TOOLS = ("book", "cancel")
CALL = render_call("book", {"item": "amber kelp", "owner": "fox"})
BOOK = ToolCall(name="book", arguments={"item": "amber kelp", "owner": "fox"})
INVOKE = CALL.removeprefix("<｜DSML｜tool_calls>").removesuffix("</｜DSML｜tool_calls>")


def parse(*pieces: str, fail_open: bool = False) -> tuple[str, tuple[ToolCall, ...]]:
    parser = DSMLParser(TOOLS, fail_open=fail_open)
    deltas = [*map(parser.feed, pieces), parser.close()]
    calls = tuple(call for delta in deltas for call in delta.calls)
    return "".join(delta.content for delta in deltas), calls


def block(*invokes: str) -> str:
    return "<｜DSML｜tool_calls>\n" + "\n".join(invokes) + "\n</｜DSML｜tool_calls>"


def test_a_reply_of_the_model_is_one_call_and_no_content() -> None:
    assert parse(CALL) == ("", (BOOK,))


def test_content_stands_before_and_after_calls_in_their_order() -> None:
    cancel = render_call("cancel", {}).removeprefix("<｜DSML｜tool_calls>")
    text = f"hello {block(INVOKE, cancel.removesuffix('</｜DSML｜tool_calls>'))}bye"
    assert parse(text) == ("hello bye", (BOOK, ToolCall(name="cancel", arguments={})))


def test_parameters_may_be_json_one_by_one_or_all_together() -> None:
    number = (
        '<｜DSML｜invoke name="book"><｜DSML｜parameter name="n" string="false">[1, null]'
        "</｜DSML｜parameter></｜DSML｜invoke>"
    )
    whole = '<｜DSML｜invoke name="book"> {"n": [1, null]} </｜DSML｜invoke>'
    call = ToolCall(name="book", arguments={"n": [1, None]})
    assert parse(block(number, whole)) == ("", (call, call))


MALFORMED = {
    "unclosed parameter": block(INVOKE.replace("</｜DSML｜parameter>", "", 1)),
    "text between parameters": block(INVOKE.replace("</｜DSML｜invoke>", "oops</｜DSML｜invoke>")),
    "the same parameter twice": block(INVOKE.replace('"owner"', '"item"')),
    "value that is no JSON": block(INVOKE.replace('"true"', '"false"')),
    "another tool": block(INVOKE.replace("book", "refund")),
    "no block around it": INVOKE,
    "block of the older model": CALL.replace("tool_calls", "function_calls"),
    "empty block": block(),
    "stray closer": "</｜DSML｜tool_calls>",
    "JSON that is no object": block('<｜DSML｜invoke name="book">{"a"}</｜DSML｜invoke>'),
    "deep JSON": block(
        f'<｜DSML｜invoke name="book">{{"a":{"[" * 100_000}{"]" * 100_000}}}</｜DSML｜invoke>'
    ),
}
CUT = {
    "opener only": "<｜DSML｜tool_calls>",
    "half an opener": "<｜DSML｜tool",
    "cut in an invoke": block(INVOKE)[:-50],
}


@pytest.mark.parametrize("text", [*MALFORMED.values(), *CUT.values()], ids=[*MALFORMED, *CUT])
def test_malformed_markup_is_dropped_with_a_warning_or_shown_whole(
    text: str, caplog: pytest.LogCaptureFixture
) -> None:
    logger = logging.getLogger("local_engine")
    logger.addHandler(caplog.handler)
    try:
        assert parse(f"before {text}") == ("before ", ())
    finally:
        logger.removeHandler(caplog.handler)
    assert "Dropping malformed DeepSeek invoke" in caplog.text
    content, calls = parse(f"before {text}", fail_open=True)
    assert (content.replace("\n", ""), calls) == (f"before {text}".replace("\n", ""), ())


def test_a_good_call_beside_a_bad_one_is_kept() -> None:
    bad = INVOKE.replace('"true"', '"false"')
    assert parse(block(INVOKE, bad, INVOKE)) == ("", (BOOK, BOOK))
    content, calls = parse(block(INVOKE, bad, INVOKE), fail_open=True)
    assert (content.strip(), calls) == (bad, (BOOK, BOOK))


def test_complete_calls_of_a_reply_that_was_cut_are_kept() -> None:
    assert parse(block(INVOKE, INVOKE)[:-60]) == ("", (BOOK,))


def test_text_without_markup_is_content_down_to_the_last_bracket() -> None:
    assert parse("a < b </p> <｜DSM", "L <") == ("a < b </p> <｜DSML <", ())


def test_a_call_is_given_as_soon_as_it_is_complete() -> None:
    parser = DSMLParser(TOOLS, fail_open=False)
    assert parser.feed("<｜DSML｜tool_calls>" + INVOKE[:-1]).calls == ()
    assert parser.feed(INVOKE[-1]).calls == (BOOK,)


@st.composite
def salads(draw: st.DrawFn) -> list[str]:
    """Tokens of a garbled reply."""
    tokens = [*map(get_tokenizer().decode, ([i] for i in get_tokenizer().encode(CALL)))]
    return draw(st.lists(st.sampled_from([*tokens, "amber", " ", "<", '"']), max_size=30))


@given(salads(), st.booleans())
def test_where_a_reply_is_cut_into_pieces_makes_no_difference(
    pieces: list[str], fail_open: bool
) -> None:
    whole = parse("".join(pieces), fail_open=fail_open)
    assert parse(*pieces, fail_open=fail_open) == whole
    assert parse(*"".join(pieces), fail_open=fail_open) == whole


@given(salads())
def test_closed_shows_no_markup_and_open_loses_nothing(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert "｜DSML｜" not in parse(text)[0]
    content, calls = parse(text, fail_open=True)
    if not calls:
        assert content == text
