"""What the client sends, when it sends again, and that leaving is leaving."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.http.doubles import (
    CHUNKED,
    DONE,
    PATIENCE,
    STREAM,
    Connection,
    Server,
    chunk,
    delta,
    head,
    says,
    serving,
    stays,
)
from workbench.errors import UsageError
from workbench.http.client import Client
from workbench.http.reply import Form, Outcome, Reply, Request
from workbench.http.retrying import Retry

WHOLE = (head(CHUNKED), chunk(delta("a")), chunk(delta("b", "stop")), chunk(DONE) + b"0\r\n\r\n")
GOOD = says(*WHOLE, close=False)
BUSY = says(head("Retry-After: 0", status="503 Busy", length=2), b"no", close=False)


def request(server: Server, **more: Any) -> Request:
    return Request(**{"url": server.url, "body": {"stream": True}, "deadline": PATIENCE, **more})


def run(go: Callable[[], Awaitable[None]]) -> None:
    async def patient() -> None:
        async with asyncio.timeout(2 * PATIENCE):
            await go()

    asyncio.run(patient())


def heads(server: Server) -> dict[str, str]:
    """Give the headers of the first request."""
    lines = server.requests[0][0].split("\r\n")[1:]
    return dict(line.lower().split(": ", 1) for line in lines if line)


class TestWhatIsSent:
    def test_head_and_body(self) -> None:
        async def go() -> None:
            async with serving(GOOD) as server, Client(headers={"X-Team": "a"}) as client:
                body = {"messages": [{"content": "ä\u2028😀"}]}
                await client.send(
                    request(server, body=body, headers={"X-Turn": "7", "accept-encoding": "br"})
                )
                first, sent = server.requests[0]
                assert first.startswith("POST /v1/chat/completions HTTP/1.1\r\n")
                assert json.loads(sent) == body
                told = heads(server)
                assert told["accept-encoding"] == "identity"
                assert told["content-type"] == "application/json"
                assert told["content-length"] == str(len(sent))
                assert (told["x-team"], told["x-turn"]) == ("a", "7")
                assert told["user-agent"].startswith("bisection-workbench/")
                assert "authorization" not in told

        run(go)

    def test_bytes_go_as_they_are(self) -> None:
        async def go() -> None:
            async with serving(GOOD) as server, Client() as client:
                await client.send(request(server, body=b'{"a":1, "a":\xff}'))
                assert server.requests[0][1] == b'{"a":1, "a":\xff}'

        run(go)

    def test_the_key_comes_from_the_environment_and_goes_nowhere_else(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ENGINE_KEY", "sk-planted")

        async def go() -> None:
            async with serving(GOOD) as server, Client(api_key_env="ENGINE_KEY") as client:
                sent = request(server)
                reply = await client.send(sent)
                assert heads(server)["authorization"] == "bearer sk-planted"
                assert "sk-planted" not in repr((sent, reply, vars(client)))

        run(go)

    @pytest.mark.parametrize("value", [None, "", "sk-1\n", "schlüssel"])
    def test_a_key_that_is_missing_or_cannot_be_sent(
        self, value: str | None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("ENGINE_KEY", raising=False)
        if value is not None:
            monkeypatch.setenv("ENGINE_KEY", value)
        with pytest.raises(UsageError, match="environment variable ENGINE_KEY") as told:
            Client(api_key_env="ENGINE_KEY")
        assert told.value.hint
        assert not value or value not in str(told.value)

    def test_proxies_of_the_environment_are_not_used(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, "http://127.0.0.1:1")
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)

        async def go() -> None:
            async with serving(GOOD) as server, Client() as client:
                assert (await client.send(request(server))).outcome is Outcome.COMPLETED

        run(go)

    def test_no_cookie_is_told_again(self) -> None:
        cookie = says(head("Set-Cookie: a=b; Path=/", length=len(DONE)), DONE, close=False)

        async def go() -> None:
            async with serving(cookie) as server, Client() as client:
                named = server.url.replace("127.0.0.1", "localhost")
                for url in (server.url, server.url, named, named):
                    assert (await client.send(request(server, url=url))).outcome is Outcome.COMPLETED
                assert not any("cookie" in head_.lower() for head_, _ in server.requests)

        run(go)

    @pytest.mark.parametrize(
        "wrong",
        [
            {"body": {"a": float("nan")}},
            {"body": {"a": "\ud800"}},
            {"body": {"a": object()}},
            {"headers": {"X-A": "b\r\nX-C: d"}},
            {"headers": {"X-A": "ü"}},
            {"headers": {"content-length": "3"}},
            {"url": "http://127.0.0.1:port/"},
            {"url": "http://[::1/"},
        ],
    )
    def test_what_cannot_be_sent_is_said_before_anything_is(self, wrong: dict[str, Any]) -> None:
        async def go() -> None:
            async with serving(GOOD) as server, Client() as client:
                with pytest.raises(UsageError, match="cannot be sent"):
                    await client.send(request(server, **wrong))
                assert server.connections == 0

        run(go)

    @pytest.mark.parametrize(
        "wrong", [{"url": "ftp://a/"}, {"deadline": 0}, {"deadline": float("nan")}, {"form": Form.JSON}]
    )
    def test_requests_that_make_no_sense(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match=r"must be|must begin|needs a form"):
            request(Server(url="http://a/"), **wrong)


class TestStampsAndConnections:
    def test_stamps_are_in_order(self) -> None:
        async def go() -> None:
            async with serving(GOOD) as server, Client() as client:
                stamps = (await client.send(request(server))).last.stamps
                times = [stamps.sent, stamps.headers, stamps.first_content, stamps.last_byte]
                known = [time for time in [*times, stamps.ended] if time is not None]
                assert len(known) == 5
                assert known == sorted(known)

        run(go)

    def test_the_first_content_is_no_role_and_no_sign_of_life(self) -> None:
        quiet = says(head(), b": hm\n\n", delta(""), delta("", "stop"))

        async def go() -> None:
            async with serving(quiet) as server, Client() as client:
                last = (await client.send(request(server))).last
                assert (last.outcome, last.stamps.first_content) == (Outcome.COMPLETED, None)
                assert last.stamps.last_byte is not None

        run(go)

    @pytest.mark.parametrize(("keep_alive", "connections"), [(60.0, 1), (0.0, 3)])
    def test_connections_are_used_again_only_if_allowed(
        self, keep_alive: float, connections: int
    ) -> None:
        async def go() -> None:
            async with serving(GOOD) as server, Client(keep_alive=keep_alive) as client:
                replies = [await client.send(request(server)) for _ in range(3)]
                assert server.connections == connections
                again = connections == 1
                assert [reply.last.reused for reply in replies] == [False, again, again]

        run(go)

    def test_a_reset_of_a_connection_that_was_idle_says_so(self) -> None:
        async def go() -> None:
            async with serving(GOOD, says(broken=True)) as server, Client(keep_alive=60.0) as client:
                await client.send(request(server))
                last = (await client.send(request(server))).last
                assert (last.outcome, last.reused) == (Outcome.RESET, True)

        run(go)

    def test_all_that_are_started_are_sent(self) -> None:
        number = 150
        gate = asyncio.Event()

        async def after_all(connection: Connection) -> None:
            if len(served.requests) == number:
                gate.set()
            await gate.wait()  # so that none ends before all have arrived
            await GOOD(connection)

        served: Server

        async def go() -> None:
            nonlocal served
            async with serving(after_all) as served, Client() as client:
                sends = (client.send(request(served)) for _ in range(number))
                replies: list[Reply] = await asyncio.gather(*sends)
                assert {reply.outcome for reply in replies} == {Outcome.COMPLETED}

        run(go)


class TestLeaving:
    @pytest.mark.parametrize(
        "answer", [stays(), stays(head()), stays(head(CHUNKED), chunk(delta("a")))]
    )
    def test_cancelling_closes_the_connection(self, answer: Any) -> None:
        async def go() -> None:
            async with serving(answer) as server, Client() as client:
                sending = asyncio.create_task(client.send(request(server)))
                await server.arrived.wait()
                sending.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await sending
                await server.left.wait()

        run(go)

    def test_a_deadline_closes_the_connection(self) -> None:
        async def go() -> None:
            async with serving(stays(head(), delta("a"))) as server, Client() as client:
                reply = await client.send(request(server, deadline=0.1))
                assert reply.outcome is Outcome.TIMEOUT
                await server.left.wait()

        run(go)

    def test_what_one_left_the_next_does_not_meet(self) -> None:
        async def go() -> None:
            answers = stays(head(CHUNKED), chunk(delta("old"))), GOOD
            async with serving(*answers) as server, Client() as client:
                await client.send(request(server, deadline=0.1))
                last = (await client.send(request(server))).last
                assert last.answer is not None
                assert (last.answer.choices[0].content, last.reused) == ("ab", False)

        run(go)


class TestAgain:
    def test_nothing_is_sent_again_unasked(self) -> None:
        async def go() -> None:
            async with serving(BUSY, GOOD) as server, Client() as client:
                reply = await client.send(request(server))
                assert [one.outcome for one in reply.attempts] == [Outcome.HTTP_ERROR]
                assert (reply.last.status, reply.last.body) == (503, b"no")
                assert len(server.requests) == 1

        run(go)

    def test_every_attempt_is_recorded(self) -> None:
        async def go() -> None:
            async with serving(BUSY, BUSY, GOOD) as server, Client() as client:
                reply = await client.send(request(server), retry=Retry(times=5))
                assert [one.status for one in reply.attempts] == [503, 503, 200]
                assert reply.outcome is Outcome.COMPLETED
                assert [one.waited for one in reply.attempts] == [0.0, 0.0, 0.0]
                times = [one.stamps.sent for one in reply.attempts]
                assert times == sorted(times)

        run(go)

    def test_the_last_attempt_counts_when_there_are_no_more(self) -> None:
        async def go() -> None:
            async with serving(BUSY) as server, Client() as client:
                reply = await client.send(request(server), retry=Retry(times=2))
                assert [one.status for one in reply.attempts] == [503] * 3

        run(go)

    def test_a_wait_that_the_deadline_forbids_is_not_begun(self) -> None:
        later = says(head("Retry-After: 3600", status="429 Slow down", length=0), close=False)

        async def go() -> None:
            async with serving(later, GOOD) as server, Client() as client:
                reply = await client.send(request(server), retry=Retry(longest_wait=7200.0))
                assert [one.status for one in reply.attempts] == [429]

        run(go)

    def test_the_deadline_is_one_for_all_attempts(self) -> None:
        async def go() -> None:
            async with serving(BUSY, stays(head(kind=STREAM))) as server, Client() as client:
                reply = await client.send(request(server, deadline=0.2), retry=Retry(times=9))
                assert [one.outcome for one in reply.attempts] == [Outcome.HTTP_ERROR, Outcome.TIMEOUT]

        run(go)
