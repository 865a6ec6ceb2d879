"""Against a real engine, three processes: what it streams is what it says at once."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.local_engine import sessions
from tests.local_engine.processes import running
from workbench.http.client import Client
from workbench.http.reply import Answer, Form, Outcome, Request
from workbench.workloads import records

DEADLINE = 60.0


def chat(session: records.Session, **more: Any) -> dict[str, Any]:
    return {
        "model": "default",
        "messages": records.messages(session, 0),
        "tools": records.tools(session.vocabulary),
        "max_tokens": 64,
        "temperature": 0,
        **more,
    }


async def answers(url: str, requests: list[Request]) -> list[Answer]:
    async with Client() as client:
        replies = await asyncio.gather(*(client.send(request) for request in requests))
    assert [(reply.outcome, reply.last.detail) for reply in replies] == [
        (Outcome.COMPLETED, "") for _ in requests
    ]
    return [reply.answer for reply in replies if reply.answer]


def test_streams_and_whole_answers_are_the_same() -> None:
    known = sessions.draw(3)
    usage = {"stream_options": {"include_usage": True}}
    with running() as engine:
        url = f"{engine.url}/v1/chat/completions"
        bodies = [chat(session, stream=True, **usage) for session in known]
        streamed = asyncio.run(
            answers(url, [Request(url=url, body=body, deadline=DEADLINE) for body in bodies])
        )
        bodies = [chat(session) for session in known]
        whole = asyncio.run(
            answers(
                url, [Request(url=url, body=body, stream=False, deadline=DEADLINE) for body in bodies]
            )
        )
        text = {"text": "ask amber kelp", "sampling_params": {"max_new_tokens": 8, "temperature": 0}}
        both = [
            Request(
                url=f"{engine.url}/generate",
                body={**text, "stream": stream},
                form=Form.GENERATE,
                stream=stream,
                deadline=DEADLINE,
            )
            for stream in (True, False)
        ]
        generated = asyncio.run(answers(url, both))
    for one, other, session in zip(streamed, whole, known, strict=True):
        (choice,), (same,) = one.choices, other.choices
        assert choice.finish_reason == same.finish_reason
        assert choice.content == same.content
        calls = [(call.name, call.arguments) for call in choice.tool_calls]
        assert calls == [(call.name, call.arguments) for call in same.tool_calls]
        message = {
            "content": choice.content,
            "tool_calls": [{"function": {"name": name, "arguments": args}} for name, args in calls],
        }
        judged = records.judge(session, 0, records.Reply.of_message(message))
        assert judged.word is records.Word.OK
        assert one.usage is not None
        assert other.usage is not None
        assert one.usage.prompt == other.usage.prompt
        assert one.usage.completion == other.usage.completion
    first, second = generated
    assert first.choices == second.choices
    assert first.rewound == 0
