"""Between the HTTP loop and the scheduler's thread: requests go in, text comes out as it is made.

The scheduler calls back from its own thread, once a request and step. Those outputs are collected, and
the loop is woken once for all that have come: that is what makes a step's replies one batch for the
detokenizer. Whoever stops reading a reply early has its request aborted.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from ..server_args import ServerArgs
from ..tokenizer import Tokenizer
from .detokenizer import Detokenizer
from .interface import GenerateRequest, Scheduler, TokenOutput


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """What a step added to a reply; the last one of a reply has a `finish_reason`."""

    text: str
    token_ids: tuple[int, ...]
    finish_reason: str
    error: str
    cached_tokens: int


class DuplicateRequest(Exception):
    """A request under way has the same id."""


class TokenizerManager:
    """Keeps the requests under way.

    Args:
        scheduler: Runs them.
        tokenizer: Gives text for ids.
        args: The server's flags.

    Attributes:
        peak_in_flight: Most requests that were under way at the same time.
    """

    def __init__(self, scheduler: Scheduler, tokenizer: Tokenizer, args: ServerArgs) -> None:
        self._scheduler = scheduler
        self._detokenizer = Detokenizer(tokenizer, batch=not args.disable_tokenizer_batch_decode)
        self._replies: dict[str, asyncio.Queue[Piece]] = {}
        self._arrived: deque[TokenOutput] = deque()
        self._woken = False
        self.peak_in_flight = 0

    @property
    def in_flight(self) -> int:
        """Requests under way."""
        return len(self._replies)

    async def generate(
        self, request: GenerateRequest, *, skip_special_tokens: bool
    ) -> AsyncGenerator[Piece, None]:
        """Run a request; close the iterator early to abort it.

        Raises:
            DuplicateRequest: Its id is taken.
        """
        rid = request.rid
        if rid in self._replies:
            raise DuplicateRequest(rid)
        loop = asyncio.get_running_loop()
        queue = self._replies[rid] = asyncio.Queue()
        self.peak_in_flight = max(self.peak_in_flight, self.in_flight)
        self._detokenizer.open(rid, skip_special_tokens=skip_special_tokens)
        finished = False
        try:
            self._scheduler.submit(request, lambda output: self._take(output, loop))
            while not finished:
                piece = await queue.get()
                finished = bool(piece.finish_reason)
                yield piece
        finally:
            del self._replies[rid]
            self._detokenizer.close(rid)
            if not finished:  # not here: the answer takes until the scheduler's next step
                loop.run_in_executor(None, self._scheduler.abort, rid)

    async def abort(self, rid: str) -> bool:
        """End a request early, or all of them if `rid` is empty; False if there is none."""
        known = [rid] if rid else list(self._replies)
        aborted = [await asyncio.to_thread(self._scheduler.abort, each) for each in known]
        return any(aborted)

    def _take(self, output: TokenOutput, loop: asyncio.AbstractEventLoop) -> None:
        """Collect an output; called from the scheduler's thread."""
        self._arrived.append(output)
        if not self._woken:  # cleared before the outputs are read, so that none is left behind
            self._woken = True
            loop.call_soon_threadsafe(self._deliver)

    def _deliver(self) -> None:
        self._woken = False
        step: dict[str, TokenOutput] = {}
        while self._arrived:
            output = self._arrived.popleft()
            if output.rid in self._replies:  # else its reader has left
                before = step.get(output.rid)
                step[output.rid] = output if before is None else _merged(before, output)
        texts = self._detokenizer.decode([(rid, output.token_ids) for rid, output in step.items()])
        for (rid, output), text in zip(step.items(), texts, strict=True):
            piece = Piece(
                text=text,
                token_ids=output.token_ids,
                finish_reason=output.finish_reason if output.finished else "",
                error=output.error,
                cached_tokens=output.cached_tokens,
            )
            self._replies[rid].put_nowait(piece)


def _merged(first: TokenOutput, second: TokenOutput) -> TokenOutput:
    return TokenOutput(
        rid=first.rid,
        token_ids=first.token_ids + second.token_ids,
        finished=second.finished,
        finish_reason=second.finish_reason,
        error=second.error,
        cached_tokens=max(first.cached_tokens, second.cached_tokens),
    )
