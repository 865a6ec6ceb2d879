"""A small HTTP client that drives sessions with known answers against a server, and counts.

Sessions and requests in flight are two numbers: `in_flight` workers take whole sessions one after the
other, and a session's turns follow each other. With `round_robin`, a session stands at the end of the
queue after each turn: with fewer in flight than sessions, its pages have left the device when it is its
turn again. A connection a request, nothing retried.

    tally = await drive("http://127.0.0.1:30000", sessions, in_flight=60)
    tally.wrong, tally.responses, tally.sessions_wrong, tally.wrong_by_turn
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from workbench.workloads import records
from workbench.workloads.records import Judgement, Reply, Session, Word

DEADLINE = 60.0
_MODEL = "default"


class HttpError(Exception):
    """The server answered with a status that is no success, or broke off."""

    def __init__(self, status: int, body: str) -> None:
        super().__init__(f"HTTP {status}: {body[:500]}")
        self.status = status
        self.body = body


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What came of one turn.

    Attributes:
        session: Number of the session.
        turn: Turn, from 0.
        judgement: What the reply turned out to be; None if there was none.
        error: Why there was none.
        reply: The reply.
        usage: Token counts, as the server gave them.
    """

    session: int
    turn: int
    judgement: Judgement | None = None
    error: str = ""
    reply: Reply = field(default_factory=Reply)
    usage: Mapping[str, Any] = field(default_factory=dict)

    @property
    def wrong(self) -> bool:
        """Whether there was a reply, and not the right one."""
        return self.judgement is not None and self.judgement.word is not Word.OK


@dataclass(frozen=True, slots=True)
class Tally:
    """All answers of a drive, in the order of sessions and turns."""

    answers: tuple[Answer, ...]

    @property
    def responses(self) -> int:
        """Turns that were answered at all."""
        return sum(answer.judgement is not None for answer in self.answers)

    @property
    def wrong(self) -> int:
        """Answers that are not the right one."""
        return sum(answer.wrong for answer in self.answers)

    @property
    def errors(self) -> tuple[str, ...]:
        """What went wrong with turns that got no answer."""
        return tuple(answer.error for answer in self.answers if answer.error)

    @property
    def sessions_wrong(self) -> int:
        """Sessions with a wrong answer in any turn."""
        return len({answer.session for answer in self.answers if answer.wrong})

    @property
    def wrong_by_turn(self) -> tuple[int, ...]:
        """Wrong answers of the first turn, the second, and so on."""
        turns = 1 + max((answer.turn for answer in self.answers), default=-1)
        wrong = [answer.turn for answer in self.answers if answer.wrong]
        return tuple(wrong.count(turn) for turn in range(turns))

    def words(self, word: Word) -> int:
        """Count the answers of one kind."""
        return sum(a.judgement is not None and a.judgement.word is word for a in self.answers)

    def __str__(self) -> str:
        return (
            f"{self.wrong} of {self.responses} wrong, by turn {self.wrong_by_turn}, in "
            f"{self.sessions_wrong} sessions; {len(self.errors)} errors"
        )


async def drive(
    url: str,
    sessions: Sequence[Session],
    *,
    in_flight: int,
    round_robin: bool = False,
    stream: bool = False,
    deadline: float = DEADLINE,
) -> Tally:
    """Drive all turns of sessions.

    Args:
        url: Base URL of the server.
        sessions: Begun in this order.
        in_flight: Requests that are under way at a time.
        round_robin: Give each session one turn before any gets its next.
        stream: Ask for server-sent events.
        deadline: Seconds for one request; a turn that takes longer is an error.
    """
    waiting = deque((session, 0) for session in sessions)
    put_back = waiting.append if round_robin else waiting.appendleft
    answers: list[Answer] = []

    async def worker() -> None:
        while waiting:
            session, turn = waiting.popleft()
            answers.append(await ask(url, session, turn, stream=stream, deadline=deadline))
            if turn + 1 < len(session.turns):
                put_back((session, turn + 1))

    async with asyncio.TaskGroup() as group:
        for _ in range(min(in_flight, len(sessions))):
            group.create_task(worker())
    return Tally(tuple(sorted(answers, key=lambda answer: (answer.session, answer.turn))))


