"""Runs one arm of one block, in this process: bring it up, drive its sessions, take it down.

A job is self-contained, so that another executor may one day carry it to another host with no change
to planning or judgement. An engine that dies under its load is started again for the sessions that had
not begun; those that were under way have seen it die, and say so.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any, Protocol

from workbench.conduct.knobs import Knobs
from workbench.conduct.meter import Meter
from workbench.errors import EngineError
from workbench.model.ids import SessionKey
from workbench.model.outcome import Ending, Exchange
from workbench.model.plan import Arm, ArmJob
from workbench.ports import Endpoint, Engine, SessionRequest, Workload

# Of a load that a knob turns these are ours: sessions under way at once, and of all these sessions the
# requests that are. The rest of it is the workload's.
OURS = IN_FLIGHT, REQUESTS = "in_flight", "requests"
_CUT = (Ending.REFUSED, Ending.RESET, Ending.TRUNCATED)  # what a dying engine leaves of an exchange
_NOTICE, _LOOKS = 0.3, 15  # seconds in which the death shows of a process that broke a connection
_DEATHS = 5  # in one job; an engine that dies more often cannot be driven


class Watch(Protocol):
    """Looks at each start of a job."""

    async def up(self, arm: Arm, block: int, number: int, ready_seconds: float) -> bool:
        """The arm is up and nothing has been sent. False: it is not what it should be; send nothing."""
        ...

    async def over(self, arm: Arm, meter: Meter, died: str) -> bool:
        """Its load is over, and it is still up unless it died. False: nothing more is to be sent."""
        ...


class _Enough(Exception):
    """No error: no more sessions of this job are needed, which ends its other workers."""


class InProcess:
    """Executor that drives every session as a task of the running loop.

    Args:
        run: Id of the run, for the processes that it starts.
        engine: Brings the arm up.
        workload: Drives a session.
        knobs: Turn an arm's settings.
        files: Gives what keeps an arm's edits of files in place while it is entered.
    """

    def __init__(
        self,
        run: str,
        engine: Engine,
        workload: Workload,
        knobs: Knobs,
        files: Callable[[Arm], AbstractContextManager[None]],
    ) -> None:
        self.run = run
        self._engine = engine
        self._workload = workload
        self._knobs = knobs
        self._files = files
        self.in_flight = 0

    async def execute(
        self, job: ArmJob, take: Callable[[Exchange], None], enough: Callable[[], bool], watch: Watch
    ) -> None:
        """Run a job.

        Args:
            job: Its sessions are begun in the order given, at most `in_flight` at a time.
            take: Called with every exchange as it ends; what it raises ends the job.
            enough: Asked after every exchange; True ends the job, sessions in flight included.
            watch: Looks at each start.

        Raises:
            ArmCouldNotStart: The arm cannot be brought up; everything in flight has been ended.
            EngineError: It died too often, or does not answer.
        """
        waiting = deque(zip(job.sessions, job.seeds, strict=True))
        for number in range(1, _DEATHS + 1):
            if not waiting or not await self._start(job, waiting, number, take, enough, watch):
                return
        if waiting:
            raise EngineError(
                f"arm {job.arm.name} died {_DEATHS} times in block {job.block}",
                hint="its log says why; a symptom with `statuses: [engine_died]` counts that",
            )

    def died(self) -> bool:
        """Whether the engine has ended by itself."""
        return bool(self._engine.died())

    async def _start(
        self,
        job: ArmJob,
        waiting: deque[tuple[int, int]],
        number: int,
        take: Callable[[Exchange], None],
        enough: Callable[[], bool],
        watch: Watch,
    ) -> bool:
        """Bring the arm up once and drive it; say whether the job is to go on in another start."""
        beside = self._knobs.beside(job.arm)
        workers = min(int(beside.load.get(IN_FLIGHT, job.in_flight)), len(waiting))
        requests = min(int(beside.load.get(REQUESTS, workers)), workers)
        load = {name: each for name, each in beside.load.items() if name not in OURS}
        with self._files(job.arm):
            begun = time.monotonic()
            try:
                endpoint = await self._engine.start(job.arm, self._knobs.turn(job.arm))
                endpoint = replace(endpoint, request=beside.request, load=load)
                if not await watch.up(job.arm, job.block, number, time.monotonic() - begun):
                    return False
                meter = Meter(self._engine, requests)
                drive = _Drive(self, self._workload, job, endpoint, waiting, meter)
                if requests < workers:
                    drive.take_turns(requests)
                ended = await drive.run(workers, take, enough)
                go_on = await watch.over(job.arm, meter, self._engine.died())
                return go_on and not ended
            finally:
                await self._workload.close()
                await self._engine.stop()


class _Drive:
    """The sessions of one start."""

    def __init__(
        self,
        executor: InProcess,
        workload: Workload,
        job: ArmJob,
        endpoint: Endpoint,
        waiting: deque[tuple[int, int]],
        meter: Meter,
    ) -> None:
        self._executor = executor
        self._workload = workload
        self._job = job
        self._endpoint = endpoint
        self._waiting = waiting
        self._meter = meter
        self._turns: AbstractAsyncContextManager[Any] = nullcontext()

    def take_turns(self, requests: int) -> None:
        """Let sessions take turns: so many requests at once, first come, first served."""
        self._turns = asyncio.Semaphore(requests)

    async def run(
        self, workers: int, take: Callable[[Exchange], None], enough: Callable[[], bool]
    ) -> bool:
        """Drive until all sessions are done, enough are, or the engine died; True unless it died."""
        await self._meter.begin()
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(workers):
                    group.create_task(self._work(take, enough))
        except* _Enough:
            self._waiting.clear()
        except* Exception as raised:  # noqa: BLE001 - unwraps the group, whatever is in it
            # siblings may fail of one cause at the same time; the first says it all
            raise raised.exceptions[0] from None
        finally:
            await self._meter.quit()
        await self._meter.end()
        return not self._executor.died()

    async def _work(self, take: Callable[[Exchange], None], enough: Callable[[], bool]) -> None:
        while self._waiting and not self._executor.died():
            session, seed = self._waiting.popleft()
            key = SessionKey(self._job.arm.name, self._job.block, session)
            await self._session(SessionRequest(run=self._executor.run, key=key, seed=seed), take)
            if enough():
                raise _Enough

    async def _session(self, request: SessionRequest, take: Callable[[Exchange], None]) -> None:
        whole = False
        self._executor.in_flight += 1
        self._meter.session_began()
        try:
            exchanges = aiter(self._workload.drive(self._endpoint, request))
            while (exchange := await self._next(exchanges)) is not None:
                if exchange.ending is not Ending.COMPLETED and await self._died(exchange.ending):
                    exchange = replace(exchange, ending=Ending.ENGINE_DIED, last=True)
                self._meter.took(exchange)
                take(exchange)
            whole = True
        finally:
            self._executor.in_flight -= 1
            self._meter.session_ended(whole=whole)

    async def _next(self, exchanges: AsyncIterator[Exchange]) -> Exchange | None:
        async with self._turns:
            return await anext(exchanges, None)

    async def _died(self, ending: Ending) -> bool:
        """Say whether the engine has died; a process ends a moment after its connections."""
        for _ in range(_LOOKS if ending in _CUT else 1):
            if self._executor.died():
                return True
            await asyncio.sleep(_NOTICE / _LOOKS)
        return False
