"""What the transport raises, each to the word for it.

httpx's names do not help here: the aiohttp transport raises `ConnectTimeout` for a server that hangs up
after a request. So what aiohttp said first is looked at, down the chain of causes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import aiohttp
import httpx
from aiohttp.http_exceptions import LineTooLong, PayloadEncodingError

from workbench.http.reply import Outcome

ERRORS = (httpx.HTTPError, httpx.StreamError, aiohttp.ClientError, OSError, PayloadEncodingError)
_CUT = ("Not enough data", "payload is not completed")
_BROKEN = ("ConnectionResetError", "BrokenPipeError", "TimeoutError", "OSError")
_TOO_MANY = "Too many headers"


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """How the transport ended an attempt, in a word and in a line."""

    outcome: Outcome
    detail: str


def fault_of(error: BaseException) -> Fault:
    """Say what an error of the transport means."""
    chain = list(_causes(error))
    for each in chain:
        if isinstance(each, aiohttp.ClientConnectorError):
            return Fault(outcome=Outcome.REFUSED, detail=f"no connection: {each.os_error}")
        if isinstance(each, LineTooLong) or _TOO_MANY in str(each):
            return Fault(outcome=Outcome.TOO_LARGE, detail="a header over its limit")
    for each in chain:
        if isinstance(each, aiohttp.ServerDisconnectedError):
            return Fault(outcome=Outcome.RESET, detail="the connection was closed before any answer")
        if isinstance(each, aiohttp.ClientPayloadError):
            return _of_payload(each, chain)
        if isinstance(each, aiohttp.ClientResponseError):
            return Fault(outcome=Outcome.MALFORMED, detail=f"not HTTP: {_line(each.message)}")
        if isinstance(each, OSError):
            return Fault(outcome=Outcome.RESET, detail=f"the connection broke: {_line(str(each))}")
    return Fault(outcome=Outcome.RESET, detail=f"{type(error).__name__}: {_line(str(error))}")


def _of_payload(error: aiohttp.ClientPayloadError, chain: list[BaseException]) -> Fault:
    """Tell a body that was cut from one that broke, and both from one with wrong framing."""
    text = " ".join(str(each) for each in chain)
    if any(isinstance(each, OSError) for each in chain) or any(name in text for name in _BROKEN):
        return Fault(outcome=Outcome.RESET, detail="the connection broke within the body")
    if any(words in text for words in _CUT):
        return Fault(outcome=Outcome.TRUNCATED, detail="the body is shorter than was promised")
    return Fault(outcome=Outcome.MALFORMED, detail=f"not HTTP: {_line(str(error))}")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _line(text: str) -> str:
    """Make one short line of what may hold anything that a server sent."""
    return " ".join("".join(c if c.isprintable() else " " for c in text[:400]).split())[:200]
