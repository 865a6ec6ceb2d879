"""Workloads of the tree keep to their contract, and the contract finds those that do not."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.contracts.workloads import SERVER, Target, hold_to_contract
from workbench import plugins
from workbench.model.outcome import Ending, Exchange
from workbench.model.plan import Part
from workbench.ports import Endpoint, SessionRequest, Workload
from workbench.workloads.single import SingleOptions, SingleWorkload

BODIES = str(ROOT / "tests" / "drivers" / "bodies.jsonl")
FETCH = "exec 3<>/dev/tcp/$1; printf 'GET / HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3 >/dev/null"


def executing(*argv: str) -> Endpoint:
    return Endpoint(arm="control", argv=argv)


COMMAND = Target(
    endpoint=lambda url: executing("sh", "-c", "echo $WORKBENCH_SEED"),
    dead=executing("sh", "-c", "kill -SEGV $$"),
    waits=lambda url: executing("bash", "-c", FETCH, "-", slashed(url)),
    sends=False,
)


def slashed(url: str) -> str:
    """Write host and port as bash opens them."""
    return url.removeprefix("http://").replace(":", "/")


SIMULATED = replace(
    SERVER,
    endpoint=lambda url: Endpoint(arm="control"),
    dead=Endpoint(arm="control"),
    waits=None,
    sends=False,
)
TREE: Mapping[str, tuple[Target, list[Mapping[str, Any]]]] = {
    "command": (COMMAND, [{}]),
    "replay": (SERVER, [{"file": BODIES}, {"file": BODIES, "retries": 1, "model": "m"}]),
    "sessions": (
        SERVER,
        [
            {"turns": 3, "context": {"start": 240, "grow": 96}},
            {"turns": 1, "style": "english", "tools": False, "context": {"start": 48}},
        ],
    ),
    "simulated": (SIMULATED, [{"rates": {"control": 0.5}, "timeouts": {"control": 0.2}}]),
    "single": (SERVER, [{"prompt": "{seed} of {session}"}, {"messages": [{}], "headers": {"a": "b"}}]),
}
CASES = [
    pytest.param(Part(kind=kind, options=options), target, id=f"{kind}-{place}")
    for kind, (target, every) in TREE.items()
    for place, options in enumerate(every)
]


def test_all_of_the_tree_are_held_to_it() -> None:
    assert list(TREE) == plugins.names(plugins.Group.WORKLOAD)


@pytest.mark.parametrize(("part", "target"), CASES)
def test_those_of_the_tree_keep_to_it(part: Part, target: Target) -> None:
    hold_to_contract(lambda: plugins.build(plugins.Group.WORKLOAD, part), target)


class Good(SingleWorkload):
    """One of ours, with a place to break it at."""

    def __init__(self) -> None:
        super().__init__(SingleOptions(prompt="{seed}"))

    def spoil(self, exchange: Exchange) -> Exchange:
        return exchange

    async def drive(self, endpoint: Endpoint, session: SessionRequest) -> AsyncIterator[Exchange]:
        async for exchange in super().drive(endpoint, session):
            yield self.spoil(exchange)


class NeverLast(Good):
    def spoil(self, exchange: Exchange) -> Exchange:
        return replace(exchange, last=False)


class FromOne(Good):
    def spoil(self, exchange: Exchange) -> Exchange:
        return replace(exchange, key=replace(exchange.key, turn=1))


class Elsewhere(Good):
    def spoil(self, exchange: Exchange) -> Exchange:
        return replace(
            exchange, key=replace(exchange.key, session=replace(exchange.key.session, block=3))
        )


class Raises(Good):
    def spoil(self, exchange: Exchange) -> Exchange:
        if exchange.ending is Ending.REFUSED:
            raise OSError(exchange.detail)
        return exchange


class GoesOn(Good):
    """Sends on after what did not come to its end."""

    async def drive(self, endpoint: Endpoint, session: SessionRequest) -> AsyncIterator[Exchange]:
        (first,) = [exchange async for exchange in super().drive(endpoint, session)]
        if first.ending is Ending.COMPLETED:
            yield first
            return
        yield replace(first, last=False)
        yield replace(first, key=replace(first.key, turn=1))


class Forgets(Good):
    """Says something else each time."""

    _sent = 0

    def asks(self, options: SingleOptions, session: SessionRequest) -> Any:
        Forgets._sent += 1
        return super().asks(options, replace(session, seed=Forgets._sent))


class Silent(Good):
    async def drive(self, endpoint: Endpoint, session: SessionRequest) -> AsyncIterator[Exchange]:
        return
        yield


class ClosesOnce(Good):
    _closed = False

    async def close(self) -> None:
        assert not self._closed, "closed twice"
        self._closed = True
        await super().close()


def test_a_good_one_passes() -> None:
    hold_to_contract(Good)


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (NeverLast, "the last"),
        (FromOne, "not numbered from 0"),
        (Elsewhere, "another session's"),
        (Raises, "it raises"),
        (GoesOn, "what followed"),
        (Forgets, "other bytes"),
        (Silent, "no exchange"),
        (ClosesOnce, "closed twice"),
    ],
)
def test_a_broken_one_is_found(broken: type[Workload], why: str) -> None:
    with pytest.raises(AssertionError, match=why):
        hold_to_contract(broken)
