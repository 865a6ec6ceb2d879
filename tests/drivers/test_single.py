"""One request, many times: what is sent, what becomes of the reply, and what is refused."""

from __future__ import annotations

import asyncio
import hashlib
import json
from typing import Any

import pytest

from tests.drivers.serving import HELLO, PATH, all_of, build, drive, request
from tests.http.doubles import CHUNKED, DONE, PATIENCE, chunk, delta, head, says, serving, stays
from workbench.errors import ArmCouldNotStart, PluginError
from workbench.http.reply import Outcome
from workbench.model.outcome import Ending, Exchange
from workbench.ports import Endpoint
from workbench.workloads.bodies import Api, laid_over
from workbench.workloads.server import joined

USAGE = {"include_usage": True}


def sent(fields: dict[str, Any] | None = None, **options: Any) -> Any:
    (body,) = drive(build("single", **options), fields=fields).bodies
    return body


def whole(body: object) -> tuple[bytes, bytes]:
    data = json.dumps(body).encode()
    return head(kind="application/json", length=len(data)), data


def test_a_prompt_is_said_in_the_words_of_the_path() -> None:
    said = [{"role": "user", "content": "hi"}]
    assert sent(prompt="hi") == {"messages": said, "stream": True, "stream_options": USAGE}
    assert sent(messages=said) == sent(prompt="hi")
    plain = {"stream": False}
    assert sent(prompt="hi", path="/generate", stream=False) == {"text": "hi", **plain}
    assert sent(prompt="hi", path="/v1/completions", stream=False) == {"prompt": "hi", **plain}
    assert sent(body={"messages": said}) == sent(prompt="hi")


def test_a_session_finds_its_seed_and_number_in_the_texts() -> None:
    body = sent(messages=[{"role": "user", "content": [{"text": "{seed}/{session}/{other}"}]}])
    assert body["messages"][0]["content"][0]["text"] == "7/0/{other}"


def test_the_arm_has_the_last_word_on_every_field() -> None:
    options = {"a": {"b": 1, "c": 2}, "gone": 1, "temperature": 0, "stream_options": None}
    arm = {"a.b": 3, "a.d.e": 4, "gone": None, "never.was": None, "stream": False}
    body = sent(arm, prompt="hi", model="m", body=options)
    assert body.pop("messages")
    assert body == {
        "model": "m",
        "a": {"b": 3, "c": 2, "d": {"e": 4}},
        "never": {},
        "temperature": 0,
        "stream": False,
    }


def test_laying_over_changes_nothing_else() -> None:
    body = {"a": {"b": 1}}
    assert laid_over(body, {"a.b": 2}) == {"a": {"b": 2}}
    assert body == {"a": {"b": 1}}


def test_a_stream_becomes_one_body_of_the_api() -> None:
    call = {"index": 0, "id": "c", "function": {"name": "book", "arguments": '{"item": '}}
    rest = {"index": 0, "function": {"arguments": '"kelp"}'}}
    counts = {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 3}}
    events = [
        delta("am"),
        delta("ber"),
        b"data: "
        + json.dumps({"choices": [{"delta": {"reasoning_content": "hm"}}]}).encode()
        + b"\n\n",
        *(
            b"data: " + json.dumps({"choices": [{"delta": {"tool_calls": [each]}}]}).encode() + b"\n\n"
            for each in (call, rest)
        ),
        delta("", "tool_calls", usage=counts),
        DONE,
    ]
    answer = says(head(CHUNKED), *map(chunk, events), b"0\r\n\r\n")
    driven = drive(build("single", prompt="hi", expected={"name": "book"}), answer)
    (seen,) = driven.exchanges
    message = json.loads(seen.text)["choices"][0]
    assert message["finish_reason"] == "tool_calls"
    assert (message["message"]["content"], message["message"]["reasoning_content"]) == ("amber", "hm")
    assert message["message"]["tool_calls"][0]["function"] == {
        "name": "book",
        "arguments": '{"item": "kelp"}',
    }
    assert (seen.ending, seen.http_status, seen.finish) == (Ending.COMPLETED, 200, "tool_calls")
    assert (seen.prompt_tokens, seen.completion_tokens, seen.cached_tokens) == (9, 4, 3)
    assert (seen.expected, seen.last, seen.detail, seen.earlier) == ('{"name": "book"}', True, "", ())
    assert seen.text_bytes == sum(map(len, events))
    assert seen.first_seconds is not None
    assert 0 < seen.first_seconds <= seen.seconds
    assert seen.request_sha256 == hashlib.sha256(driven.requests[0][1]).hexdigest()


