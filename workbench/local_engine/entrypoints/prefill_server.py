"""The prefill server: computes prompts, and pushes each room's pages to the decode server.

    python -m workbench.local_engine.entrypoints.prefill_server --disaggregation-decode-url URL ...

Rooms are sent by a few threads, so that the scheduler's is never held up by a socket.
"""

from __future__ import annotations

import http.client
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from .. import lifecycle
from ..logs import logger
from ..managers.prefill import PrefillScheduler
from ..server_args import ServerArgs
from .common import EngineServer, build, start


class RoomSender:
    """Sends rooms to a decode server.

    Args:
        url: The decode server's.
        parallel: Rooms that are sent at the same time.
    """

    def __init__(self, url: str, parallel: int) -> None:
        self._netloc = urlsplit(url).netloc
        self._threads = ThreadPoolExecutor(parallel, thread_name_prefix="room-sender")
        self._own = threading.local()

    def __call__(self, room: int, payload: bytes) -> None:
        """Queue a room."""
        self._threads.submit(self._send, room, payload)

    def _send(self, room: int, payload: bytes) -> None:
        """Send a room over this thread's connection; one that has gone stale is renewed once."""
        for attempt in ("first", "last"):
            connection = self._connection()
            try:
                connection.request("POST", f"/internal/rooms/{room}", payload)
                reply = connection.getresponse()
                reply.read()
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                if attempt == "last":
                    logger.error("KV transfer failed, bootstrap_room=%d: %s", room, error)
            else:
                if reply.status != 204:
                    logger.error("KV transfer refused, bootstrap_room=%d: %d", room, reply.status)
                return

    def _connection(self) -> http.client.HTTPConnection:
        if not hasattr(self._own, "connection"):
            self._own.connection = http.client.HTTPConnection(self._netloc, timeout=30)
        connection: http.client.HTTPConnection = self._own.connection
        return connection


def sender(args: ServerArgs, parallel: int) -> RoomSender:
    """Make the sender that the flags ask for."""
    if not args.disaggregation_decode_url:
        lifecycle.fail("a prefill server needs --disaggregation-decode-url")
    return RoomSender(args.disaggregation_decode_url, parallel)


def main(
    argv: Sequence[str] | None = None, scheduler_class: type[PrefillScheduler] = PrefillScheduler
) -> None:
    """Run the server."""
    args, env, listener = start(argv, "prefill")
    send = sender(args, env.disaggregation_queue_size)
    scheduler = build(lambda: scheduler_class(args, env, send))
    lifecycle.serve(EngineServer(scheduler, args, env).app(), listener)


if __name__ == "__main__":
    main()
