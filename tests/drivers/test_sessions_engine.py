"""Sessions against a real engine, three processes: it answers rightly, and is told right from wrong."""

from __future__ import annotations

import asyncio

from tests.drivers.serving import all_of, request
from tests.local_engine.processes import running
from workbench.classifiers.tool_call import ToolCall, ToolCallOptions
from workbench.model.outcome import Ending, Exchange
from workbench.ports import Endpoint
from workbench.workloads.sessions import SessionsOptions, SessionsWorkload

OPTIONS = SessionsOptions(
    turns=3,
    context={"start": 480, "grow": 240},
    body={"temperature": 0, "max_tokens": 64},
    timeout=60.0,
)


async def driven(url: str, sessions: int) -> list[list[Exchange]]:
    workload = SessionsWorkload(OPTIONS)
    endpoint = Endpoint(arm="control", url=url)
    try:
        return await asyncio.gather(
            *(all_of(workload, endpoint, request(number, seed=number)) for number in range(sessions))
        )
    finally:
        await workload.close()


def test_every_turn_is_answered_rightly_and_counted() -> None:
    with running() as engine:
        sessions = asyncio.run(driven(engine.url, 4))
    classifier = ToolCall(ToolCallOptions(family="deepseek_v4", call="required"))
    for exchanges in sessions:
        assert [each.ending for each in exchanges] == [Ending.COMPLETED] * 3
        assert [classifier.label(each).word for each in exchanges] == ["ok"] * 3
        prompts = [each.prompt_tokens or 0 for each in exchanges]
        assert prompts == sorted(set(prompts))  # contexts grow
        assert all(each.first_seconds for each in exchanges)
        assert all(each.finish == "tool_calls" for each in exchanges)