async def ask(
    url: str, session: Session, turn: int, *, stream: bool = False, deadline: float = DEADLINE
) -> Answer:
    """Send one turn and judge its reply; never raises for what the server does."""
    body = {
        "model": _MODEL,
        "messages": records.messages(session, turn),
        "tools": records.tools(session.vocabulary),
        "stream": stream,
        "max_tokens": 64,
        "temperature": 0,
    }
    try:
        async with asyncio.timeout(deadline):
            message, usage = await (_streamed if stream else _whole)(url, body)
    except (HttpError, OSError, EOFError, ValueError, LookupError) as error:
        what = f"{type(error).__name__}: {error}"
        return Answer(session=session.number, turn=turn, error=what)
    reply = Reply.of_message(message)
    judgement = records.judge(session, turn, reply)
    return Answer(session=session.number, turn=turn, judgement=judgement, reply=reply, usage=usage)


_Message = tuple[dict[str, Any], dict[str, Any]]


async def _whole(url: str, body: Mapping[str, Any]) -> _Message:
    answer = json.loads(await request(url, "POST", "/v1/chat/completions", body))
    return answer["choices"][0]["message"], answer.get("usage") or {}


async def _streamed(url: str, body: Mapping[str, Any]) -> _Message:
    """Put a message together from its deltas, as the API defines them."""
    content, done = "", False
    usage: dict[str, Any] = {}
    calls: dict[int, dict[str, str]] = {}
    async for event in events(url, "/v1/chat/completions", body):
        done = event == "[DONE]"
        if done:
            break
        chunk = json.loads(event)
        if "error" in chunk:
            raise HttpError(200, json.dumps(chunk["error"]))
        usage = chunk.get("usage") or usage
        for choice in chunk["choices"]:
            delta = choice.get("delta") or {}
            content += delta.get("content") or ""
            for part in delta.get("tool_calls") or ():
                call = calls.setdefault(part.get("index", 0), {"name": "", "arguments": ""})
                for name, text in (part.get("function") or {}).items():
                    call[name] += text or ""
    if not done:
        raise HttpError(200, "the stream broke off")
    made = [{"function": call} for _, call in sorted(calls.items())]
    return {"content": content, "tool_calls": made}, usage


async def request(
    url: str, method: str, path: str, body: Mapping[str, Any] | bytes | None = None
) -> str:
    """Send one request and give the body of its answer.

    Raises:
        HttpError: The status is not 2xx.
        OSError: There is no connection.
    """
    async with _exchange(url, method, path, body) as (status, blocks):
        text = b"".join([block async for block in blocks]).decode(errors="replace")
    if not 200 <= status < 300:
        raise HttpError(status, text)
    return text


async def server_info(url: str) -> dict[str, Any]:
    """Ask a server what is running."""
    info: dict[str, Any] = json.loads(await request(url, "GET", "/server_info"))
    return info


async def events(url: str, path: str, body: Mapping[str, Any]) -> AsyncIterator[str]:
    """Send one request and give the data of each server-sent event, as it comes.

    Raises:
        HttpError: The status is not 2xx.
    """
    async with _exchange(url, "POST", path, body) as (status, blocks):
        waiting = b""
        async for block in blocks:
            if not 200 <= status < 300:
                raise HttpError(status, block.decode(errors="replace"))
            *whole, waiting = (waiting + block.replace(b"\r\n", b"\n")).split(b"\n\n")
            for event in whole:
                for data in _data(event):
                    yield data


def _data(event: bytes) -> Iterator[str]:
    for line in event.split(b"\n"):
        if line.startswith(b"data:"):
            yield line[len(b"data:") :].strip().decode()


@asynccontextmanager
async def _exchange(
    url: str, method: str, path: str, body: Mapping[str, Any] | bytes | None
) -> AsyncIterator[tuple[int, AsyncIterator[bytes]]]:
    """Send a request; give the status and the blocks of the body. Leaving closes the connection."""
    place = urlsplit(url)
    data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    try:
        head = f"{method} {path} HTTP/1.1\r\nHost: {place.netloc}\r\nConnection: close\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
        writer.write(head.encode() + data)
        await writer.drain()
        status, headers = await _head(reader)
        yield status, _blocks(reader, headers)
    finally:
        writer.close()


async def _head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    pairs = (line.split(":", 1) for line in lines if ":" in line)
    return int(first.split()[1]), {name.lower(): value.strip() for name, value in pairs}


async def _blocks(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> AsyncIterator[bytes]:
    """Read a body as it comes, whichever way its length is told."""
    if headers.get("transfer-encoding", "").lower() == "chunked":
        while size := int((await reader.readline()).split(b";")[0], 16):
            yield await reader.readexactly(size)
            await reader.readexactly(2)
    elif "content-length" in headers:
        yield await reader.readexactly(int(headers["content-length"]))
    else:
        while block := await reader.read(65536):
            yield block
