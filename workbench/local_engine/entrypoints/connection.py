"""Awaits work for as long as the client that asked for it is there."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response

_Result = TypeVar("_Result")
CLIENT_LEFT = Response(status_code=499)  # nobody reads it


class ClientLeft(Exception):
    """The client hung up before its reply was complete."""


async def while_connected(request: Request, work: Coroutine[Any, Any, _Result]) -> _Result:
    """Await something for as long as the client stays. The body must have been read.

    Raises:
        ClientLeft: The client hung up; the work was cancelled.
    """
    task = asyncio.ensure_future(work)
    left = asyncio.ensure_future(_hang_up(request))
    try:
        await asyncio.wait({task, left}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientLeft
        return task.result()
    finally:
        for each in (task, left):
            each.cancel()
        await asyncio.gather(task, left, return_exceptions=True)


async def _hang_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
