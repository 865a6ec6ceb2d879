"""Sockets of the servers, without what it takes to serve: the launcher needs only these.

The launcher listens on the ports itself and hands the sockets to its children. So a port is known, and
known to be free, before anything is started; and who connects early waits in the socket's queue until
the server is up.
"""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

_BACKLOG = 2048


class PortInUse(Exception):
    """Another process listens on the port, or the address is not this machine's."""


def listen(host: str, port: int, what: str) -> socket.socket:
    """Listen on a port, 0 for one that the system picks.

    Raises:
        PortInUse: It cannot be had; says so in one line that names what it was wanted for.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise PortInUse(
            f"cannot listen on {host}:{port} for the {what}: {error.strerror or error}"
        ) from None
    return listener


def url_of(listener: socket.socket) -> str:
    """Give the URL under which a socket is reached."""
    host, port, *_ = listener.getsockname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def get_status(url: str, path: str) -> int:
    """Ask for a page, as long as that takes; give the status of the reply, 0 if none came."""
    parts = urlsplit(url)
    try:
        with socket.create_connection((parts.hostname, parts.port or 80)) as connection:
            connection.sendall(f"GET {path} HTTP/1.0\r\nHost: {parts.netloc}\r\n\r\n".encode())
            head = connection.recv(64).split()
    except OSError:
        return 0
    return int(head[1]) if len(head) > 1 else 0
