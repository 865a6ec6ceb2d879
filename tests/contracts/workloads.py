"""The contract of a workload: hold yours against it in a test of your own.

    def test_mine() -> None:
        hold_to_contract(lambda: Mine(Mine.Options(...)))

It drives the workload against a server over raw sockets that records every byte, and fails with what is
broken. A workload that executes commands is given one that it can execute.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import psutil

from tests.http.doubles import (
    CHUNKED,
    DONE,
    PATIENCE,
    Answer,
    chunk,
    delta,
    head,
    says,
    serving,
    stays,
)
from workbench.model.ids import SessionKey
from workbench.model.outcome import Ending, Exchange
from workbench.ports import Endpoint, SessionRequest, Workload

Make = Callable[[], Workload]
RUN = "20261129T151200Z-contract"
PATH = "/v1/chat/completions"
SESSIONS = (0, 1, 7)
FINE = says(head(CHUNKED), chunk(delta("fine", "stop") + DONE), b"0\r\n\r\n", close=False)
BROKEN = says(head(CHUNKED), chunk(delta("fi")), broken=True)


@dataclass(frozen=True, kw_only=True)
class Target:
    """What a workload is driven at.

    Attributes:
        endpoint: From the URL of a server that answers.
        dead: The same with nobody there.
        waits: The same as `endpoint` where nothing ever ends; None for what does not wait for anything.
        sends: Whether it sends requests at all.
    """

    endpoint: Callable[[str], Endpoint]
    dead: Endpoint
    waits: Callable[[str], Endpoint] | None
    sends: bool


SERVER = Target(
    endpoint=lambda url: Endpoint(arm="control", url=url),
    dead=Endpoint(arm="control", url="http://127.0.0.1:1"),
    waits=lambda url: Endpoint(arm="control", url=url),
    sends=True,
)


def hold_to_contract(make: Make, target: Target = SERVER) -> None:
    """Hold a workload to its contract.

    Args:
        make: Builds it anew, with the same options each time.
        target: What it is driven at.

    Raises:
        AssertionError: It does not keep to it.
    """
    assert isinstance(make(), Workload), "drive, leftovers and close are needed"
    for check in (_numbers_its_turns, _says_the_same, _survives_the_dead, _leaves, _closes):
        asyncio.run(_within_patience(check(make, target)))


async def _within_patience(check: object) -> None:
    async with asyncio.timeout(PATIENCE):
        await check  # type: ignore[misc]


def _request(session: int, *, seed: int = 11, block: int = 1) -> SessionRequest:
    return SessionRequest(run=RUN, key=SessionKey("control", block, session), seed=seed)


async def _drive(workload: Workload, endpoint: Endpoint, session: SessionRequest) -> list[Exchange]:
    return [exchange async for exchange in workload.drive(endpoint, session)]


def _check_session(exchanges: list[Exchange], session: SessionRequest) -> None:
    assert exchanges, "a session made no exchange"
    turns = [exchange.key.turn for exchange in exchanges]
    assert turns == list(range(len(turns))), f"turns are not numbered from 0 on: {turns}"
    assert all(exchange.key.session == session.key for exchange in exchanges), "it is another session's"
    last = [exchange.last for exchange in exchanges]
    assert last == [False] * (len(last) - 1) + [True], f"one exchange is the last, the last: {last}"
    for exchange in exchanges:
        assert exchange.seconds >= 0, "it took less than no time"
        assert "\n" not in exchange.detail, "a detail is one line"


async def _recorded(
    make: Make, target: Target, answer: Answer = FINE, seed: int = 11
) -> tuple[list[list[Exchange]], list[bytes]]:
    """Drive some sessions one after another; give their exchanges, and the bodies that were sent."""
    workload = make()
    async with serving(answer) as server:
        endpoint = target.endpoint(server.url.removesuffix(PATH))
        sessions = []
        try:
            for number in SESSIONS:
                request = _request(number, seed=seed + number)
                sessions.append(await _drive(workload, endpoint, request))
                _check_session(sessions[-1], request)
        finally:
            await workload.close()
        return sessions, [body for _, body in server.requests]


async def _numbers_its_turns(make: Make, target: Target) -> None:
    sessions, bodies = await _recorded(make, target)
    assert bool(bodies) == target.sends, f"{len(bodies)} requests were sent"
    if target.sends:
        assert len(bodies) == sum(map(len, sessions)), "an exchange is one request"


async def _says_the_same(make: Make, target: Target) -> None:
    _, first = await _recorded(make, target)
    _, again = await _recorded(make, target)
    assert first == again, "the same sessions and seeds sent other bytes"


async def _survives_the_dead(make: Make, target: Target) -> None:
    workload = make()
    try:
        exchanges = await _drive(workload, target.dead, _request(0))
    except Exception as error:
        raise AssertionError(f"it raises {error!r} when nobody is there") from error
    finally:
        await workload.close()
    _check_session(exchanges, _request(0))
    if target.sends:
        assert [each.ending for each in exchanges] == [Ending.REFUSED], "what followed a bad ending?"
        (cut, *rest), _ = await _recorded(make, target, BROKEN)
        assert [each.ending for each in cut] == [Ending.RESET], "what followed a bad ending?"
        assert len(rest) == len(SESSIONS) - 1


async def _leaves(make: Make, target: Target) -> None:
    """Cancelling ends what a session has begun: its connection, its processes."""
    if target.waits is None:
        return
    workload = make()
    before = set(psutil.Process().children(recursive=True))
    async with serving(stays(head(CHUNKED), chunk(delta("fi")))) as server:
        endpoint = target.waits(server.url.removesuffix(PATH))
        session = asyncio.create_task(_drive(workload, endpoint, _request(0)))
        await server.arrived.wait()
        session.cancel()
        await asyncio.wait([session])
        assert session.cancelled(), "a cancelled session went on"
        await server.left.wait()
        await workload.close()
    await asyncio.sleep(0)
    after = set(psutil.Process().children(recursive=True))
    assert after <= before, f"processes are left: {after - before}"
    assert workload.leftovers(RUN) == 0, "something is left"


async def _closes(make: Make, target: Target) -> None:
    """Closing twice, and before anything was sent, is fine; and what is closed can be used again."""
    workload = make()
    await workload.close()
    await workload.close()
    async with serving(FINE) as server:
        endpoint = target.endpoint(server.url.removesuffix(PATH))
        for _ in range(2):
            _check_session(await _drive(workload, endpoint, _request(0)), _request(0))
            await workload.close()
            await workload.close()
