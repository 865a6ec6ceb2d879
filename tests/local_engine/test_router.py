"""The router between two servers that answer when told, or are not there."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.local_engine import client
from tests.local_engine.client import HttpError
from tests.local_engine.doubles import ManualScheduler, serving, serving_app
from workbench.local_engine import sockets
from workbench.local_engine.entrypoints.router import Router

BODY = {"input_ids": [7], "rid": "mine"}


class Pair:
    """Two manual schedulers behind a router."""

    def __init__(self, stack: ExitStack) -> None:
        self.prefill, self.decode = ManualScheduler(), ManualScheduler()
        urls = [stack.enter_context(serving(each)) for each in (self.prefill, self.decode)]
        self.url = stack.enter_context(serving_app(Router(*urls).app()))


@pytest.fixture
def pair() -> Iterator[Pair]:
    with ExitStack() as stack:
        yield Pair(stack)


def test_a_request_without_a_name_has_the_same_one_at_both(pair: Pair) -> None:
    async def run() -> None:
        body = {"input_ids": [7], "rid": None, "bootstrap_room": None}
        reply = asyncio.ensure_future(client.request(pair.url, "POST", "/generate", body))
        (rid,) = await asyncio.to_thread(pair.decode.wait_for, 1)
        assert await asyncio.to_thread(pair.prefill.wait_for, 1) == [rid]
        assert pair.decode.requests[rid][0].bootstrap_room is not None
        pair.decode.answer(rid, 8, reason="stop")
        await reply

    asyncio.run(run())


def test_both_halves_meet_in_a_room_and_decode_is_opened_first(pair: Pair) -> None:
    async def run() -> str:
        reply = asyncio.ensure_future(client.request(pair.url, "POST", "/generate", BODY))
        await asyncio.to_thread(pair.decode.wait_for, 1)
        await asyncio.to_thread(pair.prefill.wait_for, 1)
        rooms = [half.requests["mine"][0].bootstrap_room for half in (pair.decode, pair.prefill)]
        assert rooms[0] == rooms[1]
        assert rooms[0] is not None
        assert 0 <= rooms[0] < 2**63
        pair.prefill.answer("mine", 8, reason="length")
        pair.decode.answer("mine", 8, 9, reason="stop")
        return await reply

    assert json.loads(asyncio.run(run()))["output_ids"] == [8, 9]


@pytest.mark.parametrize("stream", [False, True])
def test_the_error_of_prefill_is_the_reply_and_decode_is_let_go(pair: Pair, stream: bool) -> None:
    async def run() -> None:
        body = {**BODY, "stream": stream}
        reply = asyncio.ensure_future(client.request(pair.url, "POST", "/generate", body))
        await asyncio.to_thread(pair.decode.wait_for, 1)
        await asyncio.to_thread(pair.prefill.wait_for, 1)
        pair.prefill.answer("mine", reason="error", error="out of pages")
        await reply

    with pytest.raises(HttpError, match="out of pages") as raised:
        asyncio.run(run())
    assert raised.value.status == 500
    pair.decode.wait_for_abort("mine")


def test_a_client_that_leaves_takes_both_halves_with_it(pair: Pair) -> None:
    async def run() -> None:
        reply = asyncio.ensure_future(client.request(pair.url, "POST", "/generate", BODY))
        await asyncio.to_thread(pair.prefill.wait_for, 1)
        reply.cancel()
        await asyncio.gather(reply, return_exceptions=True)

    asyncio.run(run())
    pair.decode.wait_for_abort("mine")
    pair.prefill.wait_for_abort("mine")


def test_flush_is_refused_if_one_of_them_is_busy(pair: Pair) -> None:
    assert asyncio.run(client.request(pair.url, "POST", "/flush_cache")) == "Cache flushed.\n"
    pair.decode.flush_cache = lambda: False  # type: ignore[method-assign]
    with pytest.raises(HttpError, match="decode busy") as raised:
        asyncio.run(client.request(pair.url, "POST", "/flush_cache"))
    assert raised.value.status == 400


@pytest.mark.parametrize("path", ["/health", "/server_info", "/metrics", "/v1/models"])
def test_a_server_that_is_not_there_is_a_502_that_names_it(path: str) -> None:
    with sockets.listen("127.0.0.1", 0, "nobody") as closed:
        gone = sockets.url_of(closed)
    with serving_app(Router(gone, gone).app()) as url:
        with pytest.raises(HttpError, match=f"cannot reach {gone[7:]}") as raised:
            asyncio.run(client.request(url, "GET", path))
        assert raised.value.status == 502


def test_a_request_without_a_prefill_server_fails_and_decode_is_let_go() -> None:
    with sockets.listen("127.0.0.1", 0, "nobody") as closed:
        gone = sockets.url_of(closed)
    decode = ManualScheduler()
    with serving(decode) as decode_url, serving_app(Router(gone, decode_url).app()) as url:
        with pytest.raises(HttpError, match="cannot reach") as raised:
            asyncio.run(client.request(url, "POST", "/generate", BODY))
        assert raised.value.status == 502
        decode.wait_for_abort("mine")
