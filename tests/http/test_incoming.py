"""What comes is taken as it comes, or gathered; the end, a break and a cancel are noticed at once.

Where bytes are gathered "for an hour", a test ends only if something wakes the reader before that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import aiohttp
import pytest
from aiohttp.base_protocol import BaseProtocol

from tests.http.doubles import CHUNKED, PATIENCE, Connection, chunk, delta, head, serving, stays
from workbench.http.client import Client
from workbench.http.incoming import Incoming
from workbench.http.reply import Outcome, Request

AN_HOUR = 3600.0


def run(go: Callable[[], Awaitable[None]]) -> None:
    async def patient() -> None:
        async with asyncio.timeout(PATIENCE):
            await go()

    asyncio.run(patient())


def content(limit: int = 1 << 16) -> aiohttp.StreamReader:
    loop = asyncio.get_running_loop()
    protocol = BaseProtocol(loop)
    protocol.connection_made(asyncio.Transport())
    return aiohttp.StreamReader(protocol, limit, loop=loop)


def reading(body: aiohttp.StreamReader, within: float = AN_HOUR) -> Incoming:
    """Read a body whose connection stands."""
    return Incoming(body, asyncio.get_running_loop().create_future(), within=within)


def gathering(body: aiohttp.StreamReader, within: float = AN_HOUR) -> Incoming:
    """Read one whose content has begun."""
    incoming = reading(body, within)
    incoming.gathers = True
    return incoming


async def turns(number: int = 5) -> None:
    """Let everything run that is ready."""
    for _ in range(number):
        await asyncio.sleep(0)


def test_until_told_otherwise_each_piece_is_taken_as_it_comes() -> None:
    async def go() -> None:
        body = content()
        incoming = reading(body)
        taken = []
        for piece in (b"a", b"b"):
            waiting = asyncio.create_task(incoming.take())
            await turns()
            body.feed_data(piece)
            taken.append(await waiting)
        assert taken == [b"a", b"b"]

    run(go)


def test_what_is_gathered_is_taken_together_when_the_body_ends() -> None:
    async def go() -> None:
        body = content()
        incoming = gathering(body)
        waiting = asyncio.create_task(incoming.take())
        for piece in (b"a", b"b", b"c"):
            body.feed_data(piece)
            await turns()
            assert not waiting.done()
        body.feed_eof()
        assert await waiting == b"abc"
        assert await incoming.take() == b""

    run(go)


def test_after_a_while_what_is_there_is_taken_and_nothing_is_lost() -> None:
    async def go() -> None:
        body = content()
        incoming = gathering(body, 0.0)
        taken = b""
        for number in range(20):
            body.feed_data(b"%d," % number)
            taken += await incoming.take()
        body.feed_eof()
        assert taken + await incoming.take() == b"".join(b"%d," % number for number in range(20))

    run(go)


def test_a_break_gives_what_came_before_and_then_itself() -> None:
    async def go() -> None:
        body = content()
        closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        incoming = Incoming(body, closed, within=AN_HOUR)
        incoming.gathers = True
        waiting = asyncio.create_task(incoming.take())
        await turns()
        body.feed_data(b"half")
        closed.set_result(None)
        assert await waiting == b"half"
        with pytest.raises(aiohttp.ClientPayloadError):
            await incoming.take()

    run(go)


def test_a_body_that_is_broken_already_is_not_waited_for() -> None:
    async def go() -> None:
        body = content()
        incoming = gathering(body)
        body.set_exception(aiohttp.ClientPayloadError("broken"))
        with pytest.raises(aiohttp.ClientPayloadError, match="broken"):
            await incoming.take()

    run(go)


def test_who_sends_much_is_not_held_up() -> None:
    async def go() -> None:
        body = content()
        incoming = reading(body)
        much = b"x" * (1 << 16)
        body.feed_data(much)
        assert await incoming.take() == much
        incoming.gathers = True
        body.feed_data(much)
        assert await incoming.take() == much  # and does not wait for an hour

    run(go)


def test_a_cancel_ends_the_waiting() -> None:
    async def go() -> None:
        incoming = gathering(content())
        waiting = asyncio.create_task(incoming.take())
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    run(go)


def request(url: str, deadline: float) -> Request:
    return Request(url=url, body={"stream": True}, deadline=deadline)


def test_the_deadline_falls_while_gathering_and_what_came_is_kept() -> None:
    async def go() -> None:
        answer = stays(head(CHUNKED), chunk(delta("a")), chunk(delta("b")))
        async with serving(answer) as server, Client() as client:
            reply = await client.send(request(server.url, 0.5))
            assert reply.outcome is Outcome.TIMEOUT
            assert reply.answer is not None
            assert reply.answer.choices[0].content == "ab"
            await server.left.wait()

    run(go)


def test_leaving_while_gathering_ends_the_connection() -> None:
    sent = asyncio.Event()

    async def answer(connection: Connection) -> None:
        await connection.send(head(CHUNKED) + chunk(delta("a")))
        sent.set()
        await connection.gone()
        connection.writer.close()

    async def go() -> None:
        async with serving(answer) as server, Client() as client:
            sending = asyncio.create_task(client.send(request(server.url, PATIENCE)))
            await sent.wait()
            await turns()
            sending.cancel()
            with pytest.raises(asyncio.CancelledError):
                await sending
            await server.left.wait()

    run(go)
