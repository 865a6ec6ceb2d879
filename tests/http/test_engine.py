"""Against a real engine, three processes: what it streams is what it says at once."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from tests.local_engine import sessions
from tests.local_engine.processes import running
from workbench.http.client import Client
from workbench.http.reply import Answer, Form, Outcome, Reply, Request
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


async def replies(requests: list[Request]) -> list[Reply]:
    async with Client() as client:
        got = await asyncio.gather(*(client.send(request) for request in requests))
    ended = [(reply.outcome, reply.last.detail) for reply in got]
    assert ended == [(Outcome.COMPLETED, "") for _ in requests]
    return got


def answers(requests: list[Request]) -> list[Answer]:
    return [reply.answer for reply in asyncio.run(replies(requests)) if reply.answer]


def said(reply: Reply) -> str:
    """Give the text of `/generate`, from the last JSON of the raw body."""
    *_, last = (line for line in reply.last.body.decode().split("\n") if "meta_info" in line)
    text: str = json.loads(last.removeprefix("data: "))["text"]
    return text


def test_streams_and_whole_answers_are_the_same() -> None:
    known = sessions.draw(3)
    usage = {"stream_options": {"include_usage": True}}
    with running() as engine:
        url = f"{engine.url}/v1/chat/completions"
        bodies = [chat(session, stream=True, **usage) for session in known]
        streamed = answers([Request(url=url, body=body, deadline=DEADLINE) for body in bodies])
        bodies = [chat(session) for session in known]
        asked = [Request(url=url, body=body, stream=False, deadline=DEADLINE) for body in bodies]
        whole = answers(asked)
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
        generated = asyncio.run(replies(both))
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
    for reply in generated:  # on its own each: what is sampled may depend on the batch
        assert reply.answer is not None
        assert [choice.content for choice in reply.answer.choices] == [said(reply)]
        assert (reply.answer.rewound, reply.answer.choices[0].finish_reason) == (0, "length")
        assert reply.answer.usage is not None
        assert reply.answer.usage.completion == 8
