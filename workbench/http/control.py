"""What a server is asked beside its work: is it ready, how is it set, what does it count.

    control = Control()
    page = await control.get("http://127.0.0.1:30000/metrics")     # any status
    told = await control.json("http://127.0.0.1:30000/server_info")  # 200 and JSON, or EngineError

It is the `Client` with a connection of its own for each request, so that no answer, and no failure, is
left over from an earlier one. There is one deadline and one limit for a body, redirects are not
followed, and what goes wrong is one line with its cause.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal
from urllib.parse import urlsplit

import httpx
import msgspec

from workbench.errors import EngineError, UsageError
from workbench.http.client import Client
from workbench.http.reply import Attempt, Form, Limits, Outcome, Request

DEADLINE = 5.0  # seconds
LARGEST = 16 << 20  # bytes of a body
_ANSWERED = (Outcome.COMPLETED, Outcome.HTTP_ERROR)


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """What a server answered: its status, and all bytes of the body of a good one."""

    status: int
    body: bytes

    @property
    def good(self) -> bool:
        """Whether it is a page, and not an error."""
        return 200 <= self.status < 300


class Control:
    """Asks servers; holds nothing open between two requests.

    Args:
        api_key_env: Name of the environment variable that holds the key; empty for no key.
        deadline: Seconds for all of a request.
        largest: Bytes of the largest body that is read.

    Raises:
        UsageError: The variable is not set, or holds what cannot be sent.
    """

    def __init__(
        self, *, api_key_env: str = "", deadline: float = DEADLINE, largest: int = LARGEST
    ) -> None:
        self._api_key_env = api_key_env
        self._deadline = deadline
        self._limits = Limits(body=largest, kept=largest)
        self._client()  # a key that is missing is told before anybody waits for a server

    async def get(self, url: str) -> Page:
        """Get a page, of whatever status.

        Raises:
            EngineError: Nothing answers in time, or what answers is not HTTP, a redirect or too large.
        """
        return await self._ask("GET", url)

    async def post(self, url: str, body: bytes = b"{}") -> Page:
        """Post JSON. Raises as `get`."""
        return await self._ask("POST", url, body)

    async def json(self, url: str) -> Any:
        """Get JSON.

        Raises:
            EngineError: As `get`; or the status is no good one, or the body is not JSON.
        """
        return decoded(url, await self.get(url))

    async def _ask(self, method: Literal["GET", "POST"], url: str, body: bytes = b"") -> Page:
        try:
            async with self._client() as client:
                request = Request(
                    url=url,
                    body=body,
                    form=Form.BYTES,
                    stream=False,
                    deadline=self._deadline,
                    method=method,
                )
                last = (await client.send(request)).last
        except (UsageError, ValueError) as error:
            raise EngineError(f"{shown(url)} cannot be asked: {error}") from error
        if last.outcome not in _ANSWERED or last.status is None:
            raise EngineError(f"{shown(url)} {_cause(last)}")
        return Page(status=last.status, body=last.body)

    def _client(self) -> Client:
        return Client(
            api_key_env=self._api_key_env, limits=self._limits, keep_alive=0, tls=_authorities()
        )


def refused(url: str, page: Page) -> EngineError:
    """Say that a page is an error where one is needed."""
    return EngineError(f"{shown(url)}: HTTP status {page.status}")


def decoded(url: str, page: Page) -> Any:
    """Read a page as JSON. Raises EngineError if it is an error, or is none."""
    if not page.good:
        raise refused(url, page)
    try:
        return msgspec.json.decode(page.body)
    except (ValueError, RecursionError) as error:
        raise EngineError(f"{shown(url)}: what it answers is not JSON: {error}") from None


def shown(url: str) -> str:
    """Give a URL as it is told to people, without the password that may stand in it."""
    try:
        parts = urlsplit(url)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
    except ValueError:
        return "a URL that cannot be read"


def _cause(last: Attempt) -> str:
    if last.outcome in (Outcome.TIMEOUT, Outcome.REFUSED, Outcome.RESET):
        return f"does not answer: {last.detail}"
    return f"answers what cannot be used: {last.detail}"


@lru_cache(maxsize=1)
def _authorities() -> ssl.SSLContext:
    """Read the public authorities once: that takes longer than a request."""
    return httpx.create_ssl_context(trust_env=False)
