"""A server over raw sockets that answers with exactly the bytes that a test gives it.

async with serving(answers(head(), event("a"))) as server:
    await client.send(Request(url=server.url, ...))
server.requests, server.connections, server.closed
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

PATIENCE = 30.0  # seconds until a test that waits for an event gives up
STREAM = "text/event-stream"


@dataclass
class Connection:
    """One connection, as the server has it."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    def reset(self) -> None:
        """Break the connection: the peer gets an RST."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def gone(self) -> int:
        """Wait until the client has left; give how many bytes came before."""
        count = 0
        try:
            while data := await self.reader.read(65536):
                count += len(data)
        except OSError:
            pass
        return count


Answer = Callable[[Connection], Awaitable[None]]


@dataclass
class Server:
    """What a test sees of it: heads and bodies of requests, connections, and who has left."""

    url: str = ""
    connections: int = 0
    requests: list[tuple[str, bytes]] = field(default_factory=list)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)


async def request_of(connection: Connection) -> tuple[str, bytes] | None:
    """Read one request; None when the client has left."""
    try:
        head = (await connection.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except (asyncio.IncompleteReadError, OSError):
        return None
    lengths = [line for line in head.lower().split("\r\n") if line.startswith("content-length:")]
    size = int(lengths[0].split(":")[1]) if lengths else 0
    return head, await connection.reader.readexactly(size)


@asynccontextmanager
async def serving(*answers: Answer, unread: bool = False) -> AsyncIterator[Server]:
    """Serve each request with the next answer, the last one again and again, until it closes.

    Args:
        answers: Each writes what it likes; a connection is read on afterwards unless it was closed.
        unread: Answer at once, and never read a request.
    """
    server = Server()
    tasks: list[asyncio.Task[None]] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.connections += 1
        connection = Connection(reader, writer)
        try:
            while request := ("", b"") if unread else await request_of(connection):
                server.requests.append(request)
                server.arrived.set()
                await answers[min(len(server.requests), len(answers)) - 1](connection)
                if unread or writer.is_closing():
                    break
        except OSError:
            pass
        finally:
            server.left.set()
            writer.close()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.append(asyncio.create_task(serve(reader, writer)))

    listening = await asyncio.start_server(connected, "127.0.0.1", 0, limit=1 << 16)
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1/chat/completions"
    try:
        yield server
    finally:
        listening.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def head(*headers: str, status: str = "200 OK", kind: str = STREAM, length: int | None = None) -> bytes:
    """Write the head of an answer; without a length the connection's end is the body's."""
    lines = [f"HTTP/1.1 {status}", *([f"Content-Type: {kind}"] if kind else []), *headers]
    lines += [f"Content-Length: {length}"] if length is not None else []
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


CHUNKED = "Transfer-Encoding: chunked"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def delta(content: str = "", finish: str | None = None, **more: object) -> bytes:
    """Write an event of a chat completion."""
    choice = {"index": 0, "delta": {"content": content}, "finish_reason": finish}
    body = {"id": "c1", "model": "m", "choices": [choice], **more}
    return b"data: " + json.dumps(body, ensure_ascii=False).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"


def says(*parts: bytes, close: bool = True, broken: bool = False) -> Answer:
    """Answer with bytes; then close, or break, or do nothing."""

    async def answer(connection: Connection) -> None:
        for part in parts:
            await connection.send(part)
        if broken:
            connection.reset()
        elif close:
            connection.writer.close()

    return answer


def stays(*parts: bytes) -> Answer:
    """Answer with bytes and wait until the client leaves."""

    async def answer(connection: Connection) -> None:
        for part in parts:
            await connection.send(part)
        await connection.gone()
        connection.writer.close()

    return answer
