"""The decode server: takes the pages of a room, and continues its prompt token by token.

python -m workbench.local_engine.entrypoints.decode_server ...

POST /internal/rooms/ROOM    a room's pages as one octet stream, from the prefill server
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from .. import lifecycle
from ..managers.decode import DecodeScheduler
from .common import EngineServer, build, start
from .errors import ApiError


def rooms(receive: Callable[[int, bytes | bytearray], None]) -> Route:
    """Give the route that takes rooms in."""

    async def take(request: Request) -> Response:
        room: int = request.path_params["room"]
        payload = bytearray()  # rooms are megabytes: no list of pieces beside the whole
        async for piece in request.stream():
            payload += piece
        try:
            receive(room, payload)
        except ValueError as error:
            raise ApiError(f"room {room} cannot be read: {error}") from None
        return Response(status_code=204)

    return Route("/internal/rooms/{room:int}", take, methods=["POST"])


def main(argv: Sequence[str] | None = None) -> None:
    """Run the server."""
    args, env, listener = start(argv, "decode")
    scheduler = build(lambda: DecodeScheduler(args, env))
    app = EngineServer(scheduler, args, env).app([rooms(scheduler.receive)])
    lifecycle.serve(app, listener)


if __name__ == "__main__":
    main()
