"""How a server process begins and ends: its socket, its parent, its signals.

A child of the launcher inherits the socket to serve on, and the reading end of a pipe whose other end
dies with the launcher.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import signal
import socket
import sys
import threading
import traceback
from typing import NoReturn

import uvicorn
from starlette.types import ASGIApp

from .logs import logger
from .sockets import PortInUse, listen

_PR_SET_PDEATHSIG = 1


def add_child_flags(parser: argparse.ArgumentParser) -> None:
    """Add what the launcher tells a child beside the flags that a person gives."""
    parser.add_argument("--listen-fd", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--parent-fd", type=int, help=argparse.SUPPRESS)


def socket_of(parsed: argparse.Namespace, what: str) -> socket.socket:
    """Give the socket to serve on: the launcher's, or an own one. A port in use ends the program."""
    if parsed.listen_fd is not None:
        return socket.socket(fileno=parsed.listen_fd)
    try:
        return listen(parsed.host, parsed.port, what)
    except PortInUse as error:
        fail(str(error))


def fail(message: str) -> NoReturn:
    """End the program with one line on stderr and exit code 1."""
    print(f"error: {message}", file=sys.stderr)  # noqa: T201
    raise SystemExit(1)


def die_with_parent(parent_fd: int | None) -> None:
    """See to it that this process does not outlive the launcher, however that ends.

    Args:
        parent_fd: Reading end of a pipe that nobody writes to; its end of file is the launcher's end.
            None if there is no launcher.
    """
    if parent_fd is None:
        return
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)

    def watch() -> None:
        os.read(parent_fd, 1)
        os._exit(1)

    # covers other systems, and a launcher that died before the call above
    threading.Thread(target=watch, name="parent-watch", daemon=True).start()


def end_when_a_thread_fails() -> None:
    """Let an error that ends a thread end the process, which without its scheduler only looks alive."""

    def hook(failure: threading.ExceptHookArgs) -> None:
        name = failure.thread.name if failure.thread else "?"
        trace = "".join(
            traceback.format_exception(failure.exc_type, failure.exc_value, failure.exc_traceback)
        )
        logger.error("Thread %s hit an exception: %s", name, trace)
        os._exit(1)

    threading.excepthook = hook


def serve(app: ASGIApp, listener: socket.socket) -> None:
    """Serve until SIGTERM or SIGINT; replies under way get a second to end."""
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=1,
        timeout_keep_alive=60,
    )
    uvicorn.Server(config).run(sockets=[listener])
