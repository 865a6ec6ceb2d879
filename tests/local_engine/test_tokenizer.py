"""Words and markup, each one token; the format of records, questions and answers."""

from __future__ import annotations

import json

import pytest

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
