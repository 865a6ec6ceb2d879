"""The router: one address for clients, in front of a prefill and a decode server.

    python -m workbench.local_engine.entrypoints.router --prefill URL --decode URL ...

Each request to generate gets a `bootstrap_room` of 63 random bits, is opened at the decode server first
and at the prefill server then; the reply is the decode server's, byte by byte. If the prefill server
refuses or fails, the other half is let go, and the client hears why. A client that leaves takes both
halves with it: their connections are closed, which aborts them.

`/health` is good if both servers' are, `/health_generate` if a token comes out of the two;
`/server_info` and `/metrics` show both; `/flush_cache` and `/abort_request` go to both.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import uuid
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import AsyncExitStack
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from .. import lifecycle, metrics, provenance
from ..logs import configure_logging, logger
from ..server_args import new_parser
from ..tokenizer import BOS
from .bodies import read_json
from .client import PeerError, Reply, fetch
from .client import request as open_request
from .connection import CLIENT_LEFT, ClientLeft, while_connected
from .errors import HANDLERS, ApiError

_Result = TypeVar("_Result")


class Router:
    """The router's routes.

    Args:
        prefill: URL of the prefill server.
        decode: URL of the decode server.
    """

    def __init__(self, prefill: str, decode: str) -> None:
        self._servers = {"prefill": prefill, "decode": decode}
        self._provenance = provenance.read()
        self._in_flight = 0
        self._peak_in_flight = 0

    def app(self) -> Starlette:
        """Give the ASGI app."""
        routes = [
            Route("/health", self.health),
            Route("/health_generate", self.health_generate),
            Route("/server_info", self.server_info),
            Route("/get_server_info", self.server_info),
            Route("/metrics", self.metrics),
            Route("/flush_cache", self.flush_cache, methods=["GET", "POST"]),
            Route("/abort_request", self.abort_request, methods=["POST"]),
            Route("/v1/models", self.models),
            Route("/generate", self.generate, methods=["POST"]),
            Route("/v1/chat/completions", self.generate, methods=["POST"]),
        ]
        return Starlette(routes=routes, exception_handlers=HANDLERS)

    async def health(self, _: Request) -> Response:
        """Tell whether both servers are well."""
        replies = await self._both("GET", "/health")
        sick = {name: status for name, (status, _) in replies.items() if status != 200}
        if sick:
            raise ApiError(f"unhealthy: {sick}", status=503)
        return Response(status_code=200)

    async def health_generate(self, request: Request) -> Response:
        """Push one token through both servers."""
        await request.body()
        body = {"input_ids": [BOS], "sampling_params": {"max_new_tokens": 1}}
        reply = await self._run(request, "/generate", body)
        if reply.status_code != 200:
            raise ApiError("unhealthy: the servers generated nothing", status=503)
        return Response(status_code=200)

    async def server_info(self, _: Request) -> Response:
        """Give what both servers tell, and what runs here."""
        replies = await self._both("GET", "/server_info")
        servers = {name: _json(name, reply) for name, reply in replies.items()}
        return JSONResponse({"servers": self._servers, **self._provenance.json(), **servers})

    async def metrics(self, _: Request) -> Response:
        """Give the metrics of all three processes."""
        replies = await self._both("GET", "/metrics")
        texts = [body.decode() for status, body in replies.values() if status == 200]
        own = metrics.render({"peak_in_flight": self._peak_in_flight}, {"engine_type": "router"})
        return Response(metrics.merge([*texts, own]), media_type=metrics.CONTENT_TYPE)

    async def flush_cache(self, _: Request) -> Response:
        """Empty the caches of both servers; 400 if one of them is busy."""
        replies = await self._both("POST", "/flush_cache")
        busy = [name for name, (status, _) in replies.items() if status != 200]
        if busy:
            raise ApiError(f"the cache is not flushed: {' and '.join(busy)} busy")
        return PlainTextResponse("Cache flushed.\n")

    async def abort_request(self, request: Request) -> Response:
        """Abort both halves of a request."""
        body = json.dumps(await read_json(request)).encode()
        replies = await self._both("POST", "/abort_request", body)
        for status, content in replies.values():
            if status != 200:
                return Response(content, status, media_type="application/json")
        aborted = any(_json(name, reply)["aborted"] for name, reply in replies.items())
        return JSONResponse({"aborted": aborted})

    async def models(self, _: Request) -> Response:
        """Name the one model."""
        status, content = await _reached(fetch("GET", self._servers["decode"] + "/v1/models"))
        return Response(content, status, media_type="application/json")

    async def generate(self, request: Request) -> Response:
        """Run both halves of a request, and pass the decode server's reply on."""
        return await self._run(request, request.url.path, await read_json(request))

    async def _run(self, request: Request, path: str, body: dict[str, Any]) -> Response:
        # kept if the client gave them: a test may want two requests to meet in one room
        if body.get("bootstrap_room") is None:
            body["bootstrap_room"] = secrets.randbits(63)
        if body.get("rid") is None:
            body["rid"] = uuid.uuid4().hex
        self._in_flight += 1
        self._peak_in_flight = max(self._peak_in_flight, self._in_flight)
        stack = AsyncExitStack()
        stack.callback(self._leave)
        try:
            pair = self._join(stack, path, body)
            del body  # prompts are large and replies take long: nobody holds what has been sent
            reply = await while_connected(request, pair)
        except ClientLeft:
            await stack.aclose()
            return CLIENT_LEFT
        except BaseException:
            await stack.aclose()
            raise
        kind = reply.headers.get("content-type")
        if not (kind or "").startswith("text/event-stream"):
            async with stack:
                return Response(await _reached(reply.read()), reply.status, media_type=kind)
        return StreamingResponse(_passed_on(reply, stack), reply.status, media_type=kind)

    def _leave(self) -> None:
        self._in_flight -= 1

    async def _join(self, stack: AsyncExitStack, path: str, body: dict[str, Any]) -> Reply:
        """Open both halves; give the reply of decode once it begins, or the error of prefill."""
        opened = asyncio.Event()
        decode = asyncio.create_task(self._half(stack, "decode", path, body, opened))
        stack.push_async_callback(_cancelled, decode)
        await opened.wait()
        # its reply is not passed on: it only tells how the half ended, so it need not stream
        half = self._half(stack, "prefill", path, {**body, "stream": False}, asyncio.Event())
        prefill = asyncio.create_task(half)
        del body, half
        stack.push_async_callback(_cancelled, prefill)
        try:
            await asyncio.wait({decode, prefill}, return_when=asyncio.FIRST_COMPLETED)
            if not decode.done() and prefill.result().status != 200:
                return prefill.result()
            return await decode
        except PeerError as error:
            raise ApiError(str(error), status=502) from None

    async def _half(
        self,
        stack: AsyncExitStack,
        name: str,
        path: str,
        body: dict[str, Any],
        opened: asyncio.Event,
    ) -> Reply:
        url = self._servers[name] + path
        half = open_request("POST", url, json.dumps(body).encode(), sent=opened)
        del body
        try:
            return await stack.enter_async_context(half)
        finally:
            opened.set()

    async def _both(self, method: str, path: str, body: bytes = b"") -> dict[str, tuple[int, bytes]]:
        calls = [fetch(method, url + path, body) for url in self._servers.values()]
        replies = await _reached(asyncio.gather(*calls))
        return dict(zip(self._servers, replies, strict=True))


