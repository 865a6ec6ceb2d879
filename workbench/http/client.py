"""The client: one request at a time, as many at a time as the caller starts.

    async with Client(api_key_env="ENGINE_KEY") as client:
        reply = await client.send(Request(url=url, body={"stream": True, ...}))
        reply.outcome, reply.answer, reply.last.stamps

It is httpx's requests over aiohttp's transport, without the client between them. Nothing of the
environment is used but the key that is named: no proxy, no netrc, no certificates. There are no
redirects, no cookies, no compression, and no retries but those asked for. There is no queue either: a
request that is started is sent, for a wait in here would look like one of the engine. A connection that
was idle for long is not used again, because the server may be closing it at that moment.
"""

from __future__ import annotations

import asyncio
import json
import os
import ssl
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import lru_cache, partial
from types import TracebackType
from typing import Any, Self

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

from workbench._version import __version__
from workbench.errors import UsageError
from workbench.http.exchanging import attempt
from workbench.http.reply import Attempt, Limits, Reply, Request
from workbench.http.retrying import Retry
from workbench.http.wire import Connector, once

KEEP_ALIVE = 2.0  # seconds; the servers of the common engines close after 5
_url = lru_cache(maxsize=64)(httpx.URL)  # reading one costs as much as three events


class Client:
    """Sends requests; belongs to the event loop in which it sends the first.

    Args:
        api_key_env: Name of the environment variable that holds the key; empty for no key.
        headers: Sent with every request.
        limits: What a server may send.
        keep_alive: Seconds for which an idle connection may be used again; 0 for one a request.
        tls: For https; None for the usual checks against the public authorities.
        now: The time, UTC; for a server that states until when to wait.

    Raises:
        UsageError: The variable is not set, or holds what cannot be sent.
    """

    def __init__(
        self,
        *,
        api_key_env: str = "",
        headers: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        keep_alive: float = KEEP_ALIVE,
        tls: ssl.SSLContext | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._limits = limits or Limits()
        self._keep_alive = keep_alive
        self._now = now
        self._tls = tls
        self._headers = httpx.Headers({"Content-Type": "application/json"})
        self._headers["User-Agent"] = f"bisection-workbench/{__version__}"
        for more in (headers or {}, _authorization(api_key_env)):
            _sendable(more)
            self._headers.update(dict(more))
        self._headers["Accept-Encoding"] = "identity"
        self._transports: dict[str, httpx.AsyncBaseTransport] = {}

    async def send(self, request: Request, *, retry: Retry | None = None) -> Reply:
        """Send a request, and again only as `retry` says; cancelling ends its connection at once.

        Returns:
            All attempts. What the server or the network does is in there, and never raised.

        Raises:
            UsageError: The request cannot be sent as it is.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + request.deadline
        prepared = self._prepared(request)
        transport = self._transport(prepared.url.scheme)
        attempts: list[Attempt] = []
        waited = 0.0
        while True:
            attempts.append(
                await attempt(
                    transport,
                    request,
                    prepared,
                    limits=self._limits,
                    deadline=deadline,
                    waited=waited,
                )
            )
            pause = retry.pause(attempts[-1], len(attempts), self._now()) if retry else None
            if pause is None or loop.time() + pause >= deadline:
                return Reply(attempts=tuple(attempts))
            await asyncio.sleep(pause)
            waited = pause

    async def aclose(self) -> None:
        """Close all connections."""
        for transport in self._transports.values():
            await transport.aclose()
        self._transports.clear()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    def _prepared(self, request: Request) -> httpx.Request:
        _sendable(request.headers)
        headers = self._headers
        if request.headers:
            headers = headers.copy()
            headers.update(dict(request.headers))
            headers["Accept-Encoding"] = "identity"  # whatever its case was: these have none
        try:
            content = _encoded(request.body)
            return httpx.Request(request.method, _url(request.url), headers=headers, content=content)
        except (httpx.InvalidURL, ValueError, TypeError, RecursionError) as error:
            raise UsageError(f"the request cannot be sent: {error}") from error

    def _transport(self, scheme: str) -> httpx.AsyncBaseTransport:
        """Give what sends to URLs of a scheme; certificates are read only for one that needs them."""
        if scheme not in self._transports:
            tls = (self._tls or _authorities()) if scheme == "https" else False
            session = partial(self._session, tls)
            self._transports[scheme] = AiohttpTransport(verify=tls, trust_env=False, client=session)
        return self._transports[scheme]

    def _session(self, tls: ssl.SSLContext | bool) -> aiohttp.ClientSession:
        """Open aiohttp's session as httpx would not: no limit, no cookies, own limits of headers."""
        connector = Connector(
            limit=0,
            ssl=tls,
            keepalive_timeout=self._keep_alive or None,
            force_close=not self._keep_alive,
        )
        return aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            timeout=aiohttp.ClientTimeout(total=None),  # one deadline for the whole, see `exchanging`
            max_line_size=self._limits.header,
            max_field_size=self._limits.header,
            max_headers=self._limits.headers,
            middlewares=(once,),
        )


@lru_cache(maxsize=1)
def _authorities() -> ssl.SSLContext:
    """Read the public authorities once: that takes longer than a request."""
    return httpx.create_ssl_context(trust_env=False)


def _authorization(name: str) -> dict[str, str]:
    if not name:
        return {}
    key = os.environ.get(name, "")
    if not key:
        raise UsageError(f"environment variable {name} is not set", hint="it has to hold the API key")
    if not (key.isascii() and key.isprintable()):
        hint = "a line end at its end is the usual reason"
        raise UsageError(f"environment variable {name} holds what no header can carry", hint=hint)
    return {"Authorization": f"Bearer {key}"}


def _sendable(headers: Mapping[str, str]) -> None:
    for name, value in headers.items():
        if not (name and f"{name}{value}".isascii() and f"{name}{value}".isprintable()):
            raise UsageError(f"header {name!r} cannot be sent", hint="only printable ASCII can")
        if name.lower() in ("content-length", "transfer-encoding"):
            raise UsageError(f"header {name!r} cannot be sent", hint="the client frames the body")


def _encoded(body: Mapping[str, Any] | bytes) -> bytes:
    if isinstance(body, bytes):
        return body
    # not a number of JSON, or half a character, is refused, and not turned into something else
    return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
