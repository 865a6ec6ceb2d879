"""One client process of the load bench: C at a time, N streamed requests; one JSON line of its cost.

    bare      the least that a client can do: aiohttp, lines, `json.loads`, the text joined. It has no
              limits, no digests, no stamps, and takes a stream that was cut for one that ended
    client    `workbench.http` alone
    single    a whole run of the workload, each reply labelled and on disk; `replay` likewise

Usage: python -m tests.bench.load.drivers bare|client|single|replay URL REQUESTS WORKERS
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import aiohttp

from tests.bench.load import product
from tests.bench.load.mock_engine import CLEAN
from workbench.http.client import Client
from workbench.http.reply import Outcome, Request

PATH = "/v1/chat/completions"
BODY = {"model": "mock", "stream": True, "messages": product.MESSAGES}
Ask = Callable[[], Awaitable[str]]
Drive = Callable[[int], Awaitable[int]]


def asking(ask: Ask, workers: int) -> Drive:
    """Give what sends so many requests and says how many replies were not the right one."""

    async def drive(requests: int) -> int:
        waiting = iter(range(requests))
        wrong = 0

        async def worker() -> None:
            nonlocal wrong
            for _ in waiting:
                text = await ask()  # on a line of its own: `wrong += await` would read `wrong` first
                wrong += text.rstrip(" ") != CLEAN

        async with asyncio.TaskGroup() as group:
            for _ in range(workers):
                group.create_task(worker())
        return wrong

    return drive


async def measured(drive: Drive, url: str, requests: int, workers: int) -> None:
    await drive(workers)  # all that is loaded once is loaded
    async with aiohttp.ClientSession() as session:
        await session.get(url + "/reset")
        before, began = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
        wrong = await drive(requests)
        seconds, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_SELF)
        stats = json.loads(await (await session.get(url + "/stats")).read())
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps({"rate": requests / seconds, "cpu": cpu / requests, "wrong": wrong, **stats}))


async def client(url: str, requests: int, workers: int) -> None:
    request = Request(url=url + PATH, body=BODY)
    async with Client() as client:

        async def ask() -> str:
            reply = await client.send(request)
            assert reply.outcome is Outcome.COMPLETED, reply.last.detail
            assert reply.answer is not None
            return reply.answer.choices[0].content

        await measured(asking(ask, workers), url, requests, workers)


async def bare(url: str, requests: int, workers: int) -> None:
    connector = aiohttp.TCPConnector(limit=workers)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def ask() -> str:
            parts = []
            async with session.post(url + PATH, json=BODY) as response:
                async for line in response.content:
                    if line.startswith(b"data: ") and not line.startswith(b"data: [DONE]"):
                        delta = json.loads(line[6:])["choices"][0]["delta"]
                        parts.append(delta.get("content") or "")
            return "".join(parts)

        await measured(asking(ask, workers), url, requests, workers)


async def workload(kind: str, url: str, requests: int, workers: int) -> None:
    with tempfile.TemporaryDirectory(dir=".") as folder:

        async def drive(sessions: int) -> int:
            seen = await product.count(kind, url, sessions, workers, Path(folder))
            assert (seen.total, seen.errored, seen.incomplete) == (sessions, 0, 0)
            return seen.hit

        await measured(drive, url, requests, workers)


async def main(name: str, url: str, requests: int, workers: int) -> None:
    if name in ("bare", "client"):
        await {"bare": bare, "client": client}[name](url, requests, workers)
    else:
        await workload(name, url, requests, workers)


if __name__ == "__main__":
    _, name_, url_, requests_, workers_ = sys.argv
    asyncio.run(main(name_, url_, int(requests_), int(workers_)))
