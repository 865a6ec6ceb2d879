"""What the prefill, the decode and the one-process server have in common: their routes and their start.

GET      /health /v1/models /metrics           is it up, what does it serve, what has it counted
GET      /health_generate                      pushes one token through the scheduler
GET      /server_info /get_server_info         everything that is resolved, and the code that runs
GET POST /flush_cache                          400 while anything is under way
POST     /abort_request                        {"rid": ...} or {"abort_all": true}
POST     /generate /v1/chat/completions
"""

from __future__ import annotations

import asyncio
import dataclasses
import os
import socket
import sys
import time
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import TypeVar

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from .. import environ, lifecycle, metrics, provenance
from ..environ import Environment
from ..logs import configure_logging, logger
from ..managers.interface import GenerateRequest, Scheduler
from ..managers.tokenizer_manager import TokenizerManager
from ..server_args import ServerArgs, add_flags, new_parser, resolve
from ..tokenizer import BOS, get_tokenizer
from .bodies import optional, read_json
from .connection import CLIENT_LEFT, ClientLeft, while_connected
from .errors import HANDLERS, ApiError
from .serving import Serving

_Scheduler = TypeVar("_Scheduler", bound=Scheduler)
_HEALTH_TIMEOUT = 20.0  # seconds


class EngineServer:
    """The HTTP surface of one scheduler.

    Args:
        scheduler: Not started yet; it runs while the app does.
        args: The server's flags.
        env: Its environment.
    """

    def __init__(self, scheduler: Scheduler, args: ServerArgs, env: Environment) -> None:
        self._scheduler = scheduler
        self._args = args
        self._env = env
        self._provenance = provenance.read()
        self._manager = TokenizerManager(scheduler, get_tokenizer(), args)

    def app(self, extra: Sequence[Route] = ()) -> Starlette:
        """Give the ASGI app, with some more routes."""
        serving = Serving(self._manager, self._args)
        routes = [
            Route("/health", self.health),
            Route("/health_generate", self.health_generate),
            Route("/server_info", self.server_info),
            Route("/get_server_info", self.server_info),
            Route("/flush_cache", self.flush_cache, methods=["GET", "POST"]),
            Route("/abort_request", self.abort_request, methods=["POST"]),
            Route("/v1/models", self.models),
            Route("/generate", serving.generate, methods=["POST"]),
            Route("/v1/chat/completions", serving.chat, methods=["POST"]),
        ]
        if self._args.enable_metrics:
            routes.append(Route("/metrics", self.metrics))
        return Starlette(routes=[*routes, *extra], exception_handlers=HANDLERS, lifespan=self._lifespan)

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        self._scheduler.start()
        logger.info("The server is fired up and ready to roll!")
        try:
            yield
        finally:
            await asyncio.to_thread(self._scheduler.stop)

    async def health(self, _: Request) -> Response:
        """Tell that the HTTP loop answers."""
        return Response(status_code=200)

    async def health_generate(self, request: Request) -> Response:
        """Push one token through the scheduler; 503 if it does not come back."""
        await request.body()
        try:
            async with asyncio.timeout(_HEALTH_TIMEOUT):
                why = await while_connected(request, self._probe())
        except TimeoutError:
            why = f"nothing came back within {_HEALTH_TIMEOUT:g} s"
        except ClientLeft:
            return CLIENT_LEFT
        if why:
            raise ApiError(f"unhealthy: {why}", status=503)
        return Response(status_code=200)

    async def _probe(self) -> str:
        """Give what is wrong with the scheduler, or nothing."""
        rid = f"HEALTH_CHECK_{uuid.uuid4().hex}"
        if self._args.disaggregation_mode == "decode":  # alone it can generate nothing, but answer
            await asyncio.to_thread(self._scheduler.abort, rid)
            return ""
        probe = GenerateRequest(rid=rid, input_ids=(BOS,), max_new_tokens=1)
        pieces = self._manager.generate(probe, skip_special_tokens=True)
        async with aclosing(pieces) as closing:
            async for piece in closing:
                if piece.finish_reason:
                    return piece.error
        return "no reply"

    async def server_info(self, _: Request) -> Response:
        """Give flags, environment, code, process and the scheduler's facts."""
        return JSONResponse(
            {
                **dataclasses.asdict(self._args),
                "env": self._env.values(),
                **self._provenance.json(),
                "scheduler_info": self._scheduler.describe(),
                "internal_states": [self._counters()],
            }
        )

    async def flush_cache(self, _: Request) -> Response:
        """Empty the caches, host tier included, unless anything is under way."""
        if not await asyncio.to_thread(self._scheduler.flush_cache):
            raise ApiError("the cache is not flushed: requests are running or queued")
        return PlainTextResponse("Cache flushed.\n")

    async def abort_request(self, request: Request) -> Response:
        """End one request or all of them."""
        body = await read_json(request)
        rid = optional(body, "rid", str, "")
        every = optional(body, "abort_all", bool, False)
        if bool(rid) == every:
            raise ApiError("give either rid or abort_all", param="rid")
        return JSONResponse({"aborted": await self._manager.abort("" if every else rid)})

    async def models(self, _: Request) -> Response:
        """Name the one model."""
        model = {
            "id": self._args.served_model_name,
            "object": "model",
            "created": int(self._provenance.started),
            "owned_by": "local_engine",
            "max_model_len": self._args.context_length,
        }
        return JSONResponse({"object": "list", "data": [model]})

    async def metrics(self, _: Request) -> Response:
        """Give counters and gauges in Prometheus' format."""
        labels = {
            "engine_type": self._args.disaggregation_mode,
            "model_name": self._args.served_model_name,
        }
        return Response(metrics.render(self._counters(), labels), media_type=metrics.CONTENT_TYPE)

    def _counters(self) -> dict[str, float]:
        process = {
            "peak_in_flight": self._manager.peak_in_flight,
            "uptime_seconds": round(time.time() - self._provenance.started, 3),
        }
        return {**self._scheduler.counters(), **process}


def start(argv: Sequence[str] | None, mode: str) -> tuple[ServerArgs, Environment, socket.socket]:
    """Begin a server process: flags, environment, log, socket, parent.

    Args:
        argv: Command line without the program; None for that of the process.
        mode: What `--disaggregation-mode` is, if the command line does not say.
    """
    parser = new_parser(f"{mode}_server", f"The {mode} server of the local engine.")
    add_flags(parser)
    lifecycle.add_child_flags(parser)
    parser.set_defaults(disaggregation_mode=mode)
    parsed = parser.parse_args(argv)
    args = resolve(parser, parsed)
    lifecycle.die_with_parent(parsed.parent_fd)
    env = read_environment()
    configure_logging(mode, args.log_level)
    for warning in environ.unknown(os.environ):
        logger.warning(warning)
    lifecycle.end_when_a_thread_fails()
    listener = lifecycle.socket_of(parsed, f"{mode} server")
    args = dataclasses.replace(args, port=listener.getsockname()[1])
    logger.info("server_args=%s", args)
    return args, env, listener


def read_environment() -> Environment:
    """Read the process's environment; a value that does not parse ends the program with exit code 2."""
    try:
        return environ.read(os.environ)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201
        raise SystemExit(2) from None


def build(make: Callable[[], _Scheduler]) -> _Scheduler:
    """Make a scheduler; what its flags or files do not allow ends the program with one line."""
    try:
        return make()
    except (ValueError, OSError) as error:
        lifecycle.fail(str(error))
