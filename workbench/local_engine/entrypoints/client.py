"""A small HTTP/1.1 client on asyncio streams, for the three processes to talk to each other.

One connection a request, closed at its end. Closing it early is how the other side learns that nobody
waits for the reply any more.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

_PIECE = 1 << 16


class PeerError(Exception):
    """The other process cannot be reached, or hung up in the middle of its reply."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """A reply whose head has arrived.

    Attributes:
        status: HTTP status.
        headers: By lower-case name.
        reader: Where the rest comes from.
    """

    status: int
    headers: dict[str, str]
    reader: asyncio.StreamReader

    async def pieces(self) -> AsyncIterator[bytes]:
        """Give the body as it comes.

        Raises:
            PeerError: It ended too early.
        """
        try:
            if self.headers.get("transfer-encoding") == "chunked":
                while size := int(await self.reader.readline(), 16):
                    yield (await self.reader.readexactly(size + 2))[:-2]
                return
            left = int(self.headers.get("content-length", 0))
            while left:
                piece = await self.reader.read(min(left, _PIECE))
                if not piece:
                    raise PeerError("the reply ended too early")
                left -= len(piece)
                yield piece
        except (OSError, EOFError, ValueError) as error:
            raise PeerError(f"the reply ended too early: {error}") from error

    async def read(self) -> bytes:
        """Give the whole body."""
        return b"".join([piece async for piece in self.pieces()])


@asynccontextmanager
async def request(
    method: str, url: str, body: bytes = b"", *, sent: asyncio.Event | None = None
) -> AsyncIterator[Reply]:
    """Send a request, and give its reply once the head is there; the connection ends with the context.

    Args:
        method: HTTP method.
        url: Where to.
        body: JSON, or nothing.
        sent: Set when the request is out.

    Raises:
        PeerError: No connection, or no reply.
    """
    parts = urlsplit(url)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    head = (
        f"{method} {target} HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: close\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    try:
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    except OSError as error:
        raise PeerError(f"cannot reach {parts.netloc}: {error.strerror}") from error
    try:
        try:
            writer.writelines([head.encode(), body])
            await writer.drain()
            del body
            if sent:
                sent.set()
            status, headers = await _head(reader)
        except (OSError, EOFError, ValueError, IndexError) as error:
            raise PeerError(f"{parts.netloc} hung up") from error
        yield Reply(status=status, headers=headers, reader=reader)
    finally:
        writer.close()


async def _head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines[1:] if line)
    return int(lines[0].split()[1]), {name.lower(): value.strip() for name, _, value in pairs}


async def fetch(method: str, url: str, body: bytes = b"") -> tuple[int, bytes]:
    """Send a request; give status and body of its reply.

    Raises:
        PeerError: No whole reply came.
    """
    async with request(method, url, body) as reply:
        return reply.status, await reply.read()