async def _passed_on(reply: Reply, stack: AsyncExitStack) -> AsyncIterator[bytes]:
    async with stack:
        try:
            async for piece in reply.pieces():
                yield piece
        except PeerError as error:
            logger.error("decode server lost in mid-stream: %s", error)
            event = json.dumps(ApiError(str(error), status=502).body)
            yield f"data: {event}\n\ndata: [DONE]\n\n".encode()


async def _cancelled(task: asyncio.Task[Any]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def _reached(work: Awaitable[_Result]) -> _Result:
    try:
        return await work
    except PeerError as error:
        raise ApiError(str(error), status=502) from None


def _json(name: str, reply: tuple[int, bytes]) -> dict[str, Any]:
    status, body = reply
    if status != 200:
        raise ApiError(f"the {name} server replied {status}", status=502)
    value: dict[str, Any] = json.loads(body)
    return value


def main(argv: Sequence[str] | None = None) -> None:
    """Run the router."""
    parser = new_parser("router", "The router of the local engine.")
    parser.add_argument("--host", default="127.0.0.1", help="Address to listen on.")
    parser.add_argument("--port", type=int, default=30000, help="Port to listen on; 0 picks one.")
    parser.add_argument("--prefill", required=True, metavar="URL", help="The prefill server.")
    parser.add_argument("--decode", required=True, metavar="URL", help="The decode server.")
    parser.add_argument("--log-level", default="info", help="Least level to log.")
    lifecycle.add_child_flags(parser)
    parsed = parser.parse_args(argv)
    lifecycle.die_with_parent(parsed.parent_fd)
    configure_logging("router", parsed.log_level)
    listener = lifecycle.socket_of(parsed, "router")
    logger.info("routing to prefill=%s decode=%s", parsed.prefill, parsed.decode)
    lifecycle.serve(Router(parsed.prefill, parsed.decode).app(), listener)


if __name__ == "__main__":
    main()
