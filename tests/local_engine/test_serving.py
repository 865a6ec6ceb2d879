"""The HTTP surface over a scheduler that answers when told: replies, streams, hostile clients."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.local_engine import client
from tests.local_engine.client import HttpError
from tests.local_engine.doubles import ManualScheduler, serving
from workbench.local_engine import metrics
from workbench.local_engine.chat_template import apply_chat_template, render_call
from workbench.local_engine.server_args import ServerArgs
from workbench.local_engine.tokenizer import EOS, get_tokenizer

CALL = render_call("book", {"item": "amber kelp lake"})
CALL_IDS = get_tokenizer().encode(CALL)
TOOLS = [{"type": "function", "function": {"name": "book", "parameters": {}}}]
USER = [{"role": "user", "content": "ask amber kelp"}]
CHAT = "/v1/chat/completions"


@pytest.fixture
def scheduler() -> ManualScheduler:
    return ManualScheduler()


@pytest.fixture
def url(scheduler: ManualScheduler) -> Iterator[str]:
    with serving(scheduler, ServerArgs(context_length=1000)) as at:
        yield at


@pytest.fixture(scope="module")
def idle_url() -> Iterator[str]:
    """A server for requests that never reach its scheduler."""
    with serving(ManualScheduler(), ServerArgs(context_length=1000)) as at:
        yield at


async def whole(
    url: str, path: str, body: dict[str, Any], answer: Callable[[], None]
) -> dict[str, Any]:
    """Send a request, answer it, and give the reply."""
    task = asyncio.create_task(client.request(url, "POST", path, body))
    await asyncio.to_thread(answer)
    reply: dict[str, Any] = json.loads(await task)
    return reply


def test_a_reply_with_a_call(scheduler: ManualScheduler, url: str) -> None:
    def answer() -> None:
        (rid,) = scheduler.wait_for(1)
        assert scheduler.requests[rid][0].input_ids == tuple(apply_chat_template(USER))
        scheduler.answer(rid, *CALL_IDS[:7], cached=256)
        scheduler.answer(rid, *CALL_IDS[7:], EOS, reason="stop")

    body = {"messages": USER, "tools": TOOLS, "model": "mini-deepseek-v4"}
    reply = asyncio.run(whole(url, CHAT, body, answer))
    (choice,) = reply["choices"]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] is None
    (call,) = choice["message"]["tool_calls"]
    assert call["function"] == {"name": "book", "arguments": '{"item": "amber kelp lake"}'}
    prompt = len(apply_chat_template(USER))
    assert reply["usage"] == {
        "prompt_tokens": prompt,
        "completion_tokens": len(CALL_IDS) + 1,
        "total_tokens": prompt + len(CALL_IDS) + 1,
        "prompt_tokens_details": {"cached_tokens": 256},
    }


@pytest.mark.parametrize(
    ("body", "reason", "content", "finish"),
    [
        ({}, "stop", CALL, "stop"),
        ({"tools": TOOLS, "tool_choice": "none"}, "length", CALL, "length"),
        ({"tools": [{"type": "function", "function": {"name": "ship"}}]}, "stop", "", "stop"),
    ],
)
def test_replies_whose_markup_is_no_call(
    scheduler: ManualScheduler, url: str, body: dict[str, Any], reason: str, content: str, finish: str
) -> None:
    def answer() -> None:
        (rid,) = scheduler.wait_for(1)
        scheduler.answer(rid, *CALL_IDS, EOS, reason=reason)

    reply = asyncio.run(whole(url, CHAT, {"messages": USER, **body}, answer))
    message = reply["choices"][0]["message"]
    assert message == {"role": "assistant", "content": content}
    assert reply["choices"][0]["finish_reason"] == finish


def test_a_stream_has_the_same_message_piece_by_piece(scheduler: ManualScheduler, url: str) -> None:
    body = {
        "messages": USER,
        "tools": TOOLS,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    ids = [*get_tokenizer().encode("amber kelp"), *CALL_IDS, EOS]

    async def read() -> list[dict[str, Any]]:
        stream = client.events(url, CHAT, body)
        first = asyncio.ensure_future(anext(stream))
        (rid,) = await asyncio.to_thread(scheduler.wait_for, 1)
        scheduler.answer(rid, ids[0])
        got = [await first]
        for token in ids[1:-1]:
            scheduler.answer(rid, token)
        scheduler.answer(rid, ids[-1], reason="stop")
        got += [event async for event in stream]
        assert got.pop() == "[DONE]"
        return [json.loads(event) for event in got]

    *chunks, last = asyncio.run(read())
    assert last["choices"] == []
    assert last["usage"]["completion_tokens"] == len(ids)
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    assert deltas[0] == {"role": "assistant", "content": ""}
    assert "".join(delta.get("content", "") for delta in deltas) == "amber kelp"
    (calls,) = [delta["tool_calls"] for delta in deltas if "tool_calls" in delta]
    assert calls[0]["index"] == 0
    assert json.loads(calls[0]["function"]["arguments"]) == {"item": "amber kelp lake"}
    reasons = [chunk["choices"][0]["finish_reason"] for chunk in chunks]
    assert reasons == [None] * (len(chunks) - 1) + ["tool_calls"]


def test_generate_gives_text_and_ids(scheduler: ManualScheduler, url: str) -> None:
    def answer() -> None:
        scheduler.wait_for(1)
        scheduler.answer("mine", *CALL_IDS, EOS, reason="stop")

    sampling = {"max_new_tokens": 30, "skip_special_tokens": False}
    body = {"rid": "mine", "text": "ask amber kelp", "sampling_params": sampling, "bootstrap_room": 7}
    reply = asyncio.run(whole(url, "/generate", body, answer))
    assert reply["text"] == CALL + "<｜end▁of▁sentence｜>"
    assert reply["output_ids"] == [*CALL_IDS, EOS]
    assert reply["meta_info"]["finish_reason"] == {"type": "stop"}


MALFORMED: list[tuple[str, Any, int, str]] = [
    (CHAT, b"{", 400, "the body is no JSON"),
    (CHAT, b"\xff\xfe", 400, "the body is no JSON"),
    (CHAT, b"[" * 100_000, 400, "the body is no JSON"),
    (CHAT, b"[]", 400, "the body must be a JSON object"),
    (CHAT, {}, 400, "messages is missing"),
    (CHAT, {"messages": "hello"}, 400, "messages must be a list, not 'hello'"),
    (CHAT, {"messages": []}, 400, "messages must be a list of objects, at least one"),
    (CHAT, {"messages": [1]}, 400, "messages must be a list of objects, at least one"),
    (CHAT, {"messages": [{"role": "oracle"}]}, 400, "unknown role 'oracle'"),
    (CHAT, {"messages": USER, "model": "gpt"}, 404, "the model 'gpt' does not exist"),
    (CHAT, {"messages": USER, "max_tokens": "9"}, 400, "max_tokens must be an integer, not '9'"),
    (CHAT, {"messages": USER, "max_tokens": True}, 400, "max_tokens must be an integer, not True"),
    (CHAT, {"messages": USER, "max_tokens": 0}, 400, "must be at least 1"),
    (CHAT, {"messages": USER, "stream": "yes"}, 400, "stream must be a boolean"),
    (CHAT, {"messages": USER, "n": 2}, 400, "n must be 1"),
    (CHAT, {"messages": USER, "tools": [{"name": "f"}]}, 400, "a tool must be a function"),
    (CHAT, {"messages": USER, "tool_choice": "required"}, 400, "tool_choice must be auto or none"),
    (CHAT, {"messages": USER, "max_tokens": 1000}, 400, "the context holds 1000 tokens"),
    (CHAT, {"messages": [{"role": "user", "content": "amber " * 1000}]}, 400, "the context holds"),
    (CHAT, b" " * 10_000_000, 413, "the body is larger than"),
    ("/generate", {}, 400, "give either text or input_ids"),
    ("/generate", {"text": "a", "input_ids": [1]}, 400, "give either text or input_ids"),
    ("/generate", {"text": ""}, 400, "the prompt is empty"),
    ("/generate", {"input_ids": [1, -1]}, 400, "input_ids must be integers from 0 to"),
    ("/generate", {"input_ids": [1], "bootstrap_room": 2**63}, 400, "bootstrap_room must be"),
    ("/generate", {"input_ids": [1], "sampling_params": {"max_new_tokens": 0}}, 400, "at least 1"),
    ("/generate", {"input_ids": [1], "rid": "\ud800"}, 400, "rid must be at most 200 printable"),
    ("/generate", {"input_ids": [1], "rid": "x" * 201}, 400, "rid must be at most 200 printable"),
    (CHAT, {"messages": USER, "model": "\ud800"}, 404, "does not exist"),
    (CHAT, {"messages": [{"role": "\ud800"}]}, 400, "unknown role"),
    ("/abort_request", {}, 400, "give either rid or abort_all"),
    ("/no/such/route", {}, 404, "Not Found: POST /no/such/route"),
    ("/server_info", {}, 405, "Method Not Allowed"),
]


@pytest.mark.parametrize(("path", "body", "status", "words"), MALFORMED)
def test_a_bad_request_is_a_clear_error_in_the_shape_of_openai(
    idle_url: str, path: str, body: Any, status: int, words: str
) -> None:
    with pytest.raises(HttpError) as raised:
        asyncio.run(client.request(idle_url, "POST", path, body))
    assert raised.value.status == status
    error = json.loads(raised.value.body)["error"]
    assert error.keys() == {"message", "type", "param", "code"}
    assert words in error["message"]
    assert asyncio.run(client.request(idle_url, "GET", "/health")) == ""


def test_an_oversized_context_has_the_code_that_clients_look_for(url: str) -> None:
    with pytest.raises(HttpError) as raised:
        asyncio.run(client.request(url, "POST", "/generate", {"text": "amber " * 2000}))
    assert json.loads(raised.value.body)["error"]["code"] == "context_length_exceeded"


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("begun", [True, False])
def test_a_client_that_hangs_up_has_its_request_aborted(
    scheduler: ManualScheduler, url: str, stream: bool, begun: bool
) -> None:
    async def leave() -> str:
        body = {"messages": USER, "stream": stream}
        reply = asyncio.ensure_future(anext(client.events(url, CHAT, body)))
        (rid,) = await asyncio.to_thread(scheduler.wait_for, 1)
        if begun:
            scheduler.answer(rid, CALL_IDS[0])
        if begun and stream:
            await reply
        reply.cancel()
        await asyncio.gather(reply, return_exceptions=True)
        return rid

    rid = asyncio.run(leave())
    scheduler.wait_for_abort(rid)
    assert asyncio.run(client.request(url, "GET", "/health")) == ""


def test_a_reader_that_does_not_read_holds_nobody_up(scheduler: ManualScheduler, url: str) -> None:
    async def read() -> dict[str, Any]:
        slow = client.events(url, "/generate", {"rid": "slow", "input_ids": [1], "stream": True})
        first = asyncio.ensure_future(anext(slow))
        await asyncio.to_thread(scheduler.wait_for, 1)
        for _ in range(900):  # far more than the sockets' buffers hold, as text is cumulative
            scheduler.answer("slow", *CALL_IDS)
        await first

        def answer() -> None:
            scheduler.wait_for(2)
            scheduler.answer("quick", CALL_IDS[0], reason="length")

        reply = await whole(url, "/generate", {"rid": "quick", "input_ids": [1]}, answer)
        await slow.aclose()  # type: ignore[attr-defined] # an async generator
        return reply

    assert asyncio.run(read())["meta_info"]["finish_reason"] == {"type": "length"}
    scheduler.wait_for_abort("slow")


def test_flush_is_refused_while_anything_is_under_way(scheduler: ManualScheduler, url: str) -> None:
    async def run() -> None:
        task = asyncio.ensure_future(client.request(url, "POST", "/generate", {"input_ids": [1]}))
        (rid,) = await asyncio.to_thread(scheduler.wait_for, 1)
        for method in ("GET", "POST"):
            with pytest.raises(HttpError, match="requests are running or queued") as raised:
                await client.request(url, method, "/flush_cache")
            assert raised.value.status == 400
        scheduler.answer(rid, reason="stop")
        await task
        assert await client.request(url, "POST", "/flush_cache") == "Cache flushed.\n"

    asyncio.run(run())


@pytest.mark.parametrize("body", [{"rid": "mine"}, {"abort_all": True}])
def test_abort_request_ends_a_request(
    scheduler: ManualScheduler, url: str, body: dict[str, Any]
) -> None:
    def answer() -> None:
        scheduler.wait_for(1)
        aborted = json.loads(asyncio.run(client.request(url, "POST", "/abort_request", body)))
        assert aborted == {"aborted": True}

    reply = asyncio.run(whole(url, "/generate", {"rid": "mine", "input_ids": [1]}, answer))
    assert reply["meta_info"]["finish_reason"] == {"type": "abort", "message": "Aborted by AbortReq"}
    nobody = asyncio.run(client.request(url, "POST", "/abort_request", {"rid": "nobody"}))
    assert json.loads(nobody) == {"aborted": False}


def test_a_request_that_fails_is_a_500_before_its_stream_and_an_event_in_it(
    scheduler: ManualScheduler, url: str
) -> None:
    why = "Request x timed out after 300.0s in KVPoll.WaitingForInput"

    async def run(stream: bool, begun: bool) -> list[str]:
        body = {"input_ids": [1], "stream": stream}
        events = client.events(url, "/generate", body)
        first = asyncio.ensure_future(anext(events))
        (rid,) = await asyncio.to_thread(scheduler.wait_for, 1)
        if begun:
            scheduler.answer(rid, CALL_IDS[0])
            await first
        scheduler.answer(rid, reason="error", error=why)
        return [*([] if begun else [await first]), *[event async for event in events]]

    for stream in (False, True):
        with pytest.raises(HttpError, match=why) as raised:
            asyncio.run(run(stream, begun=False))
        assert raised.value.status == 500
    event, done = asyncio.run(run(True, begun=True))
    assert json.loads(event)["error"]["message"] == why
    assert done == "[DONE]"


def test_two_requests_cannot_share_an_id(scheduler: ManualScheduler, url: str) -> None:
    def answer() -> None:
        scheduler.wait_for(1)
        with pytest.raises(HttpError, match="under way"):
            asyncio.run(client.request(url, "POST", "/generate", {"rid": "one", "input_ids": [2]}))
        scheduler.answer("one", reason="stop")

    asyncio.run(whole(url, "/generate", {"rid": "one", "input_ids": [1]}, answer))
    assert scheduler.aborted == []


def test_metrics_count_peaks_and_name_what_is_whose(scheduler: ManualScheduler, url: str) -> None:
    async def run() -> str:
        tasks = [
            asyncio.ensure_future(client.request(url, "POST", "/generate", {"input_ids": [1]}))
            for _ in range(3)
        ]
        for rid in await asyncio.to_thread(scheduler.wait_for, 3):
            scheduler.answer(rid, reason="stop")
        await asyncio.gather(*tasks)
        return await client.request(url, "GET", "/metrics")

    lines = asyncio.run(run()).splitlines()
    labels = '{engine_type="null",model_name="mini-deepseek-v4"}'
    assert f"peak_in_flight{labels} 3.0" in lines
    assert "# TYPE hicache_loaded_pages_total counter" in lines
    assert f"sglang:num_running_reqs{labels} 0.0" in lines


def test_metrics_can_be_turned_off(scheduler: ManualScheduler) -> None:
    with serving(scheduler, ServerArgs(enable_metrics=False)) as url:
        with pytest.raises(HttpError) as raised:
            asyncio.run(client.request(url, "GET", "/metrics"))
        assert raised.value.status == 404


def test_merged_metrics_keep_the_samples_of_a_name_together() -> None:
    one = metrics.render({"a_total": 1, "b": 2}, {"engine_type": "x"})
    two = metrics.render({"b": 3, "a_total": 4}, {"engine_type": 'y"\\'})
    assert metrics.merge([one, two]).splitlines() == [
        "# TYPE sglang:a_total counter",
        'sglang:a_total{engine_type="x"} 1.0',
        'sglang:a_total{engine_type="y\\"\\\\"} 4.0',
        "# TYPE sglang:b gauge",
        'sglang:b{engine_type="x"} 2.0',
        'sglang:b{engine_type="y\\"\\\\"} 3.0',
    ]
