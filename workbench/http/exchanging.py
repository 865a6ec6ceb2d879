"""One attempt: sends, reads the answer within limits and one deadline, and says how it ended.

What counts as the end of a stream is what the engine says, `[DONE]` or a `finish_reason`, and not that
the connection was closed: a stream of unknown length that stops is `truncated`, however well its last
line reads. After `[DONE]` nothing that the transport does changes the outcome.

An attempt that was left before its end, for a limit, the deadline or a cancel, ends its connection at
once, so that the engine sees it go and no later request meets the rest.
"""

from __future__ import annotations

import asyncio
import time

import httpx

from workbench.http.body import Body
from workbench.http.faults import ERRORS, Fault, fault_of
from workbench.http.joining import joiner
from workbench.http.reply import Attempt, Form, Limits, Outcome, Request, Stamps
from workbench.http.sse import Splitter
from workbench.http.wire import WIRE, Wire

_LINGER = 1.0  # seconds that a server has after [DONE] to end its answer, to keep the connection
_STREAM = "text/event-stream"
_DONE = b"[DONE]"


async def attempt(
    transport: httpx.AsyncBaseTransport,
    request: Request,
    prepared: httpx.Request,
    *,
    limits: Limits,
    deadline: float,
    waited: float,
) -> Attempt:
    """Send a request once; never raises for what a server or the network does.

    Args:
        transport: What to send it with.
        request: What was asked for.
        prepared: The same, as it goes over the wire.
        limits: What the server may send.
        deadline: When it must be over, in the event loop's time.
        waited: Seconds since the attempt before.
    """
    wire = Wire()
    reading = _Reading(request, limits)
    token = WIRE.set(wire)
    fault = None
    try:
        async with asyncio.timeout_at(deadline) as timeout:
            await _read(transport, prepared, reading, wire, timeout)
    except TimeoutError as error:
        late = Fault(outcome=Outcome.TIMEOUT, detail=f"no end within {request.deadline:g} s")
        fault = late if timeout.expired() else fault_of(error)
    except ERRORS as error:
        fault = fault_of(error)
    finally:
        wire.done()
        WIRE.reset(token)
    return reading.conclude(fault, wire, waited)


async def _read(
    transport: httpx.AsyncBaseTransport,
    prepared: httpx.Request,
    reading: _Reading,
    wire: Wire,
    until: asyncio.Timeout,
) -> None:
    response = await transport.handle_async_request(prepared)
    try:
        reading.head(response)
        lingering = False
        incoming = wire.incoming
        while chunk := await incoming.take():
            reading.chunk(chunk)
            if reading.enough:
                break
            incoming.gathers = reading.begun
            if reading.done and not lingering:
                lingering = True
                end = asyncio.get_running_loop().time() + _LINGER
                until.reschedule(min(end, until.when() or end))
        else:
            reading.whole = True
    finally:
        if not reading.whole:
            wire.abort()
        await response.aclose()


