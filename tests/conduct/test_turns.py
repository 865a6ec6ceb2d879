"""Sessions under way and requests under way are two numbers: sessions can take turns."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import nullcontext
from dataclasses import replace

import pytest

from tests import simulated
from workbench.conduct import loads
from workbench.conduct.executor import InProcess
from workbench.conduct.knobs import Knobs
from workbench.conduct.meter import Meter
from workbench.engines.simulated import SimulatedEngine, SimulatedEngineOptions
from workbench.model.ids import ExchangeKey
from workbench.model.outcome import Ending, Exchange
from workbench.model.plan import Arm, ArmJob, Part
from workbench.model.run import Fingerprint
from workbench.model.start import Load
from workbench.ports import Endpoint, SessionRequest, Workload

SESSIONS, TURNS = 4, 3


class Turns(Workload):
    """Sessions of some turns; notes which request began when, and how many were under way."""

    def __init__(self) -> None:
        self.began: list[tuple[int, int]] = []
        self.most = self.now = 0

    async def drive(self, endpoint: Endpoint, session: SessionRequest) -> AsyncIterator[Exchange]:
        for turn in range(TURNS):
            self.began.append((session.key.session, turn))
            self.now += 1
            self.most = max(self.most, self.now)
            await asyncio.sleep(0)
            self.now -= 1
            yield Exchange(
                key=ExchangeKey(session.key, turn),
                ending=Ending.COMPLETED,
                seconds=0.0,
                last=turn == TURNS - 1,
            )

    def leftovers(self, run: str) -> int:
        return 0


class Seen:
    """A watch that lets everything pass and keeps the load."""

    load: Load

    async def up(self, arm: Arm, block: int, number: int, ready_seconds: float) -> bool:
        return True

    async def over(self, arm: Arm, meter: Meter, died: str) -> bool:
        self.load = meter.load
        return True


def turned(load: dict[str, int]) -> dict[str, Part]:
    return {
        name: Part(kind="load", options={"field": name, "levels": {"it": value}})
        for name, value in load.items()
    }


def driven(**load: int) -> tuple[Turns, Load]:
    """Drive four sessions, all under way unless a load says otherwise."""
    workload, seen = Turns(), Seen()
    executor = InProcess(
        "run",
        SimulatedEngine(SimulatedEngineOptions()),
        workload,
        Knobs(turned(load)),
        lambda _: nullcontext(),
    )
    job = ArmJob(
        arm=Arm(name="control", settings=dict.fromkeys(load, "it")),
        block=1,
        sessions=tuple(range(SESSIONS)),
        seeds=tuple(range(SESSIONS)),
        in_flight=SESSIONS,
    )
    asyncio.run(executor.execute(job, lambda _: None, lambda: False, seen))
    return workload, seen.load


@pytest.mark.parametrize(
    ("load", "most"), [({}, SESSIONS), ({"requests": 2}, 2), ({"requests": 60}, SESSIONS)]
)
def test_so_many_requests_are_under_way_at_once(load: dict[str, int], most: int) -> None:
    workload, found = driven(**load)
    assert workload.most == most
    assert (found.asked, found.client_peak) == (most, most)
    assert (found.sessions, found.exchanges) == (SESSIONS, SESSIONS * TURNS)


def test_with_one_request_all_sessions_take_turns() -> None:
    """So each session has to wait until all others have come by, and caches forget it meanwhile."""
    workload, _ = driven(requests=1)
    assert workload.most == 1
    assert workload.began == [(session, turn) for turn in range(TURNS) for session in range(SESSIONS)]


@pytest.mark.parametrize(
    ("load", "in_flight"),
    [({}, 4), ({"in_flight": 2}, 2), ({"requests": 1}, 1), ({"in_flight": 2, "requests": 3}, 2)],
)
def test_in_flight_is_what_a_server_sees(load: dict[str, int], in_flight: int) -> None:
    """By the plan as by what was read back: a condition on it means the same before and after a run."""
    arm = Arm(name="control", settings=dict.fromkeys(load, "it"))
    plan = replace(simulated.plan(0.1, 0.0, in_flight=4), knobs=turned(load))
    found = Fingerprint(arm="control", config=Knobs(plan.knobs).beside_in_words(arm), files={})
    assert loads.of_plan(plan, arm)["in_flight"] == in_flight
    assert loads.of_run(plan, found) == loads.of_plan(plan, arm)


def test_with_one_session_each_is_done_before_the_next_begins() -> None:
    workload, found = driven(in_flight=1)
    assert workload.most == found.asked == 1
    assert workload.began == [(session, turn) for session in range(SESSIONS) for turn in range(TURNS)]
