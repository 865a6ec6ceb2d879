"""A server of fixed pages, and those of llama.cpp's server as they were read from a real one."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from tests.http.doubles import Connection, Server, head, serving

LLAMACPP = {
    "/health": '{"status":"ok"}',
    "/props": json.dumps(
        {
            "default_generation_settings": {
                "params": {"temperature": 0.800000011920929, "ignore_eos": False, "lora": []},
                "n_ctx": 2048,
            },
            "total_slots": 4,
            "model_path": "models/tiny.gguf",
            "media_marker": "<__media_xCyxkoJKe9O7xBym9o6TUCMJJxDQb5gd__>",
            "is_sleeping": False,
            "build_info": "b0-unknown",
        }
    ),
    "/slots": json.dumps([{"id": slot, "n_ctx": 2048, "is_processing": False} for slot in range(4)]),
    "/metrics": "\n".join(
        [
            "# HELP llamacpp:prompt_tokens_total Number of prompt tokens processed",
            "# TYPE llamacpp:prompt_tokens_total counter",
            "llamacpp:prompt_tokens_total 0",
            "# TYPE llamacpp:requests_processing gauge",
            "llamacpp:requests_processing 0",
            "# TYPE llamacpp:requests_deferred gauge",
            "llamacpp:requests_deferred 0",
            "",
        ]
    ),
}


@asynccontextmanager
async def pages(texts: Mapping[str, str], *, asked: list[str] | None = None) -> AsyncIterator[str]:
    """Serve pages by path, one request a connection; gives the URL. Other paths are a 404.

    Args:
        texts: The pages.
        asked: Takes the first line of each request.
    """
    there: list[Server] = []

    async def answer(connection: Connection) -> None:
        line = there[0].requests[-1][0].partition("\r\n")[0]
        if asked is not None:
            asked.append(line)
        text = texts.get(line.split()[1])
        status = "404 Not Found" if text is None else "200 OK"
        body = (text or "no such page").encode()
        await connection.send(head(status=status, kind="text/plain", length=len(body)) + body)
        connection.writer.close()

    async with serving(answer) as server:
        there.append(server)
        yield server.url.partition("/v1")[0]
