"""A small, fast, OpenAI-compatible engine for load tests: raw asyncio, no framework.

Streams N chunks a request, and counts on its own side what a client must agree with: requests, the peak
in flight, and how many replies it garbled. It garbles by seed and number of the request alone, and only
while more than `--garble-above` requests are in flight.

Usage: python -m tests.bench.load.mock_engine --port 0 [--chunks 50] [--ttft S] [--itl S]
           [--garble-rate P] [--garble-above K] [--seed N]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time
from dataclasses import asdict, dataclass

CLEAN = (
    '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="read_file">\n'
    '<｜DSML｜parameter name="path" string="true">a/b.py</｜DSML｜parameter>\n'
    "</｜DSML｜invoke>\n</｜DSML｜tool_calls>"
)
_DEBRIS = "的}{</｜ DSML▁ぬq;"


@dataclass
class Stats:
    """What the engine saw."""

    total: int = 0
    peak: int = 0
    garbled: int = 0


class MockEngine:
    """Serves chat completions."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._in_flight = 0
        self._number = 0
        self.stats = Stats()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        try:
            while True:
                first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                headers = dict(line.lower().split(": ", 1) for line in lines if line)
                await reader.readexactly(int(headers.get("content-length", 0)))
                path = first.split(" ")[1]
                if path == "/v1/chat/completions":
                    await self._chat(writer)
                    continue
                told = json.dumps(asdict(self.stats)).encode()
                if path == "/reset":
                    self.stats = Stats()
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(told), told))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _chat(self, writer: asyncio.StreamWriter) -> None:
        self._in_flight += 1
        self._number += 1
        self.stats.total += 1
        self.stats.peak = max(self.stats.peak, self._in_flight)
        chance = random.Random(self._options.seed * 1_000_003 + self._number)
        above = self._in_flight > self._options.garble_above
        garbled = above and chance.random() < self._options.garble_rate
        self.stats.garbled += garbled
        name = f"chatcmpl-{self._number}"
        try:
            writer.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
                b"transfer-encoding: chunked\r\n\r\n"
            )
            await asyncio.sleep(self._options.ttft)
            for piece in self._pieces(garbled, chance):
                writer.write(_event(name, {"content": piece}))
                await writer.drain()
                await asyncio.sleep(self._options.itl)  # yields at 0 too, so that requests overlap
            usage = {"prompt_tokens": 1, "completion_tokens": self._options.chunks}
            last = _event(name, {}, "stop", usage)
            writer.write(last + _framed(b"data: [DONE]\n\n") + b"0\r\n\r\n")
            await writer.drain()
        finally:
            self._in_flight -= 1

    def _pieces(self, garbled: bool, chance: random.Random) -> list[str]:
        text, number = CLEAN, self._options.chunks
        if garbled:
            cut = chance.randrange(20, len(text) - 20)
            text = text[:cut] + "".join(chance.choice(_DEBRIS) for _ in range(40))
        step = max(1, -(-len(text) // number))
        pieces = [text[at : at + step] for at in range(0, len(text), step)]
        return pieces + [" "] * (number - len(pieces))


def _framed(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def _event(name: str, delta: object, finish: str | None = None, usage: object = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    body = {"id": name, "object": "chat.completion.chunk", "model": "mock", "t": time.monotonic()}
    body |= {"choices": [choice]} | ({"usage": usage} if usage else {})
    return _framed(b"data: " + json.dumps(body, ensure_ascii=False).encode() + b"\n\n")


async def _main(options: argparse.Namespace) -> None:
    engine = MockEngine(options)
    server = await asyncio.start_server(engine.serve, "127.0.0.1", options.port, backlog=1024)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--chunks", type=int, default=50)
    parser.add_argument("--ttft", type=float, default=0.0)
    parser.add_argument("--itl", type=float, default=0.0)
    parser.add_argument("--garble-rate", type=float, default=0.0)
    parser.add_argument("--garble-above", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    asyncio.run(_main(parser.parse_args()))