def test_an_answer_of_another_path_keeps_its_shape() -> None:
    counts = {"finish_reason": {"type": "length"}, "prompt_tokens": 1, "completion_tokens": 2}
    answer = says(*whole({"text": "am", "meta_info": counts}))
    (seen,) = drive(build("single", prompt="a", path="/generate", stream=False), answer).exchanges
    told = {"text": "am", "meta_info": {"finish_reason": {"type": "length"}}}
    assert (json.loads(seen.text), seen.finish) == (told, "length")
    answer = says(*whole({"choices": [{"text": "am", "finish_reason": "stop"}]}))
    options = {"prompt": "a", "path": "/v1/completions", "stream": False}
    (seen,) = drive(build("single", **options), answer).exchanges
    assert json.loads(seen.text) == {"choices": [{"text": "am", "finish_reason": "stop"}]}


def test_an_answer_without_choices_says_nothing() -> None:
    (seen,) = drive(build("single", prompt="a", stream=False), says(*whole({}))).exchanges
    assert json.loads(seen.text)["choices"][0]["message"]["content"] == ""


@pytest.mark.parametrize("count", [-1, 1 << 53, 10**30, True, "7", None, 1.5])
def test_counts_that_no_tokens_have_are_left_out(count: object) -> None:
    answer = says(head(), delta("a", "stop", usage={"prompt_tokens": count}), DONE)
    (seen,) = drive(build("single", prompt="a"), answer).exchanges
    assert (seen.ending, seen.prompt_tokens) == (Ending.COMPLETED, None)


def test_bytes_that_are_no_utf8_are_malformed_and_kept_for_people() -> None:
    answer = says(head(), delta("first").replace(b"first", b"f\xffrst"), DONE)
    (seen,) = drive(build("single", prompt="a"), answer).exchanges
    assert (seen.ending, seen.detail) == (Ending.MALFORMED, "the body is not UTF-8")
    assert "f\ufffdrst" in seen.text


def test_every_word_of_the_client_is_an_ending() -> None:
    of_its_own = {Ending.ENGINE_DIED}  # which no reply can say
    assert {outcome.value for outcome in Outcome} == {end.value for end in set(Ending) - of_its_own}


def test_attempts_are_made_only_when_asked_for_and_each_is_on_record() -> None:
    busy = says(head("Retry-After: 0", status="503 Busy", length=0))
    (seen,) = drive(build("single", prompt="a"), busy, HELLO).exchanges
    assert (seen.ending, seen.http_status, seen.earlier) == (Ending.HTTP_ERROR, 503, ())
    driven = drive(build("single", prompt="a", retries=2), busy, busy, HELLO)
    (seen,) = driven.exchanges
    assert (seen.ending, len(driven.requests)) == (Ending.COMPLETED, 3)
    assert [told.partition(";")[0] for told in seen.earlier] == ["http_error: HTTP status 503"] * 2


def test_key_and_headers_are_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGINE_KEY", "planted-key")
    workload = build("single", prompt="a", api_key_env="ENGINE_KEY", headers={"X-Team": "night"})
    ((top, _),) = drive(workload).requests
    assert "authorization: bearer planted-key" in top.lower()
    assert "x-team: night" in top.lower()


@pytest.mark.parametrize(
    ("endpoint", "options", "what", "hint"),
    [
        (Endpoint(arm="a"), {}, "no URL", "engine that serves"),
        (Endpoint(arm="a", url="ftp://x"), {}, "url must begin with http", ""),
        (Endpoint(arm="a", url="http://x:0x"), {}, "cannot be sent", ""),
        (Endpoint(arm="a", url="http://x"), {"api_key_env": "NO_KEY"}, "NO_KEY is not set", "key"),
        (Endpoint(arm="a", url="http://x"), {"headers": {"a\n": "b"}}, "header", "ASCII"),
        (Endpoint(arm="a", url="http://x", load={"turn": 1}), {}, "no 'turn'", "known"),
        (Endpoint(arm="a", url="http://x", load={"api_key_env": "X"}), {}, "no 'api_key_env'", ""),
        (Endpoint(arm="a", url="http://x", load={"timeout": "x"}), {}, "Expected `float`", ""),
        (Endpoint(arm="a", url="http://x", load={"timeout": -1}), {}, "must be positive", ""),
        (Endpoint(arm="a", url="http://x", request={"model.x": 1}), {}, "'model' is no object", ""),
        (Endpoint(arm="a", url="http://x", request={"x": float("nan")}), {}, "nothing can be sent", ""),
        (Endpoint(arm="a", url="http://x", request={"x": {1, 2}}), {}, "nothing can be sent", ""),
        (Endpoint(arm="a", url="http://x", request={"x": "\ud800"}), {}, "nothing can be sent", ""),
    ],
)
def test_an_endpoint_that_is_none_is_an_arm_that_could_not_start(
    endpoint: Endpoint, options: dict[str, Any], what: str, hint: str
) -> None:
    async def go() -> None:
        workload = build("single", prompt="a", model="m", **options)
        try:
            await all_of(workload, endpoint, request())
        finally:
            await workload.close()

    with pytest.raises(ArmCouldNotStart) as raised:
        asyncio.run(go())
    assert what in raised.value.what
    assert hint in raised.value.hint


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({}, "nothing to send"),
        ({"prompt": "a", "messages": [{}]}, "say it twice"),
        ({"prompt": "a", "path": "v1"}, "path must begin with /"),
        ({"prompt": "a", "timeout": 0}, "timeout must be positive"),
        ({"prompt": "a", "retries": -1}, "retries must not be negative"),
        ({"prompt": "a", "expected": 3}, "Expected"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], what: str) -> None:
    with pytest.raises(PluginError, match=what):
        build("single", **options)


