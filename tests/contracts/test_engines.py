"""Engines of the tree keep to their contract, and the contract finds those that do not."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.contracts.engines import Make, hold_to_contract
from tests.local_engine.processes import running
from workbench import plugins
from workbench.model.plan import Arm, Cluster, Part
from workbench.model.run import Fingerprint
from workbench.ports import Component as Seen
from workbench.ports import Endpoint, Engine, Launch, Sighting, Turn, untouched

ARM = Arm(name="control", settings={})
LOCAL = ("{python}", "-m", "workbench.local_engine.launch")
ENTRY = "workbench.local_engine.entrypoints"
THREE = {
    "decode": {"argv": ["{python}", "-m", f"{ENTRY}.decode_server", "--port", "{port}"]},
    "prefill": {
        "argv": [
            *("{python}", "-m", f"{ENTRY}.prefill_server", "--port", "{port}"),
            *("--disaggregation-decode-url", "http://127.0.0.1:{port:decode}"),
        ]
    },
    "router": {
        "argv": [
            *("{python}", "-m", f"{ENTRY}.router", "--port", "{port}"),
            *("--prefill", "http://127.0.0.1:{port:prefill}"),
            *("--decode", "http://127.0.0.1:{port:decode}"),
        ]
    },
}
DIES = {"server": {"argv": ["{python}", "-c", "import sys; sys.exit('\\x1b[31mno model')", "{port}"]}}


def built(kind: str, **options: Any) -> Make:
    return lambda: plugins.build_engine(Part(kind=kind, options=options))


def held(make: Make, arm: Arm = ARM, *, cannot: Make | None = None, turn: Turn = untouched) -> None:
    asyncio.run(hold_to_contract(make, arm, cannot=cannot, turn=turn))


def test_command(tmp_path: Path) -> None:
    arm = Arm(name="control", settings={"command": "sh -c true"})
    held(
        built("command", cwd=str(tmp_path)), arm, cannot=built("command", argv=["no-such-command-here"])
    )


def test_simulated() -> None:
    held(built("simulated"), cannot=built("simulated", broken=["control"]))


def test_process_of_one_component(tmp_path: Path) -> None:
    argv = [*LOCAL, "--disaggregation-mode", "null", "--port", "{port}"]
    common = {"dialect": "sglang", "cwd": str(tmp_path)}
    make = built("process", components={"engine": {"argv": argv}}, **common)
    held(make, cannot=built("process", components=DIES, **common))


def test_process_of_three_components(tmp_path: Path) -> None:
    common = {"dialect": "sglang", "cwd": str(tmp_path)}
    cannot = {**THREE, "prefill": DIES["server"]}

    def turn(launch: Launch, component: str = "") -> Launch:
        assert component in THREE
        return Launch(argv=launch.argv, env={**launch.env, "SGLANG_DSV4_BF16_INDEX_K": "1"})

    held(
        built("process", components=THREE, **common),
        cannot=built("process", components=cannot, **common),
        turn=turn,
    )


def test_attach(tmp_path: Path) -> None:
    common = {"dialect": "sglang", "cwd": str(tmp_path)}
    with running("--disaggregation-mode", "null") as engine:
        make = built("attach", url=engine.url, **common)
        held(make, cannot=built("attach", url="http://127.0.0.1:9", **common))


class Good(Engine):
    """Starts a process that does nothing."""

    cluster = Cluster.START
    disturbs = True

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.stopped = True

    async def start(self, arm: Arm, turn: Turn = untouched) -> Endpoint:
        await self.stop()
        turn(Launch())
        self.spawn()
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            await self.stop()
            raise
        return Endpoint(arm=arm.name)

    async def fingerprint(self, arm: Arm, turn: Turn = untouched) -> Fingerprint:
        turn(Launch())
        return Fingerprint(arm=arm.name, config={"argv": "sleep"})

    async def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        self.process = None

    async def look(self) -> Sighting | None:
        if self.process is None:
            return None
        return Sighting(components={"": Seen(pid=self.process.pid)})

    def died(self) -> str:
        gone = self.process is not None and self.process.poll() is not None
        return "the process has ended" if gone else ""

    def spawn(self) -> None:
        self.process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])


class StartsToRead(Good):
    async def fingerprint(self, arm: Arm, turn: Turn = untouched) -> Fingerprint:
        self.spawn()
        return await super().fingerprint(arm, turn)


class LeavesItUp(Good):
    async def stop(self) -> None:
        pass


class OfAnotherArm(Good):
    async def start(self, arm: Arm, turn: Turn = untouched) -> Endpoint:
        await super().start(arm, turn)
        return Endpoint(arm="treatment")


class ForgetsTheFirst(Good):
    async def start(self, arm: Arm, turn: Turn = untouched) -> Endpoint:
        turn(Launch())
        self.spawn()
        return Endpoint(arm=arm.name)


class IgnoresKnobs(Good):
    async def start(self, arm: Arm, turn: Turn = untouched) -> Endpoint:
        return await super().start(arm)


class LeftWhenCancelled(Good):
    async def start(self, arm: Arm, turn: Turn = untouched) -> Endpoint:
        await self.stop()
        turn(Launch())
        self.spawn()
        await asyncio.sleep(0)
        return Endpoint(arm=arm.name)


class SeesWhatIsNotThere(Good):
    async def look(self) -> Sighting | None:
        return Sighting(components={"": Seen()})


class StaysDead(Good):
    dead = False

    def died(self) -> str:
        self.dead = self.dead or bool(super().died())
        return "dead" if self.dead else ""


class Drawn(Good):
    async def look(self) -> Sighting | None:
        if self.process is None:
            return None
        there = Seen(pid=self.process.pid, info={"port": str(self.process.pid)})
        return Sighting(components={"": there}, volatile=("*.port",))


class Chatty(Good):
    def died(self) -> str:
        return f"\x1b[31m{super().died()}" if super().died() else ""


BROKEN = [
    (StartsToRead, "starts something"),
    (LeavesItUp, "leaves processes running"),
    (OfAnotherArm, "of arm 'treatment'"),
    (ForgetsTheFirst, "two starts and a stop leaves processes"),
    (IgnoresKnobs, "cannot be started"),
    (LeftWhenCancelled, "was cancelled"),
    (SeesWhatIsNotThere, "something to see before"),
    (StaysDead, "did not die by itself|because the last one died"),
    (Drawn, "differ from one start to the next"),
    (Chatty, "control characters"),
]


def test_a_good_one_passes() -> None:
    held(Good)


@pytest.mark.parametrize(("broken", "why"), BROKEN)
def test_a_broken_one_is_found(broken: type[Good], why: str) -> None:
    made: list[subprocess.Popen[bytes]] = []

    class Watched(broken):  # type: ignore[misc, valid-type]
        def spawn(self) -> None:
            super().spawn()
            made.append(self.process)

    try:
        with pytest.raises(AssertionError, match=why):
            held(Watched)
    finally:
        for process in made:
            process.kill()
            process.wait()
