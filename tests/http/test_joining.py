"""However an engine cuts its answer into events, it comes back whole, and damage has an author."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.http.joining import join, joiner
from workbench.http.reply import Answer, Choice, Form, ToolCall, Usage

TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=40)


def chat(delta: Any = None, **choice: Any) -> bytes:
    return json.dumps({"choices": [{"index": 0, "delta": delta or {}, **choice}]}).encode()


def only(answer: Answer) -> Choice:
    (choice,) = answer.choices
    return choice


@given(st.lists(TEXTS), st.lists(TEXTS), st.lists(TEXTS), st.booleans())
def test_texts_come_back_whole(
    content: list[str], thoughts: list[str], arguments: list[str], ascii_only: bool
) -> None:
    deltas: list[dict[str, Any]] = [{"reasoning_content": text} for text in thoughts]
    deltas += [{"content": text} for text in content]
    deltas += [{"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "read"}}]}]
    deltas += [{"tool_calls": [{"index": 0, "function": {"arguments": text}}]} for text in arguments]
    bodies = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    events = [json.dumps(body, ensure_ascii=ascii_only).encode() for body in bodies]
    answer = join(Form.CHAT, [*events, chat(finish_reason="tool_calls")])
    assert only(answer) == Choice(
        content="".join(content),
        reasoning="".join(thoughts),
        tool_calls=(ToolCall(id="c1", name="read", arguments="".join(arguments)),),
        finish_reason="tool_calls",
    )
    own = "".join([*content, *thoughts, *arguments]).count("\ufffd")
    assert (answer.undecodable, answer.replaced) == (0, own)


def test_a_whole_answer_is_joined_like_one_chunk() -> None:
    call = {"id": "c1", "function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call, {**call, "id": "c2"}]}
    usage = {
        "prompt_tokens": 9,
        "completion_tokens": 2,
        "prompt_tokens_details": {"cached_tokens": 4},
    }
    body = {"id": 7, "model": "m", "usage": usage}
    body["choices"] = [{"index": 0, "message": message, "finish_reason": "tool_calls"}]
    answer = join(Form.CHAT, [json.dumps(body).encode()])
    calls = tuple(ToolCall(id=name, name="f", arguments="{}") for name in ("c1", "c2"))
    assert only(answer) == Choice(tool_calls=calls, finish_reason="tool_calls")
    assert (answer.usage, answer.id, answer.model) == (
        Usage(prompt=9, completion=2, cached=4),
        "7",
        "m",
    )


def test_usage_may_come_last_and_without_a_choice() -> None:
    last = b'{"choices": [], "usage": {"prompt_tokens": 3, "cached_tokens": 1}}'
    answer = join(Form.CHAT, [chat({"content": "a"}, finish_reason="stop"), last])
    assert answer.usage == Usage(prompt=3, completion=None, cached=1)
    assert only(answer).content == "a"


def test_calls_without_numbers_are_told_apart_by_id_or_name() -> None:
    parts = [
        {"id": "a", "function": {"name": "f", "arguments": "{"}},
        {"function": {"arguments": "}"}},
        {"id": "b", "function": {"name": "g", "arguments": {"x": "é"}}},
    ]
    answer = join(Form.CHAT, [chat({"tool_calls": [part]}) for part in parts])
    assert only(answer).tool_calls == (
        ToolCall(id="a", name="f", arguments="{}"),
        ToolCall(id="b", name="g", arguments='{"x": "é"}'),
    )


def test_several_choices_must_all_end() -> None:
    joining = joiner(Form.CHAT)
    for index in (0, 1):
        joining.feed(chat({"content": "a"}, index=index))
    joining.feed(chat(finish_reason="stop"))
    ended = [joining.finished]
    joining.feed(chat(finish_reason="length", index=1))
    assert [*ended, joining.finished] == [False, True]
    assert [choice.finish_reason for choice in joining.answer().choices] == ["stop", "length"]


def test_older_completions_have_texts() -> None:
    answer = join(Form.CHAT, [b'{"choices": [{"text": "ab"}]}', b'{"choices": [{"text": "c"}]}'])
    assert only(answer).content == "abc"


class TestDamage:
    def test_bytes_that_are_not_utf8_are_told_from_the_engines_own(self) -> None:
        events = [
            b'{"choices": [{"delta": {"content": "a\xff\xfe"}}]}',
            '{"choices": [{"delta": {"content": "\ufffd"}}]}'.encode(),
            rb'{"choices": [{"delta": {"content": "\ufffdz"}}]}',
        ]
        answer = join(Form.CHAT, events)
        assert only(answer).content == "a\ufffd\ufffd\ufffd\ufffdz"
        assert (answer.undecodable, answer.replaced) == (2, 2)

    def test_a_character_that_two_events_share_is_whole(self) -> None:
        halves = [rb'{"choices": [{"delta": {"content": "\ud83d"}}]}']
        halves += [rb'{"choices": [{"delta": {"content": "\ude00"}}]}']
        answer = join(Form.CHAT, halves)
        assert (only(answer).content, answer.undecodable) == ("😀", 0)

    def test_half_a_character_alone_is_counted_and_can_be_stored(self) -> None:
        answer = join(Form.CHAT, [rb'{"choices": [{"delta": {"content": "x\ud83d"}}]}'])
        assert (only(answer).content, answer.undecodable, answer.replaced) == ("x\ufffd", 1, 0)

    def test_a_wrong_byte_does_not_complete_half_a_character(self) -> None:
        answer = join(Form.CHAT, [b'{"choices": [{"delta": {"content": "\\ud83d\xff"}}]}'])
        assert (only(answer).content, answer.undecodable) == ("\ufffd\ufffd", 2)

    @given(st.binary(max_size=40).filter(lambda data: not set(data) & set(b'"\\')))
    def test_any_bytes_give_a_text_that_can_be_stored(self, data: bytes) -> None:
        joining = joiner(Form.CHAT)
        joining.feed(b'{"choices": [{"delta": {"content": "' + data + b'"}}]}')
        answer = joining.answer()
        if not joining.fault:  # control characters are no JSON
            only(answer).content.encode()
            decoded = data.decode("utf-8", "surrogateescape")
            assert answer.undecodable == sum("\udc80" <= c <= "\udcff" for c in decoded)


class TestFaults:
    @pytest.mark.parametrize(
        ("event", "says"),
        [
            (b"{", "event 2 is not JSON"),
            (b"\xff", "event 2 is not JSON"),
            (b'{"choices": [{"logprob": NaN}]}', "NaN is no number of JSON"),
            (b"[1]", "event 2 is not what the API promises: Expected `object`"),
            (b'{"choices": [{"delta": {"content": 7}}]}', "$.choices[0].delta.content"),
            (b'{"choices": {"a": 1}}', "$.choices"),
            (b"[" * 100_000, "event 2 is not JSON"),
        ],
    )
    def test_what_was_not_promised_is_named_with_its_place(self, event: bytes, says: str) -> None:
        joining = joiner(Form.CHAT)
        for each in (chat({"content": "kept"}), event, chat({"content": "not joined"})):
            joining.feed(each)
        assert says in joining.fault
        assert only(joining.answer()).content == "kept"

    @pytest.mark.parametrize("form", list(Form))
    @pytest.mark.parametrize(
        "event", [b'{"error": {"message": "no \xff"}}', b'{"error": "no"}', b'{"error": {"code": 5}}']
    )
    def test_an_error_object_is_kept_as_json(self, form: Form, event: bytes) -> None:
        joining = joiner(form)
        joining.feed(event)
        assert json.loads(joining.error) in ({"message": "no \udcff"}, "no", {"code": 5})
        assert joining.error.isascii()
        assert (joining.fault, joining.finished) == ("", False)

    def test_errors_of_older_servers_are_errors(self) -> None:
        vllm, llamacpp = joiner(Form.CHAT), joiner(Form.CHAT)
        vllm.feed(b'{"object": "error", "message": "too long", "code": 400}')
        assert json.loads(vllm.error) == {"message": "too long", "code": 400}
        llamacpp.feed(b"out of memory", error=True)
        assert json.loads(llamacpp.error) == "out of memory"

    def test_a_sign_of_life_is_no_event(self) -> None:
        joining = joiner(Form.CHAT)
        joining.feed(b"")
        assert (joining.fault, joining.answer().events) == ("", 0)


class TestGenerate:
    @staticmethod
    def event(text: str, reason: Any = None, **more: Any) -> bytes:
        meta = {"id": "r1", "finish_reason": reason, "prompt_tokens": 5, "cached_tokens": 2}
        return json.dumps({"text": text, "meta_info": meta, **more}).encode()

    @given(st.lists(TEXTS, min_size=1))
    def test_each_event_has_the_whole_text(self, parts: list[str]) -> None:
        texts = ["".join(parts[: n + 1]) for n in range(len(parts))]
        events = [self.event(text) for text in texts]
        answer = join(Form.GENERATE, [*events, self.event(texts[-1], {"type": "stop"})])
        assert only(answer) == Choice(content="".join(parts), finish_reason="stop")
        assert (answer.usage, answer.rewound) == (Usage(prompt=5, cached=2), 0)

    def test_a_text_that_takes_back_what_it_said_is_counted(self) -> None:
        answer = join(Form.GENERATE, [self.event("ab"), self.event("ax"), self.event("axe")])
        assert (only(answer).content, answer.rewound) == ("axe", 1)

    def test_several_samples_come_as_a_list_or_by_number(self) -> None:
        both = [json.loads(self.event(text, "stop", index=n)) for n, text in enumerate("ab")]
        listed = join(Form.GENERATE, [json.dumps(both).encode()])
        numbered = join(Form.GENERATE, [json.dumps(each).encode() for each in both])
        assert [choice.content for choice in listed.choices] == ["a", "b"]
        assert listed.choices == numbered.choices
