"""Measures a load while it is driven: what both sides have under way, how late the client is.

A client that cannot keep up makes a symptom of its own, and a server that somebody else uses too is not
under the load that was asked for. Neither shows in the replies.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

from workbench.errors import EngineError
from workbench.model.outcome import Ending, Exchange
from workbench.model.start import Load
from workbench.ports import Engine, Traffic

_TICK = 0.05  # seconds between looks at the client's own lateness
_LOOK = 0.1  # seconds between looks at the server


class Meter:
    """Measures from `begin` to `end`.

    Args:
        engine: Asked what it counts.
        asked: Requests that are to be in flight, one a session at most.

    Attributes:
        load: What has been measured; whole after `end`.
        lost: Exchanges that did not end as they should.
        before: What the server counted at the beginning.
        after: What it counted at the end.
    """

    def __init__(self, engine: Engine, asked: int) -> None:
        self._engine = engine
        self.load = Load(asked=asked)
        self.lost = 0
        self.before = self.after = Traffic()
        self._in_flight = self._peak = 0
        self._sessions = self._exchanges = self._requests = 0
        self._lags: list[float] = []
        self._seen: list[float] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._begun = self._cpu = 0.0

    async def begin(self) -> None:
        """Begin; the server is asked once before anything is sent."""
        self.before = await self._asked()
        self._begun, self._cpu = time.monotonic(), time.process_time()
        self._tasks.append(asyncio.create_task(self._watch_client()))
        if self.before.in_flight is not None:
            self._tasks.append(asyncio.create_task(self._watch_server()))

    def session_began(self) -> None:
        """A session goes under way."""
        self._sessions += 1
        self._in_flight += 1
        self._peak = max(self._peak, self._in_flight)

    def session_ended(self, *, whole: bool) -> None:
        """One is no longer under way; if it is not whole, a request of it was given up."""
        self._in_flight -= 1
        self._requests += not whole
        self.lost += not whole

    def took(self, exchange: Exchange) -> None:
        """An exchange has ended."""
        self._exchanges += 1
        self._requests += 1 + len(exchange.earlier)
        self.lost += exchange.ending is not Ending.COMPLETED

    async def end(self) -> Load:
        """End, and give what was measured; the server is asked once more."""
        seconds = time.monotonic() - self._begun
        cpu = time.process_time() - self._cpu
        await self.quit()
        self.after = await self._asked()
        peak, exact = self._server_peak()
        self.load = replace(
            self.load,
            sessions=self._sessions,
            exchanges=self._exchanges,
            requests=self._requests,
            client_peak=min(self._peak, self.load.asked),
            server_peak=peak,
            exact=exact,
            samples=len(self._seen),
            served=_growth(self.before.served, self.after.served),
            seconds=seconds,
            lag_mean=sum(self._lags) / len(self._lags) if self._lags else 0.0,
            lag_most=max(self._lags, default=0.0),
            cpu=cpu / seconds if seconds > 0 else 0.0,
        )
        return self.load

    async def quit(self) -> None:
        """Stop watching."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()

    def metrics(self) -> dict[str, float]:
        """Give by how much counters grew, and other metrics as they are at the end."""
        before = self.before.metrics
        return {
            name: value - before.get(name, 0.0)
            if name.endswith(("_total", "_count", "_sum"))
            else value
            for name, value in self.after.metrics.items()
        }

    def _server_peak(self) -> tuple[float | None, bool]:
        """Give the most that the server had, and whether it counted that itself during this load."""
        before, after = self.before.peak, self.after.peak
        if after is not None and (not before or after > before):
            return after, True
        return (max(self._seen), False) if self._seen else (None, False)

    async def _asked(self) -> Traffic:
        try:
            return await self._engine.traffic()
        except EngineError:  # it may have died under the load, which others tell
            return Traffic()

    async def _watch_client(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + _TICK
            await asyncio.sleep(_TICK)
            self._lags.append(loop.time() - due)

    async def _watch_server(self) -> None:
        while True:
            await asyncio.sleep(_LOOK)
            seen = (await self._asked()).in_flight
            if seen is not None:
                self._seen.append(seen)


def _growth(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before
