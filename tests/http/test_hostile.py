"""What a hostile or broken server does ends each time in a word of its own, with bounded memory."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import tracemalloc
from dataclasses import dataclass

import pytest

from tests.http.doubles import (
    CHUNKED,
    DONE,
    PATIENCE,
    Answer,
    Connection,
    chunk,
    delta,
    head,
    says,
    serving,
    stays,
)
from workbench.http.client import Client
from workbench.http.reply import Attempt, Form, Limits, Outcome, Request

MIB = 1 << 20
DEADLINE = 3600.0  # of attempts that end before it, else the test does
SHORT = 0.2  # of attempts that only the deadline ends
FIRST, LAST = delta("first"), delta("", "stop")


def ask(
    *answers: Answer,
    body: bytes = b'{"stream": true}',
    form: Form = Form.CHAT,
    stream: bool = True,
    deadline: float = DEADLINE,
    limits: Limits | None = None,
    unread: bool = False,
) -> Attempt:
    """Send one request to a server that answers so."""

    async def go() -> Attempt:
        async with (
            asyncio.timeout(PATIENCE),
            serving(*answers, unread=unread) as server,
            Client(limits=limits) as client,
        ):
            request = Request(url=server.url, body=body, form=form, stream=stream, deadline=deadline)
            reply = await client.send(request)
            assert len(reply.attempts) == 1
            return reply.last

    return asyncio.run(go())


@dataclass(frozen=True, kw_only=True)
class Case:
    """What a server does, and what has to be said of it.

    Attributes:
        answer: What it does.
        outcome: The word for it.
        detail: A part of the line about it.
        text: What was joined before.
    """

    answer: Answer
    outcome: Outcome
    detail: str = ""
    text: str = ""


STREAMS = {
    "cut, by its length": Case(
        answer=says(head(length=4000), FIRST),
        outcome=Outcome.TRUNCATED,
        detail="shorter than was promised",
        text="first",
    ),
    "cut, chunked": Case(
        answer=says(head(CHUNKED), chunk(FIRST) + b"400\r\ndata: {"),
        outcome=Outcome.TRUNCATED,
        detail="shorter than was promised",
        text="first",
    ),
    "cut, ended by closing, within an event": Case(
        answer=says(head(), FIRST, LAST[:-30]),
        outcome=Outcome.TRUNCATED,
        detail="within an event, without finish_reason or [DONE]",
        text="first",
    ),
    "cut, ended by closing, between events": Case(
        answer=says(head(), FIRST),
        outcome=Outcome.TRUNCATED,
        detail="after a whole event, without finish_reason or [DONE]",
        text="first",
    ),
    "ended in order, but not by the engine": Case(
        answer=says(head(CHUNKED), chunk(FIRST), b"0\r\n\r\n"),
        outcome=Outcome.TRUNCATED,
        detail="without finish_reason or [DONE]",
        text="first",
    ),
    "ended in order without a word": Case(
        answer=says(head(length=0)), outcome=Outcome.TRUNCATED, detail="without finish_reason"
    ),
    "broken within": Case(
        answer=says(head(CHUNKED), chunk(FIRST), broken=True),
        outcome=Outcome.RESET,
        detail="broke within the body",
    ),
    "broken before any answer": Case(answer=says(broken=True), outcome=Outcome.RESET),
    "closed before any answer": Case(
        answer=says(), outcome=Outcome.RESET, detail="closed before any answer"
    ),
    "half a head": Case(answer=says(b"HTTP/1.1 200 OK\r\nCon"), outcome=Outcome.RESET),
    "ended by closing, finished": Case(
        answer=says(head(), FIRST, LAST), outcome=Outcome.COMPLETED, text="first"
    ),
    "ended by closing, done": Case(
        answer=says(head(), FIRST, DONE), outcome=Outcome.COMPLETED, text="first"
    ),
    "done, and its empty line missing": Case(
        answer=says(head(), FIRST, DONE.strip() + b"\n"), outcome=Outcome.COMPLETED, text="first"
    ),
    "done, and then cut": Case(
        answer=says(head(CHUNKED), chunk(FIRST + DONE)), outcome=Outcome.COMPLETED, text="first"
    ),
    "done, and then held open": Case(
        answer=stays(head(CHUNKED), chunk(FIRST + DONE)), outcome=Outcome.COMPLETED, text="first"
    ),
    "done twice, and a sign of life": Case(
        answer=says(head(), FIRST, DONE, b"data:\n\n", DONE), outcome=Outcome.COMPLETED, text="first"
    ),
    "more after it was done": Case(
        answer=says(head(), FIRST, DONE, delta("other")),
        outcome=Outcome.MALFORMED,
        detail="1 events after [DONE]",
        text="first",
    ),
    "U+2028, U+0085 and a vertical tab in a line": Case(
        answer=says(head(), delta("a\u2028b\x85c\u2029d"), LAST),
        outcome=Outcome.COMPLETED,
        text="a\u2028b\x85c\u2029d",
    ),
    "an error inside a 200": Case(
        answer=says(head(), FIRST, b'data: {"error": {"message": "out of pages"}}\n\n', DONE),
        outcome=Outcome.ENGINE_ERROR,
        detail="out of pages",
        text="first",
    ),
    "an error inside a 200, and then broken": Case(
        answer=says(head(CHUNKED), chunk(b'error: {"code": 500}\n\n'), b"5\r\n"),
        outcome=Outcome.ENGINE_ERROR,
        detail='{"code": 500}',
    ),
    "an error instead of a stream": Case(
        answer=says(head(kind="application/json", length=14), b'{"error": "x"}'),
        outcome=Outcome.ENGINE_ERROR,
    ),
    "an answer instead of a stream": Case(
        answer=says(head(kind="application/json", length=2), b"{}"),
        outcome=Outcome.MALFORMED,
        detail="'application/json', and events were asked for",
    ),
    "a page instead of a stream": Case(
        answer=says(head(kind="text/html", length=6), b"<html>"),
        outcome=Outcome.MALFORMED,
        detail="text/html",
    ),
    "no JSON": Case(
        answer=says(head(), FIRST, b"data: {oops\n\n"),
        outcome=Outcome.MALFORMED,
        detail="event 2 is not JSON",
        text="first",
    ),
    "no HTTP": Case(answer=says(b"SSH-2.0-x\r\n\r\n"), outcome=Outcome.MALFORMED, detail="not HTTP"),
    "wrong chunks": Case(
        answer=stays(head(CHUNKED), chunk(FIRST), b"zz\r\n"),
        outcome=Outcome.MALFORMED,
        detail="not HTTP",
    ),
    "a redirect to another host": Case(
        answer=says(head("Location: http://198.51.100.1/", status="302 Found", length=0)),
        outcome=Outcome.REDIRECTED,
        detail="HTTP status 302",
    ),
    "a redirect to nowhere": Case(
        answer=says(head("Location: http://[::1", status="301 Moved", length=0)),
        outcome=Outcome.REDIRECTED,
        detail="HTTP status 301",
    ),
    "an error status, cut": Case(
        answer=says(head(status="503 Busy", length=4000), b"try later"),
        outcome=Outcome.HTTP_ERROR,
        detail="HTTP status 503",
    ),
    "a header of 300 kB": Case(
        answer=says(head("X-Long: " + "a" * 300_000)), outcome=Outcome.TOO_LARGE, detail="a header"
    ),
    "thousands of headers": Case(
        answer=says(head(*(f"X-{n}: a" for n in range(3000)))), outcome=Outcome.TOO_LARGE
    ),
}


@pytest.mark.parametrize("case", STREAMS.values(), ids=STREAMS.keys())
def test_streams(case: Case) -> None:
    attempt = ask(case.answer)
    assert attempt.outcome is case.outcome, attempt.detail
    assert case.detail in attempt.detail
    if case.text:
        assert attempt.answer is not None
        assert attempt.answer.choices[0].content == case.text


def test_what_came_before_an_error_is_never_lost() -> None:
    # in one write, so that data and error are there before the client reads
    at_once = b"".join([head(CHUNKED), *(chunk(delta("x")) for _ in range(50)), b"400\r\ndata: {"])
    attempt = ask(says(at_once))
    assert attempt.outcome is Outcome.TRUNCATED
    assert attempt.answer is not None
    assert attempt.answer.choices[0].content == "x" * 50
    assert attempt.body.endswith(b"data: {")


def in_two(first: bytes, second: bytes) -> Answer:
    """Send the second part once the first has been read: they must not come in one read."""

    async def answer(connection: Connection) -> None:
        await connection.send(first)
        for _ in range(20):  # client and server share a loop: in some of these turns it reads
            await asyncio.sleep(0)
        await connection.send(second)
        connection.writer.close()

    return answer


def test_wrong_framing_wakes_the_reader_and_loses_nothing() -> None:
    many = b"".join(chunk(delta("x")) for _ in range(50))
    attempt = ask(in_two(head(CHUNKED), many + b"zz\r\n"))
    assert attempt.outcome is Outcome.MALFORMED
    assert attempt.answer is not None
    assert attempt.answer.choices[0].content == "x" * 50
    done = ask(in_two(head(CHUNKED), chunk(FIRST + DONE) + b"zz\r\n"))
    assert done.outcome is Outcome.COMPLETED


class TestWhole:
    """Answers that are one piece of JSON."""

    @pytest.mark.parametrize(
        ("answer", "outcome"),
        [
            (says(head(length=2), b"{}"), Outcome.COMPLETED),
            (says(head(), b'{"choices": []}'), Outcome.COMPLETED),
            (says(head(), b'{"choices": ['), Outcome.TRUNCATED),
            (says(head()), Outcome.TRUNCATED),
            (says(head(length=900), b'{"choices": ['), Outcome.TRUNCATED),
            (says(head(length=5), b"oops!"), Outcome.MALFORMED),
            (says(head(length=0)), Outcome.MALFORMED),
            (says(head(length=14), b'{"error": "x"}'), Outcome.ENGINE_ERROR),
        ],
    )
    def test_ends(self, answer: Answer, outcome: Outcome) -> None:
        for form in (Form.CHAT, Form.JSON):
            assert ask(answer, form=form, stream=False).outcome is outcome

    def test_its_text(self) -> None:
        body = '{"choices": [{"message": {"content": "ä"}, "finish_reason": "stop"}]}'.encode()
        attempt = ask(says(head(length=len(body)), body), stream=False)
        assert attempt.answer is not None
        assert attempt.answer.choices[0].content == "ä"
        assert attempt.body == body


class TestBytes:
    def test_wrong_utf8_is_flagged_and_the_bytes_are_kept(self) -> None:
        wrong = FIRST.replace(b"first", b"f\xff\xef\xbf\xbd")
        attempt = ask(says(head(), wrong, LAST))
        assert (attempt.outcome, attempt.valid_utf8) == (Outcome.COMPLETED, False)
        assert attempt.answer is not None
        assert attempt.answer.choices[0].content == "f\ufffd\ufffd"
        assert (attempt.answer.undecodable, attempt.answer.replaced) == (1, 1)
        assert attempt.body == wrong + LAST
        assert attempt.body_sha256 == hashlib.sha256(wrong + LAST).hexdigest()

    def test_a_character_that_the_end_cuts_is_no_wrong_byte_of_a_cut_stream(self) -> None:
        half = delta("é").partition(b"\xa9")[0]
        cut = ask(says(head(length=4000), half))
        assert (cut.outcome, cut.valid_utf8) == (Outcome.TRUNCATED, True)
        whole = ask(says(head(length=len(half)), half))
        assert (whole.outcome, whole.valid_utf8) == (Outcome.TRUNCATED, False)

    def test_of_a_long_body_the_first_part_the_length_and_the_digest_are_kept(self) -> None:
        parts = [delta(f"é{n}") for n in range(500)]
        sent = b"".join([*parts, DONE])
        attempt = ask(says(head(), *parts, DONE), limits=Limits(kept=1000))
        assert attempt.outcome is Outcome.COMPLETED
        assert (attempt.body, attempt.body_bytes) == (sent[:1000], len(sent))
        assert attempt.body_sha256 == hashlib.sha256(sent).hexdigest()
        assert attempt.valid_utf8


def endless(first: bytes, more: bytes) -> Answer:
    """Send for as long as the client reads."""

    async def answer(connection: Connection) -> None:
        await connection.send(first)
        while not connection.writer.is_closing():
            await connection.send(more)

    return answer


BOMB = gzip.compress(bytes(100 * MIB), compresslevel=1)
FLOODS = {
    "a line": (endless(head(), b"a" * 65536), Limits(), "a line of more than 1048576 bytes"),
    "an event": (endless(head(), b"data: " + b"a" * 65536 + b"\n"), Limits(event=MIB), "an event"),
    "events": (endless(head(), FIRST * 1000), Limits(body=MIB), "a body of more than 1048576 bytes"),
    "signs of life": (endless(head(), b": hm\n\n" * 9999), Limits(body=MIB), "a body"),
    "an error page": (endless(head(status="500 No"), b"a" * 65536), Limits(body=MIB), "status 500"),
}


@pytest.mark.parametrize(("answer", "limits", "detail"), FLOODS.values(), ids=FLOODS.keys())
def test_floods_end_at_a_limit_within_bounded_memory(
    answer: Answer, limits: Limits, detail: str
) -> None:
    tracemalloc.start()
    try:
        attempt = ask(answer, limits=limits)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    status = attempt.status != 200
    assert attempt.outcome is (Outcome.HTTP_ERROR if status else Outcome.TOO_LARGE)
    assert detail in attempt.detail
    assert attempt.body_bytes < 3 * MIB
    assert len(attempt.body) <= MIB
    assert peak < 10 * MIB


def test_a_bomb_is_not_unpacked() -> None:
    parts = [BOMB[at : at + 65536] for at in range(0, len(BOMB), 65536)]
    tracemalloc.start()
    try:
        attempt = ask(says(head("Content-Encoding: gzip"), *parts))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert attempt.outcome is Outcome.MALFORMED
    assert "encoded as 'gzip', which was not asked for" in attempt.detail
    assert attempt.body_bytes == len(BOMB)
    assert peak < 10 * MIB


def drips(first: bytes, drop: bytes) -> Answer:
    """Send a little again and again: each read is quick, the whole never ends."""

    async def answer(connection: Connection) -> None:
        await connection.send(first)
        while not connection.writer.is_closing():
            await connection.send(drop)
            await asyncio.sleep(0.005)

    return answer


@pytest.mark.parametrize(
    "answer",
    [
        drips(head(), b"d"),
        drips(head() + FIRST, b": still here\n\n"),
        drips(b"HTTP/1.1 200 OK\r\n", b"A: b\r\n"),
        drips(head(CHUNKED), chunk(FIRST)),
        stays(),
        stays(head()),
        stays(head(CHUNKED), chunk(FIRST)),
    ],
    ids=["bytes", "comments", "headers", "events", "nothing", "only a head", "one event"],
)
def test_only_the_deadline_ends_what_never_does(answer: Answer) -> None:
    limits = Limits(headers=1 << 20)
    attempt = ask(answer, deadline=SHORT, limits=limits)
    assert attempt.outcome is Outcome.TIMEOUT
    assert attempt.detail == "no end within 0.2 s"


@pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")
@pytest.mark.parametrize("told", [b"", head(CHUNKED) + chunk(FIRST)], ids=["nothing", "a stream"])
def test_a_server_that_never_reads_holds_nobody_up(told: bytes) -> None:
    body = bytes(16 * MIB)
    read: list[int] = []

    async def go() -> None:
        left = asyncio.Event()

        async def deaf(connection: Connection) -> None:
            await connection.send(told)
            await left.wait()
            read.append(await connection.gone())

        async with asyncio.timeout(PATIENCE), serving(deaf, unread=True) as server:
            async with Client() as client:
                request = Request(url=server.url, body=body, deadline=SHORT)
                assert (await client.send(request)).outcome is Outcome.TIMEOUT
            left.set()
            await server.left.wait()

    asyncio.run(go())
    if told:  # once there is an answer, leaving does not wait until the rest has been sent
        assert read[0] < len(body)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/", "http://no-such-host.invalid/"])
def test_where_nobody_listens(url: str) -> None:
    async def go() -> Attempt:
        async with Client() as client:
            return (await client.send(Request(url=url, body=b"{}", deadline=DEADLINE))).last

    attempt = asyncio.run(go())
    assert (attempt.outcome, attempt.status, attempt.answer) == (Outcome.REFUSED, None, None)
    assert attempt.stamps.headers is None
