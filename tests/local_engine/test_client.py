"""The client of these tests, against a server that answers as it is told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from tests.local_engine import client
from workbench.workloads import records
from workbench.workloads.records import Session, Shape, Vocabulary, Word

VOCABULARY = Vocabulary(
    words=tuple(first + second for first in "bdfk" for second in "aeiu"),
    functions=("book", "ship"),
    parameters=("item", "owner", "day"),
)
SESSIONS = [
    records.draw(Shape(turns=3, start=96, grow=48), VOCABULARY, seed=3, session=number)
    for number in range(4)
]

Say = Callable[[str, bool], bytes]


def right(prompt: str) -> dict[str, object]:
    """Do what the copy head does: look the key up and repeat the call that stands there."""
    asked = prompt.rsplit("ask ", 1)[1]
    for session in SESSIONS:
        for turn, what in enumerate(session.turns):
            if what.asked == asked and f"record {asked} " in prompt:
                call = records.right_answer(session, turn)
                arguments = json.dumps(dict(call.arguments))
                return {"content": None, "tool_calls": [_call(call.name, arguments)]}
    raise AssertionError(asked)


def _call(name: str, arguments: str) -> dict[str, object]:
    return {"index": 0, "function": {"name": name, "arguments": arguments}}


def plain(message: dict[str, object]) -> bytes:
    body = json.dumps({"choices": [{"message": message}], "usage": {"prompt_tokens": 7}}).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


def chunked(message: dict[str, object], *, end: bytes = b"data: [DONE]\n\n") -> bytes:
    """Send a message as events whose borders are not those of the chunks."""
    made = message["tool_calls"]
    assert isinstance(made, list)
    name, arguments = made[0]["function"].values()
    deltas: list[dict[str, object]] = [{"role": "assistant"}, {"tool_calls": [_call(name, "")]}]
    deltas += [{"tool_calls": [{"index": 0, "function": {"arguments": c}}]} for c in arguments]
    events = [json.dumps({"choices": [{"delta": delta}]}, ensure_ascii=False) for delta in deltas]
    body = b"".join(b"data: %b\n\n" % event.encode() for event in events) + end
    chunks = [body[at : at + 17] for at in range(0, len(body), 17)]
    sent = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + sent + b"0\r\n\r\n"


@asynccontextmanager
async def server(say: Say) -> AsyncIterator[tuple[str, list[int]]]:
    """Serve; give the URL, and how many requests were in flight whenever one more came."""
    seen: list[int] = []
    now = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal now
        now += 1
        seen.append(now)
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        size = int(head.split("Content-Length: ")[1].split("\r\n")[0])
        body = json.loads(await reader.readexactly(size))
        await asyncio.sleep(0)  # lets the others in
        now -= 1
        writer.write(say(body["messages"][-1]["content"], body["stream"]))
        await writer.drain()
        writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listening:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}", seen


def run(say: Say, *, in_flight: int = 2, stream: bool = False, deadline: float = 10) -> client.Tally:
    async def inner() -> client.Tally:
        async with server(say) as (url, _):
            return await client.drive(
                url, SESSIONS, in_flight=in_flight, stream=stream, deadline=deadline
            )

    return asyncio.run(inner())


@pytest.mark.parametrize("stream", [False, True])
def test_right_answers_are_counted_as_right(stream: bool) -> None:
    def say(prompt: str, streamed: bool) -> bytes:
        return chunked(right(_whole(prompt))) if streamed else plain(right(_whole(prompt)))

    tally = run(say, stream=stream)
    assert (tally.wrong, tally.responses, tally.errors) == (0, 12, ())
    assert tally.words(Word.OK) == 12


def _whole(prompt: str) -> str:
    """Give the prompt with all records there are: the double sees the last message only."""
    every = (record.key for session in SESSIONS for record in session.records(9))
    return "".join(f"record {key} " for key in every) + prompt


def test_wrong_answers_are_counted_by_turn_and_session() -> None:
    questions = {SESSIONS[1].turns[2].asked, SESSIONS[1].turns[1].asked, SESSIONS[3].turns[2].asked}

    def say(prompt: str, _: bool) -> bytes:
        if prompt.rsplit("ask ", 1)[1] in questions:
            return plain({"content": "amber <｜DSML｜invoke kelp"})
        return plain(right(_whole(prompt)))

    tally = run(say)
    assert (tally.wrong, tally.wrong_by_turn, tally.sessions_wrong) == (3, (0, 1, 2), 2)
    assert tally.words(Word.GARBLED) == 3
    assert str(tally) == "3 of 12 wrong, by turn (0, 1, 2), in 2 sessions; 0 errors"


def test_errors_are_neither_right_nor_wrong() -> None:
    tally = run(lambda *_: b"HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\noops")
    assert (tally.wrong, tally.responses, len(tally.errors)) == (0, 0, 12)
    assert tally.errors[0] == "HttpError: HTTP 500: oops"


def test_a_stream_that_breaks_off_is_an_error() -> None:
    tally = run(lambda prompt, _: chunked(right(_whole(prompt)), end=b""), stream=True)
    assert set(tally.errors) == {"HttpError: HTTP 200: the stream broke off"}


@pytest.mark.parametrize("nonsense", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"])
def test_nonsense_is_an_error(nonsense: bytes) -> None:
    assert len(run(lambda *_: nonsense).errors) == 12


@pytest.mark.parametrize("in_flight", [1, 3])
def test_in_flight_is_kept_to(in_flight: int) -> None:
    async def inner() -> int:
        async with server(lambda prompt, _: plain(right(_whole(prompt)))) as (url, seen):
            await client.drive(url, SESSIONS, in_flight=in_flight)
            return max(seen)

    assert asyncio.run(inner()) == in_flight


def test_turns_of_a_session_follow_each_other() -> None:
    order: list[str] = []

    def say(prompt: str, _: bool) -> bytes:
        order.append(prompt.rsplit("ask ", 1)[1])
        return plain(right(_whole(prompt)))

    run(say, in_flight=4)

    def turns(session: Session) -> list[str]:
        asked = [turn.asked for turn in session.turns]
        return [key for key in order if key in asked]

    assert all(turns(session) == [turn.asked for turn in session.turns] for session in SESSIONS)
