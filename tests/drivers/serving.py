"""Workloads driven against a server over raw sockets, for the tests of drivers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.http.doubles import DONE, PATIENCE, Answer, delta, head, says, serving
from workbench import plugins
from workbench.model.ids import SessionKey
from workbench.model.outcome import Exchange
from workbench.model.plan import Part
from workbench.ports import Endpoint, SessionRequest, Workload

PATH = "/v1/chat/completions"
HELLO = says(head(), delta("hello"), delta("", "stop"), DONE)
"""Answers `hello`, and closes the connection."""


@dataclass(frozen=True, kw_only=True)
class Driven:
    """What was sent in one or several sessions, and the exchanges they made.

    Attributes:
        exchanges: Of all sessions, one after another.
        requests: Heads and bodies, in the order in which they came.
    """

    exchanges: list[Exchange] = field(default_factory=list)
    requests: list[tuple[str, bytes]] = field(default_factory=list)

    @property
    def bodies(self) -> list[Any]:
        return [json.loads(body) for _, body in self.requests]


def request(session: int = 0, *, arm: str = "control", block: int = 1, seed: int = 7) -> SessionRequest:
    return SessionRequest(run="some-run", key=SessionKey(arm, block, session), seed=seed)


def build(kind: str, **options: Any) -> Workload:
    workload: Workload = plugins.build(plugins.Group.WORKLOAD, Part(kind=kind, options=options))
    return workload


async def all_of(workload: Workload, endpoint: Endpoint, session: SessionRequest) -> list[Exchange]:
    return [exchange async for exchange in workload.drive(endpoint, session)]


def drive(
    workload: Workload,
    *answers: Answer,
    sessions: Sequence[SessionRequest] = (request(),),
    fields: Mapping[str, Any] | None = None,
    load: Mapping[str, Any] | None = None,
) -> Driven:
    """Drive sessions one after another against a server that gives these answers in turn."""

    async def go() -> Driven:
        async with asyncio.timeout(PATIENCE), serving(*(answers or (HELLO,))) as server:
            endpoint = Endpoint(
                arm="control",
                url=server.url.removesuffix(PATH),
                request=fields or {},
                load=load or {},
            )
            try:
                exchanges = [
                    exchange
                    for session in sessions
                    for exchange in await all_of(workload, endpoint, session)
                ]
            finally:
                await workload.close()
            return Driven(exchanges=exchanges, requests=server.requests)

    return asyncio.run(go())
