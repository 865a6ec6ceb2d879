"""One client process of the load bench: C workers, N streamed requests; one JSON line of what it cost.

The bare client does the least that a client can do: aiohttp, lines, `json.loads`, the text joined. It
has no limits, no digests, no stamps, and takes a stream that was cut for one that ended.

Usage: python -m tests.bench.load.drivers ours|bare URL REQUESTS WORKERS
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from collections.abc import Awaitable, Callable

import aiohttp

from tests.bench.load.mock_engine import CLEAN
from workbench.http.client import Client
from workbench.http.reply import Outcome, Request

BODY = {"model": "mock", "stream": True, "messages": [{"role": "user", "content": "x" * 400}]}
Ask = Callable[[], Awaitable[str]]


async def drive(ask: Ask, requests: int, workers: int) -> int:
    """Send so many requests with so many in flight; give how many replies were not the right one."""
    waiting = iter(range(requests))
    wrong = 0

    async def worker() -> None:
        nonlocal wrong
        for _ in waiting:
            text = await ask()  # on a line of its own: `wrong += await ...` would read `wrong` first
            wrong += text.rstrip(" ") != CLEAN

    async with asyncio.TaskGroup() as group:
        for _ in range(workers):
            group.create_task(worker())
    return wrong


async def measured(ask: Ask, url: str, requests: int, workers: int) -> None:
    await drive(ask, workers, workers)  # every connection is open
    async with aiohttp.ClientSession() as session:
        await session.get(url + "/reset")
        before, began = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
        wrong = await drive(ask, requests, workers)
        seconds, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_SELF)
        stats = json.loads(await (await session.get(url + "/stats")).read())
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps({"rate": requests / seconds, "cpu": cpu / requests, "wrong": wrong, **stats}))


async def ours(url: str, requests: int, workers: int) -> None:
    request = Request(url=url + "/v1/chat/completions", body=BODY)
    async with Client() as client:

        async def ask() -> str:
            reply = await client.send(request)
            assert reply.outcome is Outcome.COMPLETED, reply.last.detail
            assert reply.answer is not None
            return reply.answer.choices[0].content

        await measured(ask, url, requests, workers)


async def bare(url: str, requests: int, workers: int) -> None:
    connector = aiohttp.TCPConnector(limit=workers)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def ask() -> str:
            parts = []
            async with session.post(url + "/v1/chat/completions", json=BODY) as response:
                async for line in response.content:
                    if line.startswith(b"data: ") and not line.startswith(b"data: [DONE]"):
                        delta = json.loads(line[6:])["choices"][0]["delta"]
                        parts.append(delta.get("content") or "")
            return "".join(parts)

        await measured(ask, url, requests, workers)


if __name__ == "__main__":
    _, name, url_, requests_, workers_ = sys.argv
    asyncio.run({"ours": ours, "bare": bare}[name](url_, int(requests_), int(workers_)))
