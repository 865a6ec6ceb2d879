"""Router, prefill and decode as real processes: right answers, hostile clients, world race."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.local_engine import client, sessions
from tests.local_engine.client import HttpError, drive
from tests.local_engine.processes import Engine, running
from workbench.workloads import records

CHAT = "/v1/chat/completions"
BF16 = {"SGLANG_DSV4_BF16_INDEX_K": "1"}
UNGATED = "tests.local_engine.launch_ungated"


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    argv = ("--enable-hierarchical-cache", "--disaggregation-enable-kv-checksum")
    with running(*argv, env=BF16) as at:
        yield at


def body(**more: Any) -> dict[str, Any]:
    """A request whose answer is known."""
    (session,) = sessions.draw(1, turns=1, start=300)
    tools = records.tools(session.vocabulary)
    return {"messages": records.messages(session, 0), "tools": tools, **more}


@pytest.mark.parametrize("stream", [False, True])
def test_answers_are_right(engine: Engine, stream: bool) -> None:
    known = sessions.draw(4, seed=int(stream), turns=2, start=500, grow=300)
    tally = asyncio.run(drive(engine.url, known, in_flight=4, stream=stream))
    assert (tally.wrong, tally.responses, tally.errors) == (0, 8, ())
    metrics = engine.metrics()
    assert metrics["sglang:kv_checksum_matches_total"] >= 8
    assert metrics["sglang:kv_checksum_mismatches_total"] == 0
    assert metrics["index_k_bf16_reads_total"] > 0


def test_the_prefix_of_an_earlier_turn_is_cached(engine: Engine) -> None:
    (session,) = sessions.draw(1, seed=7, turns=2, start=1000, grow=100)
    tally = asyncio.run(drive(engine.url, [session], in_flight=1))
    assert tally.answers[1].usage["prompt_tokens_details"]["cached_tokens"] >= 512


@pytest.mark.parametrize(
    ("path", "request_body", "status", "words"),
    [
        (CHAT, b"{", 400, "the body is no JSON"),
        (CHAT, b" " * 10_000_000, 413, "the body is larger than"),
        (CHAT, {"messages": 3}, 400, "messages must be a list"),
        (CHAT, {"messages": [{"role": "user", "content": "hi"}], "model": "x"}, 404, "does not exist"),
        ("/generate", {"text": "amber " * 20_000}, 400, "the context holds 16384 tokens"),
        ("/nowhere", {}, 404, "Not Found"),
    ],
)
def test_errors_come_through_the_router(
    engine: Engine, path: str, request_body: Any, status: int, words: str
) -> None:
    got, error = engine.error("POST", path, request_body)
    assert (got, words in error["message"]) == (status, True)
    assert engine.ask("GET", "/health_generate") == (200, "")


def test_a_hang_up_in_mid_stream_aborts_at_the_decode_server(engine: Engine) -> None:
    async def leave() -> None:
        stream = client.events(engine.url, CHAT, body(stream=True))
        await anext(stream)
        await stream.aclose()  # type: ignore[attr-defined] # an async generator

    before = engine.metrics()["sglang:num_aborted_requests_total"]
    asyncio.run(leave())
    for _ in range(2000):  # each look is a round trip, so this is no busy wait
        if engine.metrics()["sglang:num_aborted_requests_total"] > before:
            break
    else:
        pytest.fail("the request goes on")
    assert engine.metrics()["sglang:num_running_reqs"] == 0
    assert engine.ask("POST", "/flush_cache")[0] == 200


def test_abort_and_flush_reach_both_servers(engine: Engine) -> None:
    assert engine.ask("POST", "/abort_request", {"rid": "nobody"}) == (200, '{"aborted":false}')
    assert engine.error("POST", "/abort_request", {})[0] == 400
    asyncio.run(drive(engine.url, sessions.draw(1, turns=1), in_flight=1))
    assert engine.metrics()["sglang:hicache_host_used_tokens"] > 0
    assert engine.ask("GET", "/flush_cache") == (200, "Cache flushed.\n")
    assert engine.metrics()["sglang:hicache_host_used_tokens"] == 0


def test_text_and_ids_are_given_by_generate(engine: Engine) -> None:
    request = {"text": "amber kelp", "rid": "mine", "sampling_params": {"max_new_tokens": 8}}
    reply = json.loads(engine.ask("POST", "/generate", request)[1])
    assert reply["meta_info"]["id"] == "mine"
    assert reply["meta_info"]["completion_tokens"] == len(reply["output_ids"])


def test_a_request_whose_pages_never_come_fails_by_name() -> None:
    env = {"SGLANG_DISAGGREGATION_WAITING_TIMEOUT": "0.2"}
    with running(env=env) as engine:
        decode = json.loads(engine.ask("GET", "/server_info")[1])["servers"]["decode"]
        with pytest.raises(
            HttpError, match=r"timed out after 0\.2s in KVPoll\.WaitingForInput"
        ) as raised:
            asyncio.run(client.request(decode, "POST", CHAT, body(bootstrap_room=1)))
        assert raised.value.status == 500
        assert engine.metrics()["sglang:num_transfer_failed_reqs_total"] == 1


def race(*argv: str, in_flight: int, number: int, env: dict[str, str]) -> tuple[int, dict[str, float]]:
    """Drive the engine without the gate; give the wrong answers, and its metrics."""
    known = sessions.draw(number, turns=4)
    with running("--enable-hierarchical-cache", *argv, module=UNGATED, env=env) as engine:
        tally = asyncio.run(drive(engine.url, known, in_flight=in_flight, round_robin=True))
        assert tally.errors == ()
        return tally.wrong, engine.metrics()


@pytest.mark.quality
def test_world_race_is_wrong_over_http_with_bf16_and_load_only() -> None:
    wrong, metrics = race(in_flight=60, number=60, env=BF16)
    assert 12 <= wrong <= 72  # 5 to 30 % of 240
    assert metrics["peak_in_flight"] >= 60
    fp8, metrics = race(in_flight=60, number=60, env={})
    assert (fp8, metrics["hicache_loaded_pages_total"] > 0) == (0, True)
    one, metrics = race(in_flight=1, number=10, env=BF16)
    assert (one, metrics["hicache_loaded_pages_total"] > 0) == (0, True)


@pytest.mark.quality
def test_the_shipped_engine_is_right_over_http_under_full_load() -> None:
    with running("--enable-hierarchical-cache", env=BF16) as engine:
        tally = asyncio.run(drive(engine.url, sessions.draw(60, turns=4), in_flight=60))
        assert (tally.wrong, tally.responses) == (0, 240)
        assert sum(each.memory_info().rss for each in engine.family) < 600e6
