"""The contract of an engine: hold yours against it in a test of your own.

    def test_mine() -> None:
        make = lambda: Mine(Mine.Options(...), dialect)
        asyncio.run(hold_to_contract(make, Arm(name="control", settings={})))

It starts the arm some ten times, and kills what it has started, if the engine says that it starts
anything (`disturbs`). It fails with what was broken.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Awaitable, Callable
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from workbench.errors import ArmCouldNotStart, EngineError
from workbench.model.plan import Arm, Cluster
from workbench.ports import Endpoint, Engine, Launch, Sighting, Traffic, Turn, untouched

PATIENCE = 60.0  # seconds until what does not happen has not happened
SPINS = (0, 1, 4, 16, 64, 256)  # turns of the event loop after which a start is cancelled
Make = Callable[[], Engine]


async def hold_to_contract(
    make: Make, arm: Arm, *, turn: Turn = untouched, cannot: Make | None = None
) -> None:
    """Hold an engine to its contract.

    Args:
        make: Builds one, always of the same options.
        arm: An arm that can be started.
        turn: What its knobs make of a launch.
        cannot: Builds one on which that arm cannot be started, if there is such a case.

    Raises:
        AssertionError: It does not keep to it.
    """
    before = await _before_a_start(make(), arm, turn)
    pids = await _a_start(make(), arm, turn, before)
    await _started_twice(make(), arm, turn)
    await _started_anew(make(), arm, turn)
    await _refused_by_a_knob(make(), arm)
    for spins in SPINS:
        await _cancelled(make(), arm, turn, spins)
    if pids and make().disturbs:
        await _killed(make(), arm, turn)
    if cannot is not None:
        await _cannot_start(cannot(), arm, turn)


async def _before_a_start(engine: Engine, arm: Arm, turn: Turn) -> tuple[object, object]:
    assert isinstance(engine, Engine), "start, fingerprint, stop and what else a port names are needed"
    assert isinstance(engine.cluster, Cluster), "cluster says what the sessions of a start share"
    assert "\0" not in engine.lease, "lease is a text without NUL bytes"
    there = _family()
    assert engine.died() == "", "it died before it was started"
    assert await engine.look() is None, "there is something to see before a start"
    await engine.stop()
    first = await engine.fingerprint(arm, turn)
    again = await engine.fingerprint(arm, turn)
    assert first.arm == arm.name, f"the fingerprint is of arm {first.arm!r}"
    assert first.start is None, "a fingerprint without a start has none"
    texts = [*first.config.items(), *first.files.items(), *first.volatile.items()]
    assert all(isinstance(text, str) for pair in texts for text in pair), "a fingerprint holds texts"
    same = (first.config, first.files) == (again.config, again.files)
    assert same, "two readings of what has not changed differ"
    assert _family() == there, "to read back what an arm would run starts something"
    assert engine.died() == "", "it died though it was never started"
    return first.config, first.files


async def _a_start(
    engine: Engine, arm: Arm, turn: Turn, before: tuple[object, object]
) -> list[psutil.Process]:
    there = _family()
    try:
        await _answers(await engine.start(arm, turn), arm, engine)
        assert engine.died() == "", "it died though it has just been started"
        seen = await engine.look()
        processes = _seen(seen) if seen is not None else []
        assert isinstance(await engine.traffic(), Traffic), "traffic is counted as `Traffic`"
        assert isinstance(await engine.flush(), bool), "flush says whether caches were emptied"
        after = await engine.fingerprint(arm, turn)
        assert (after.config, after.files) == before, "a start changes what the arm is read back as"
    finally:
        await engine.stop()
    await _nothing_left(there, "stop")
    running = [process for process in processes if process.is_running()]
    if engine.disturbs:
        assert not running, f"stop leaves {running} running"
    else:
        assert running == processes, "it says that it disturbs nothing, and stop ends a process"
    assert await engine.look() is None, "there is something to see after stop"
    assert engine.died() == "", "what was stopped did not die by itself"
    await engine.stop()
    return processes


async def _answers(endpoint: Endpoint, arm: Arm, engine: Engine) -> None:
    assert endpoint.arm == arm.name, f"the endpoint is of arm {endpoint.arm!r}"
    if endpoint.url:
        parts = urlsplit(endpoint.url)
        try:
            _, writer = await asyncio.open_connection(parts.hostname, parts.port)
        except OSError as error:
            raise AssertionError(f"nothing answers at {endpoint.url} after a start: {error}") from error
        writer.close()
        await writer.wait_closed()
    elif endpoint.argv:
        assert shutil.which(endpoint.argv[0], path=""), f"{endpoint.argv[0]} cannot be executed"
    else:
        assert not engine.speaks, "the endpoint of an engine that speaks has a URL"


def _seen(seen: Sighting) -> list[psutil.Process]:
    assert seen.components, "a sighting without components is none"
    processes = []
    for name, component in seen.components.items():
        texts = [text for pair in component.info.items() for text in pair]
        assert all(isinstance(text, str) for text in texts), f"info of {name!r} holds more than texts"
        if component.log:
            size = Path(component.log).stat().st_size
            assert 0 <= component.log_from <= size, f"the start of {name!r} is not in its log"
        assert (component.newest is None) == (not component.files), f"files of {name!r} have no time"
        if component.pid is not None:
            assert psutil.pid_exists(component.pid), (
                f"{name!r} is said to be {component.pid}, not there"
            )
            process = psutil.Process(component.pid)
            if component.started is not None:
                assert process.create_time() == component.started, f"{name!r} is another process"
            processes.append(process)
    return processes


async def _started_twice(engine: Engine, arm: Arm, turn: Turn) -> None:
    there = _family()
    try:
        await engine.start(arm, turn)
        with suppress(EngineError):
            await engine.start(arm, turn)
            assert engine.died() == "", "a second start ends the first one and takes that for a death"
    finally:
        await engine.stop()
    await _nothing_left(there, "two starts and a stop")


async def _started_anew(engine: Engine, arm: Arm, turn: Turn) -> None:
    steady = []
    for _ in range(2):
        try:
            await engine.start(arm, turn)
            seen = await engine.look()
            steady.append(_steady(seen) if seen is not None else {})
        finally:
            await engine.stop()
    first, again = steady
    moved = [key for key in {*first, *again} if first.get(key) != again.get(key)]
    assert not moved, f"{moved} differ from one start to the next, and volatile has no such key"


def _steady(seen: Sighting) -> dict[tuple[str, str], str]:
    """Give what is told of all components and must be the same in each start of an arm."""
    return {
        (name, key): value
        for name, component in seen.components.items()
        for key, value in {**component.info, **component.files}.items()
        if not any(fnmatchcase(key, pattern) for pattern in seen.volatile)
    }


async def _refused_by_a_knob(engine: Engine, arm: Arm) -> None:
    there = _family()

    def refuse(launch: Launch, component: str = "") -> Launch:
        raise ArmCouldNotStart(arm.name, "a knob cannot be turned")

    for what in (engine.start, engine.fingerprint):
        await _refuses(what(arm, refuse), arm, "a knob cannot be turned")
    await _nothing_left(there, "a start that a knob refused")
    assert engine.died() == "", "what a knob refused did not die"


async def _cancelled(engine: Engine, arm: Arm, turn: Turn, spins: int) -> None:
    there = _family()
    starting = asyncio.create_task(_start(engine, arm, turn))
    for _ in range(spins):
        await asyncio.sleep(0)
    starting.cancel()
    await asyncio.wait([starting])
    if starting.cancelled() and engine.disturbs:
        await _nothing_left(there, f"a start that was cancelled after {spins} turns of the loop")
        assert await engine.look() is None, "there is something to see after a cancelled start"
    await engine.stop()
    await _nothing_left(there, "a cancelled start and a stop")


async def _killed(engine: Engine, arm: Arm, turn: Turn) -> None:
    there = _family()
    try:
        await engine.start(arm, turn)
        seen = await engine.look()
        assert seen is not None
        _seen(seen)[0].kill()
        async with asyncio.timeout(PATIENCE):
            while not (told := engine.died()):  # noqa: ASYNC110 - a port has no event for it
                await asyncio.sleep(0.01)
        assert told.isprintable(), f"how it died is one line without control characters, not {told!r}"
        assert engine.died(), "it forgets that it died"
    finally:
        await engine.stop()
    await _nothing_left(there, "a death and a stop")
    try:
        await _answers(await engine.start(arm, turn), arm, engine)
        assert engine.died() == "", "a new start is taken for dead because the last one died"
    finally:
        await engine.stop()


async def _cannot_start(engine: Engine, arm: Arm, turn: Turn) -> None:
    there = _family()
    await _refuses(_start(engine, arm, turn), arm, "")
    await _nothing_left(there, "a start that failed")
    assert await engine.look() is None, "there is something to see after a start that failed"
    assert engine.died() == "", "what never started did not die"
    await engine.stop()


async def _refuses(doing: Awaitable[object], arm: Arm, why: str) -> None:
    try:
        await doing
    except ArmCouldNotStart as raised:
        error = raised
    else:
        raise AssertionError("it starts an arm that cannot be started")
    assert error.arm == arm.name, f"the arm that could not start is said to be {error.arm!r}"
    assert why in error.what, f"the cause {why!r} is lost: {error.what!r}"
    told = f"{error.what}{error.hint}"
    assert told.isprintable(), f"why is one line without control characters, not {told!r}"


async def _start(engine: Engine, arm: Arm, turn: Turn) -> Endpoint:
    return await engine.start(arm, turn)


async def _nothing_left(there: set[psutil.Process], after: str) -> None:
    """Prove that no process descends from here that was not there before."""
    left = _family() - there
    assert not left, f"{after} leaves processes running: {left}"


def _family() -> set[psutil.Process]:
    """Give all living processes that descend from this one."""
    living = set()
    for process in psutil.Process(os.getpid()).children(recursive=True):
        with suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE:
                living.add(process)
    return living
