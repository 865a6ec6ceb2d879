"""Runs one arm of one block, in this process: bring it up, drive its sessions, take it down.

A job is self-contained, so that another executor may one day carry it to another host with no change
to planning or judgement.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace

from workbench.conduct.knobs import Knobs
from workbench.model.ids import SessionKey
from workbench.model.outcome import Exchange
from workbench.model.plan import Arm, ArmJob
from workbench.ports import Endpoint, Engine, SessionRequest, Workload

IN_FLIGHT = "in_flight"  # of a load that a knob turns: ours; the rest of it is the workload's


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
        self._run = run
        self._engine = engine
        self._workload = workload
        self._knobs = knobs
        self._files = files
        self.in_flight = 0

    async def execute(
        self, job: ArmJob, take: Callable[[Exchange], None], enough: Callable[[], bool]
    ) -> None:
        """Run a job.

        Args:
            job: Its sessions are begun in the order given, at most `in_flight` at a time.
            take: Called with every exchange as it ends; what it raises ends the job.
            enough: Asked after every exchange; True ends the job, sessions in flight included.

        Raises:
            ArmCouldNotStart: The arm cannot be brought up; everything in flight has been ended.
        """
        with self._files(job.arm):
            await self._execute(job, take, enough)

    async def _execute(
        self, job: ArmJob, take: Callable[[Exchange], None], enough: Callable[[], bool]
    ) -> None:
        beside = self._knobs.beside(job.arm)
        load = {name: value for name, value in beside.load.items() if name != IN_FLIGHT}
        endpoint = await self._engine.start(job.arm, self._knobs.turn(job.arm))
        endpoint = replace(endpoint, request=beside.request, load=load)
        in_flight = min(int(beside.load.get(IN_FLIGHT, job.in_flight)), len(job.sessions))
        waiting = iter(zip(job.sessions, job.seeds, strict=True))
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(in_flight):
                    group.create_task(self._worker(endpoint, job, waiting, take, enough))
        except* _Enough:
            pass
        except* Exception as raised:  # noqa: BLE001 - unwraps the group, whatever is in it
            # siblings may fail of one cause at the same time; the first says it all
            raise raised.exceptions[0] from None
        finally:
            await self._workload.close()
            await self._engine.stop()

    async def _worker(
        self,
        endpoint: Endpoint,
        job: ArmJob,
        waiting: Iterator[tuple[int, int]],
        take: Callable[[Exchange], None],
        enough: Callable[[], bool],
    ) -> None:
        for session, seed in waiting:
            key = SessionKey(job.arm.name, job.block, session)
            request = SessionRequest(run=self._run, key=key, seed=seed)
            self.in_flight += 1
            try:
                async for exchange in self._workload.drive(endpoint, request):
                    take(exchange)
            finally:
                self.in_flight -= 1
            if enough():
                raise _Enough
