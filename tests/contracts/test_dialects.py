"""Dialects of the tree keep to their contract, and the contract finds those that do not."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from tests.contracts.dialects import hold_against_nonsense, hold_to_contract
from tests.drivers.pages import LLAMACPP, pages
from tests.local_engine.processes import running
from workbench import plugins
from workbench.errors import EngineError
from workbench.http.client import Client
from workbench.http.reply import Form, Outcome, Request
from workbench.model.plan import Part
from workbench.ports import Dialect, Traffic

NAMES = plugins.names(plugins.Group.DIALECT)


def dialect(name: str, **options: object) -> Dialect:
    built: Dialect = plugins.build(plugins.Group.DIALECT, Part(kind=name, options=options))
    return built


@pytest.mark.parametrize("name", NAMES)
def test_against_nonsense(name: str) -> None:
    asyncio.run(hold_against_nonsense(dialect(name, deadline=0.5)))


def test_against_the_local_engine() -> None:
    with running() as engine:
        for name in ("openai", "sglang"):
            asyncio.run(hold_to_contract(dialect(name), engine.url))


def test_what_was_sent_to_the_local_engine_is_counted() -> None:
    body = {"text": "ask amber kelp", "sampling_params": {"max_new_tokens": 4}}

    async def send(url: str) -> Traffic:
        async with Client() as client:
            request = Request(url=f"{url}/generate", body=body, form=Form.GENERATE, stream=False)
            replies = await asyncio.gather(*(client.send(request) for _ in range(5)))
        assert {reply.outcome for reply in replies} == {Outcome.COMPLETED}
        return await dialect("sglang").traffic(url)

    with running() as engine:
        told = asyncio.run(send(engine.url))
    assert told.served == 5.0
    assert told.peak is not None
    assert 1.0 <= told.peak <= 5.0
    assert told.metrics["peak_in_flight"] == told.peak


def test_against_the_pages_of_llamacpp() -> None:
    async def hold() -> None:
        async with pages(LLAMACPP) as url:
            await hold_to_contract(dialect("llamacpp"), url)

    asyncio.run(hold())


class Good(Dialect):
    """Asks nobody, and says so."""

    health = "/health"
    volatile: tuple[str, ...] = ()

    async def ready(self, url: str) -> bool:
        return False

    async def info(self, url: str) -> Mapping[str, str]:
        raise EngineError("nobody was asked")

    async def traffic(self, url: str) -> Traffic:
        return Traffic()

    async def flush(self, url: str) -> bool:
        return False


class Raises(Good):
    async def flush(self, url: str) -> bool:
        raise KeyError(url)


class Shows(Good):
    async def info(self, url: str) -> Mapping[str, str]:
        raise EngineError("\x1b[31m")


class Counts(Good):
    async def traffic(self, url: str) -> Traffic:
        return Traffic(in_flight=float("nan"))


def test_a_good_one_passes() -> None:
    asyncio.run(hold_against_nonsense(Good()))


@pytest.mark.parametrize(
    ("broken", "why"),
    [(Raises, "raises KeyError"), (Shows, "more than a line"), (Counts, "no numbers")],
)
def test_a_broken_one_is_found(broken: type[Good], why: str) -> None:
    with pytest.raises(ExceptionGroup) as raised:
        asyncio.run(hold_against_nonsense(broken()))
    assert all(why in str(each) for each in raised.value.exceptions)
