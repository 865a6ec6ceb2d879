"""What aiohttp knows of an attempt under way and httpx has no words for.

A connector of our own and a middleware tell it in the task that sends, so the attempt is found by its
context: whether the connection had served before, and the answer beneath httpx's own. Through that an
attempt reads its body, ends its connection at once, and is not left waiting for one that is gone.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import Any
from weakref import WeakSet

import aiohttp
from aiohttp.connector import Connection

from workbench.http.incoming import Incoming


class Wire:
    """One attempt, as aiohttp sees it.

    Attributes:
        reused: Whether the connection had served before.
    """

    def __init__(self) -> None:
        self.reused = False
        self._response: aiohttp.ClientResponse | None = None
        self._incoming: Incoming | None = None

    @property
    def status(self) -> int | None:
        """The status, also where httpx gave up on the head: on a `Location` that is no URL."""
        return self._response.status if self._response else None

    def answered(self, response: aiohttp.ClientResponse) -> None:
        """Take the answer, whose head is there, and watch its connection."""
        self._response = response
        protocol = response.connection.protocol if response.connection is not None else None
        closed = protocol.closed if protocol is not None else None  # `not None`: it has a length
        self._incoming = Incoming(response.content, closed)

    @property
    def incoming(self) -> Incoming:
        """The body of the answer, once its head is there."""
        assert self._incoming is not None
        return self._incoming

    def done(self) -> None:
        """Watch no longer; the connection may serve others."""
        if self._incoming is not None:
            self._incoming.leave()

    def abort(self) -> None:
        """End the connection now, without waiting for what has not been sent or read."""
        connection = self._response.connection if self._response else None
        if self._response is not None and connection is not None and connection.transport is not None:
            connection.transport.abort()
            self._response.close()


WIRE: ContextVar[Wire] = ContextVar("wire")


class Connector(aiohttp.TCPConnector):
    """Tells an attempt whether the connection that it gets had served before."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._served: WeakSet[asyncio.Protocol] = WeakSet()

    async def connect(self, *what: Any, **how: Any) -> Connection:
        """Give a connection, an idle one or a new one."""
        connection = await super().connect(*what, **how)
        protocol = connection.protocol
        if protocol is not None:
            WIRE.get().reused = protocol in self._served
            self._served.add(protocol)
        return connection


async def once(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """Let aiohttp send a request once: it repeats a GET whose connection broke, and tells nobody."""
    try:
        response = await handler(request)
    except aiohttp.ClientConnectorError:
        raise
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        raise aiohttp.ClientError("the connection broke") from error  # a class that is not repeated
    WIRE.get().answered(response)
    response.reason = ""  # nobody reads it, and httpx breaks on one that it cannot encode
    return response
