"""The terminal interface in a browser of this machine, through textual-serve.

Whoever reaches it can start runs. So it listens on the loopback address alone, and three things must be
right of a request: the host that it names, so that no foreign name leads here; where it comes from, so
that no page of another site opens the socket; and a key in the path, so that no other user does.
"""

from __future__ import annotations

import secrets
import shlex
import socket
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from aiohttp import web
from textual_serve.server import Server

from workbench.errors import UsageError
from workbench.ports import silent

ADDRESS = "127.0.0.1"
_PAGE = Path(__file__).with_name("page")
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class LoopbackServer(Server):
    """Serves a command's terminal to the browsers of this machine that know the key.

    Args:
        arguments: The command, word by word; a process of its own for each page that is opened.
        title: Title of the page.
        port: Port to listen on; 0 for any that is free.

    Raises:
        UsageError: The port is taken.
    """

    def __init__(self, arguments: list[str], *, title: str, port: int = 0) -> None:
        try:
            self._socket = socket.create_server((ADDRESS, port))
        except OSError as error:
            raise UsageError(
                f"port {port} cannot be had: {error.strerror}", hint="name another with --port, or none"
            ) from error
        self._key = secrets.token_urlsafe(24)
        self._hosts = tuple(
            f"{name}:{self._socket.getsockname()[1]}" for name in (ADDRESS, "localhost")
        )
        super().__init__(
            shlex.join(arguments), host=ADDRESS, port=self._socket.getsockname()[1], title=title
        )
        self.templates_path = _PAGE
        self._started: Callable[[str], None] = silent

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{self._hosts[0]}/{self._key}/"

    def run(self, started: Callable[[str], None]) -> None:
        """Serve until Ctrl-C.

        Args:
            started: Told the address of the page once it can be opened.
        """
        self._started = started
        web.run_app(self._make_app(), sock=self._socket, print=lambda *_: None, access_log=None)

    async def _make_app(self) -> web.Application:
        """Put the key before every path, and the guard before every request."""
        inner = await super()._make_app()
        outer = web.Application(middlewares=[self._guard])
        outer.add_subapp(f"/{self._key}", inner)
        outer.on_startup.append(self._tell)
        return outer

    async def _tell(self, _app: web.Application) -> None:
        self._started(self.url)

    async def on_startup(self, app: web.Application) -> None:
        """Say nothing; `run` tells where the page is."""

    @web.middleware
    async def _guard(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        """Let nobody in from elsewhere."""
        origin = request.headers.get("Origin")
        ours = origin is None or origin in {f"http://{host}" for host in self._hosts}
        if request.host not in self._hosts or not ours:
            raise web.HTTPForbidden(text="only for browsers of this machine")
        answer = await handler(request)
        if not answer.prepared:
            answer.headers["Referrer-Policy"] = "no-referrer"  # the key is in the address
            answer.headers["X-Frame-Options"] = "DENY"
        return answer


def command(root: Path, by: str) -> list[str]:
    """Give the command whose terminal is served: that of the interface, for one campaign and writer."""
    return [sys.executable, "-m", "workbench", "-C", str(root), "tui", "--by", by]