class _Reading:
    """What has been read of an answer so far."""

    def __init__(self, request: Request, limits: Limits) -> None:
        self._streamed = request.stream
        self._read_as = request.form
        self._limits = limits
        self._splitter = Splitter(max_line=limits.line, max_event=limits.event)
        self._joiner = joiner(request.form)
        self._sent = time.monotonic()
        self._headers: float | None = None
        self._first: float | None = None
        self._last: float | None = None
        self._response: httpx.Response | None = None
        self._body = Body(limits.kept)
        self._events = False  # the body is a stream of events
        self._promise = ""  # why the head already is not what was asked for
        self._trailing = 0
        self._overflow = ""
        self.done = False
        self.whole = False

    @property
    def enough(self) -> bool:
        """Whether to stop here: what follows is over a limit."""
        return bool(self._overflow)

    @property
    def begun(self) -> bool:
        """Whether content has come; from then on nothing depends on when each event does."""
        return self._first is not None

    def head(self, response: httpx.Response) -> None:
        """Take the head of the answer."""
        self._headers = time.monotonic()
        self._response = response
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        good = 200 <= response.status_code < 300
        self._events = good and self._streamed and kind in (_STREAM, "")
        if encoding != "identity":
            self._promise = f"it is encoded as {encoding[:40]!r}, which was not asked for"
            self._events = False
        elif good and self._streamed and not self._events:
            self._promise = f"it is {kind[:80]!r}, and events were asked for"
        if not self._events and good:
            self._body = Body(self._limits.body)  # to be read as one

    def chunk(self, chunk: bytes) -> None:
        """Take bytes of the body."""
        self._last = time.monotonic()
        self._body.add(chunk)
        if self._body.size > self._limits.body:
            self._overflow = f"a body of more than {self._limits.body} bytes"
        if not self._events:
            return
        for event in self._splitter.feed(chunk):
            if event.data == _DONE:  # some routers say it twice
                self.done = True
            elif self.done:
                self._trailing += bool(event.data)
            else:
                self._joiner.feed(event.data, error=event.name == b"error")
                if self._first is None and self._joiner.content:
                    self._first = self._last
        self._overflow = self._overflow or self._splitter.overflow

    def conclude(self, fault: Fault | None, wire: Wire, waited: float) -> Attempt:
        """Say how it ended, and give all there is."""
        if self._events and self._splitter.pending == _DONE:  # its empty line never came
            self.done = True
        response = self._response
        status = response.status_code if response else wire.status
        end = self._ending(fault, status)
        answered = response is not None and 200 <= response.status_code < 300
        return Attempt(
            outcome=end.outcome,
            detail=end.detail,
            stamps=Stamps(
                sent=self._sent,
                headers=self._headers,
                first_content=self._first,
                last_byte=self._last,
                ended=time.monotonic(),
            ),
            status=status,
            headers=_headers(response) if response else {},
            body_sha256=self._body.finish(whole=self.whole),
            body=bytes(self._body.kept[: self._limits.kept]),
            body_bytes=self._body.size,
            valid_utf8=self._body.valid_utf8,
            answer=self._joiner.answer() if answered else None,
            reused=wire.reused,
            waited=waited,
        )

    def _ending(self, fault: Fault | None, status: int | None) -> Fault:
        if status is None:
            return fault or Fault(outcome=Outcome.RESET, detail="no answer")
        if status >= 400 or status < 200:
            return Fault(outcome=Outcome.HTTP_ERROR, detail=f"HTTP status {status}")
        if status >= 300:
            return Fault(outcome=Outcome.REDIRECTED, detail=f"HTTP status {status}; it is not followed")
        if self._overflow:
            return Fault(outcome=Outcome.TOO_LARGE, detail=self._overflow)
        if not self._events and not fault:
            return self._of_whole()
        return self._of_stream(fault)

    def _of_whole(self) -> Fault:
        """Judge an answer that came as one piece, of JSON or not."""
        if self._read_as is not Form.BYTES:
            self._joiner.feed(bytes(self._body.kept))
        if self._joiner.error:
            return Fault(outcome=Outcome.ENGINE_ERROR, detail=self._joiner.error[:200])
        if self._promise:
            return Fault(outcome=Outcome.MALFORMED, detail=self._promise)
        if self._read_as is Form.BYTES:
            return Fault(outcome=Outcome.COMPLETED, detail="")
        if not self._body.size or self._joiner.fault:
            cut = not _delimited(self._response)
            outcome = Outcome.TRUNCATED if cut else Outcome.MALFORMED
            return Fault(outcome=outcome, detail=self._joiner.fault or "an empty body")
        return Fault(outcome=Outcome.COMPLETED, detail="")

    def _of_stream(self, fault: Fault | None) -> Fault:
        if self._joiner.error:
            return Fault(outcome=Outcome.ENGINE_ERROR, detail=self._joiner.error[:200])
        if self._joiner.fault:
            return Fault(outcome=Outcome.MALFORMED, detail=self._joiner.fault)
        if self._trailing:
            return Fault(outcome=Outcome.MALFORMED, detail=f"{self._trailing} events after [DONE]")
        if self.done:
            return Fault(outcome=Outcome.COMPLETED, detail="")
        if fault:
            return fault
        if self._joiner.finished:
            return Fault(outcome=Outcome.COMPLETED, detail="")
        where = "within an event" if self._splitter.torn else "after a whole event"
        detail = f"the stream ended {where}, without finish_reason or [DONE]"
        return Fault(outcome=Outcome.TRUNCATED, detail=detail)


def _headers(response: httpx.Response) -> dict[str, str]:
    pairs = response.headers.raw
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in pairs}


def _delimited(response: httpx.Response | None) -> bool:
    """Whether the head says where the body ends."""
    if response is None:
        return False
    chunked = "chunked" in response.headers.get("transfer-encoding", "").lower()
    return chunked or "content-length" in response.headers
