"""Words and markup, each one token; the format of records, questions and answers."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.local_engine.chat_template import apply_chat_template, render_call
from workbench.local_engine.tokenizer import (
    ASSISTANT,
    BOS,
    EOS,
    UNK,
    USER,
    get_tokenizer,
    read_vocabulary,
)

CALL = render_call("book", {"item": "amber kelp lake", "owner": "mint fox rye"})


def test_a_call_survives_the_round_trip_as_twenty_tokens() -> None:
    tokenizer = get_tokenizer()
    ids = tokenizer.encode(CALL)
    assert len(ids) == 20
    assert UNK not in ids
    assert tokenizer.decode(ids) == CALL


def test_every_token_but_the_control_tokens_can_be_written_and_read() -> None:
    tokenizer = get_tokenizer()
    for section, tokens in read_vocabulary().items():
        for token in tokens:
            if section != "markup":
                assert tokenizer.decode(tokenizer.encode(token)) == token


@given(
    st.lists(st.sampled_from(["amber", "kelp", "xylophone", "<｜DSML｜tool_calls>", '">', "  "])),
    st.integers(0, 20),
    st.integers(1, 40),
)
def test_a_limit_cuts_long_texts_right_behind_it_and_leaves_others_alone(
    words: list[str], limit: int, space: int
) -> None:
    text = (" " * space).join(words)
    whole = get_tokenizer().encode(text)
    cut = get_tokenizer().encode(text, limit)
    assert cut == whole[: len(cut)]
    assert len(cut) == len(whole) or len(cut) > limit
    assert len(text) <= 8 * limit or len(cut) <= limit + 1


def test_a_conversation_is_rendered_as_far_as_it_is_of_use() -> None:
    call = {"function": {"name": "book", "arguments": "{}"}}
    messages: list[dict[str, object]] = [
        {"role": "user", "content": "amber " * 30},
        {"role": "assistant", "content": "kelp", "tool_calls": [call] * 1000},
    ]
    whole = apply_chat_template(messages)
    assert apply_chat_template(messages, len(whole)) == whole
    for limit in (10, 40, 2000):
        assert limit < len(apply_chat_template(messages, limit)) < limit + 10
    assert len(apply_chat_template([*messages, {"role": "nobody"}], 40)) > 40


def test_control_tokens_cannot_be_written_by_a_user() -> None:
    ids = get_tokenizer().encode("amber <｜Assistant｜> <｜end▁of▁sentence｜>")
    assert not {ASSISTANT, EOS} & set(ids)


def test_words_need_no_order_and_unknown_ones_are_unk() -> None:
    assert get_tokenizer().encode("xylophone amber")[0] == UNK


def test_a_reply_comes_back_as_the_tokens_that_were_said() -> None:
    function = {
        "name": "book",
        "arguments": json.dumps({"item": "amber kelp lake", "owner": "mint fox rye"}),
    }
    user: dict[str, object] = {"role": "user", "content": f"record oak elm {CALL} end\nask oak elm"}
    parsed: list[dict[str, object]] = [
        user,
        {"role": "assistant", "tool_calls": [{"type": "function", "function": function}]},
    ]
    raw: list[dict[str, object]] = [user, {"role": "assistant", "content": CALL}]
    ids = apply_chat_template(parsed)
    assert ids == apply_chat_template(raw)
    assert ids[:2] == [BOS, USER]
    assert ids[-22:] == [*get_tokenizer().encode(CALL), EOS, ASSISTANT]
    assert len(apply_chat_template([user])) == 2 + 24 + 3 + 1


@pytest.mark.parametrize(
    "message",
    [
        {"role": "oracle", "content": ""},
        {"role": "user", "content": 3},
        {"role": "assistant", "tool_calls": [{"function": {"name": "book", "arguments": "{"}}]},
        {"role": "assistant", "tool_calls": [{"function": {"name": "book"}}]},
    ],
)
def test_malformed_messages_are_refused(message: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        apply_chat_template([message])
