"""The bytes of an answer as they come in, or gathered: what one attempt reads of aiohttp's stream.

Waking a task for each token costs more than the token. So once nothing depends on when each one came,
they are left in aiohttp's buffer for `GATHER` seconds and taken together. The end of the body, or of
the connection, is not waited for like that: it wakes the reader at once. What is buffered has aiohttp's
limit, above which the server is no longer read.
"""

from __future__ import annotations

import asyncio

import aiohttp

GATHER = 0.05  # seconds
_MUCH = 1 << 16  # bytes of one taking; who sends more is read as it sends, and not held up


class Incoming:
    """The body of an answer.

    Args:
        content: Where aiohttp puts what comes.
        closed: Done once its connection is closed; None if that was so before.
        within: Seconds for which what comes is gathered.

    Attributes:
        gathers: Take what comes together, and not as it comes.
    """

    def __init__(
        self,
        content: aiohttp.StreamReader,
        closed: asyncio.Future[None] | None = None,
        *,
        within: float = GATHER,
    ) -> None:
        self._content = content
        self._within = within
        self._closed = closed
        self._gathered: asyncio.Future[None] | None = None
        self._last = 0  # bytes of the taking before
        self.gathers = False
        content.on_eof(self._wake)
        if closed is not None:
            closed.remove_done_callback(_heard)
            closed.add_done_callback(_heard)
            closed.add_done_callback(self._lost)

    async def take(self) -> bytes:
        """Give the next bytes, at least one; none at the end of the body.

        Raises:
            aiohttp.ClientError: The body broke, and all that came before has been given.
        """
        content = self._content
        if self.gathers and self._last < _MUCH and self._stands:
            await self._gather()
        self._check()
        broken = content.exception()
        if broken is None:
            taken = await content.readany()
        else:  # `read_nowait` refuses what was there before it broke
            taken = content._read_nowait(-1)
            if not taken:
                raise broken
        self._last = len(taken)
        return taken

    def leave(self) -> None:
        """Watch the connection no longer; it may serve others."""
        if self._closed is not None:
            self._closed.remove_done_callback(self._lost)

    @property
    def _stands(self) -> bool:
        """Whether the body has neither ended nor broken."""
        return not self._content.is_eof() and not self._content.exception()

    async def _gather(self) -> None:
        """Wait for a while, or until the body ends or breaks."""
        loop = asyncio.get_running_loop()
        self._gathered = loop.create_future()
        timer = loop.call_later(self._within, self._wake)
        try:
            await self._gathered
        finally:
            timer.cancel()

    def _wake(self) -> None:
        if self._gathered is not None and not self._gathered.done():
            self._gathered.set_result(None)

    def _lost(self, closed: asyncio.Future[None]) -> None:
        self._check()
        self._wake()

    def _check(self) -> None:
        """Let wrong framing break the body: aiohttp closes its connection and lets the reader wait."""
        lost = self._closed is None or self._closed.done()
        if lost and self._stands:
            self._content.set_exception(aiohttp.ClientPayloadError("wrong framing of the body"))


def _heard(closed: asyncio.Future[None]) -> None:
    """Take note of why a connection was closed, so that asyncio does not complain that nobody did."""
    if not closed.cancelled():
        closed.exception()