def test_an_arms_load_lies_over_the_options_and_the_conductors_part_is_its_own() -> None:
    load = {"stream": False, "in_flight": 3, "sessions": 9, "body.top_k": 4}
    (body,) = drive(build("single", prompt="a", body={"top_p": 1}), load=load).bodies
    assert (body["stream"], body["top_k"], body["top_p"]) == (False, 4, 1)


@pytest.mark.parametrize(
    ("url", "path", "whole_url"),
    [
        ("http://h:1", "/generate", "http://h:1/generate"),
        ("http://h:1/", "/v1/completions", "http://h:1/v1/completions"),
        ("http://h:1/v1/", "/v1/completions", "http://h:1/v1/completions"),
        ("http://h:1/v1", "/generate", "http://h:1/v1/generate"),
        ("http://h/proxy/v1", "/v1/x", "http://h/proxy/v1/x"),
    ],
)
def test_urls_are_joined(url: str, path: str, whole_url: str) -> None:
    assert joined(url, path) == whole_url


def test_the_end_of_a_path_tells_its_api() -> None:
    told = {path: Api.of(path) for path in ("/generate/", "/v1/completions?x=/generate", PATH, "/x")}
    assert list(told.values()) == [Api.GENERATE, Api.COMPLETIONS, Api.CHAT, Api.CHAT]


def test_connections_are_kept_within_a_job_and_closed_after_it() -> None:
    answer = says(head(CHUNKED), chunk(delta("a", "stop") + DONE), b"0\r\n\r\n", close=False)

    async def go() -> tuple[list[Exchange], int, int]:
        async with asyncio.timeout(PATIENCE), serving(answer) as server:
            endpoint = Endpoint(arm="a", url=server.url.removesuffix(PATH))
            workload = build("single", prompt="a")
            seen = [each for n in range(3) for each in await all_of(workload, endpoint, request(n))]
            kept = server.connections
            await workload.close()
            await server.left.wait()
            seen += await all_of(workload, endpoint, request(3))
            await workload.close()
            return seen, kept, server.connections

    seen, kept, after = asyncio.run(go())
    assert [each.ending for each in seen] == [Ending.COMPLETED] * 4
    assert (kept, after) == (1, 2)


def test_a_connection_that_was_closed_for_being_idle_is_told_from_an_engine_that_hangs_up() -> None:
    kept = says(head(CHUNKED), chunk(delta("a", "stop") + DONE), b"0\r\n\r\n", close=False)
    first, second = drive(
        build("single", prompt="a"), kept, says(), sessions=[request(0), request(1)]
    ).exchanges
    assert (first.ending, second.ending) == (Ending.COMPLETED, Ending.RESET)
    assert second.detail.endswith("may have been closed for being idle")
    (hung_up,) = drive(build("single", prompt="a"), says()).exchanges
    assert hung_up.detail == "the connection was closed before any answer"


def test_cancelling_ends_the_connection_at_once() -> None:
    async def go() -> None:
        async with asyncio.timeout(PATIENCE), serving(stays(head(), delta("a"))) as server:
            endpoint = Endpoint(arm="a", url=server.url.removesuffix(PATH))
            workload = build("single", prompt="a")
            task = asyncio.create_task(all_of(workload, endpoint, request()))
            await server.arrived.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await server.left.wait()  # before close: the cancel has done it
            await workload.close()

    asyncio.run(go())
