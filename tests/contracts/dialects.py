"""The contract of a dialect: hold yours against it in a test of your own.

    asyncio.run(hold_to_contract(Mine(Mine.Options()), url))       # of a server that is up
    asyncio.run(hold_against_nonsense(Mine(Mine.Options())))       # needs none

It fails with what was broken, and what the server answered.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from tests.http.doubles import CHUNKED, Answer, Connection, chunk, head, says, serving, stays
from workbench.errors import EngineError
from workbench.ports import Dialect, Traffic

PATIENCE = 60.0  # seconds until what should be bounded is not
NOBODY = "http://127.0.0.1:9"
_JSON = "application/json"


def _says(body: bytes, *, status: str = "200 OK", kind: str = _JSON) -> Answer:
    return says(head(status=status, kind=kind, length=len(body)) + body)


async def _floods(connection: Connection) -> None:
    await connection.send(head(CHUNKED, kind=_JSON))
    piece = chunk(b"x" * (1 << 16))
    while not connection.writer.is_closing():
        await connection.send(piece)


NONSENSE: Mapping[str, Answer] = {
    "nothing": says(),
    "a broken connection": says(b"HTTP/1.1 200", broken=True),
    "no HTTP": says(b"220 mail.example ESMTP\r\n\r\n"),
    "an empty page": _says(b""),
    "a page of the web": _says(b"<html>It works!</html>", kind="text/html"),
    "broken JSON": _says(b'{"data": [{"id": '),
    "JSON that is no object": _says(b'[1, "two", null]'),
    "JSON of other shapes": _says(b'{"data": 3, "slots": [[]], "": {"": [{}, [[]], null]}}'),
    "a number beyond all": _says(b'{"a": 1e999, "b": ' + b"9" * 400 + b"}"),
    "half a character": _says(b'{"a": "\\ud800"}'),
    "bytes that are no UTF-8": _says(b'{"a": "\xff\xfe"} 7'),
    "JSON without a bottom": _says(b'{"a":' * 100_000),
    "JSON nearly without a bottom": _says(b'{"a":' * 900 + b"1" + b"}" * 900),
    "more than anybody sets": _says(b"[" + b",".join(b'{"n_ctx": [1]}' for _ in range(50_000)) + b"]"),
    "settings without an end": _says(b'{"a": [' + b"1," * 50_000 + b"1]}"),
    "metrics of another kind": _says(b"sglang:num_running_reqs{a=\n# TYPE\nx{} y\n", kind="text/plain"),
    "metrics that are no numbers": _says(b"sglang:num_running_reqs NaN\nb +Inf\n", kind="text/plain"),
    "an error": _says(b'{"error": {"message": "Loading model"}}', status="503 Busy"),
    "an error without an end": stays(head(status="500 Broken", kind=_JSON) + b"{"),
    "a page elsewhere": says(head("Location: http://127.0.0.1:9/", status="302 Found", length=0)),
    "a page that is not there": _says(b"no", status="404 Not Found"),
    "a page without an end": stays(head(kind=_JSON, length=100) + b'{"a": 1'),
    "a head without an end": stays(b"HTTP/1.1 200 OK\r\nX: "),
    "nothing at all": stays(),
    "a flood": _floods,
}


async def hold_to_contract(dialect: Dialect, url: str) -> None:
    """Hold a dialect to its contract, against a server that is up and has nothing to do.

    Raises:
        AssertionError: It does not keep to it.
    """
    assert isinstance(dialect, Dialect), "health, volatile, ready, info, traffic and flush are needed"
    assert dialect.health.startswith("/"), f"health is a path such as /health, not {dialect.health!r}"
    assert await dialect.ready(url), "a server that is up is not ready"
    assert await dialect.ready(f"{url}/"), "a URL may end in a slash"
    first, again = await dialect.info(url), await dialect.info(url)
    assert all(isinstance(text, str) for pair in first.items() for text in pair), "info holds texts"
    moved = [key for key in {*first, *again} if first.get(key) != again.get(key)]
    known = [key for key in moved if any(fnmatchcase(key, each) for each in dialect.volatile)]
    assert moved == known, f"{set(moved) - set(known)} move by themselves, and volatile has no such key"
    traffic = await dialect.traffic(url)
    _traffic(traffic)
    assert not traffic.in_flight, f"{traffic.in_flight} requests under way, and nothing was sent"
    assert isinstance(await dialect.flush(url), bool), "flush says whether caches were emptied"
    await _nobody(dialect)


async def hold_against_nonsense(dialect: Dialect) -> None:
    """Hold a dialect against servers that answer nonsense, whatever they are asked.

    Raises:
        AssertionError: It raises what it must not, believes it, or does not come to an end.
    """
    async with asyncio.TaskGroup() as group:
        for what, answer in NONSENSE.items():
            group.create_task(_nonsense(dialect, what, answer))


async def _nobody(dialect: Dialect) -> None:
    assert await dialect.ready(NOBODY) is False, "a server that is not there is ready"
    for name in ("info", "traffic", "flush"):
        answer = await _asked(dialect, name, NOBODY, "nobody is there")
        assert answer is None or answer is False, f"{name} says {answer!r} of nobody"


async def _nonsense(dialect: Dialect, what: str, answer: Answer) -> None:
    async with serving(answer) as server:
        url = server.url.partition("/v1")[0]
        began = time.monotonic()
        try:
            async with asyncio.timeout(PATIENCE):
                ready = await dialect.ready(url)
                assert isinstance(ready, bool), f"ready says {ready!r}; the server answers {what}"
                info = await _asked(dialect, "info", url, what)
                texts = [text for pair in (info or {}).items() for text in pair]
                assert all(isinstance(text, str) for text in texts), f"info holds no texts, of {what}"
                traffic = await _asked(dialect, "traffic", url, what)
                _traffic(traffic or Traffic())
                flushed = await _asked(dialect, "flush", url, what)
                assert flushed in (None, True, False), f"flush says {flushed!r} of {what}"
        except TimeoutError:
            seconds = time.monotonic() - began
            raise AssertionError(f"no end after {seconds:.0f} s; the server answers {what}") from None


async def _asked(dialect: Dialect, name: str, url: str, what: str) -> Any:
    """Ask; None where it raises EngineError, as it may."""
    ask: Callable[[str], Awaitable[object]] = getattr(dialect, name)
    try:
        return await ask(url)
    except EngineError as error:
        told = error.what
    except TimeoutError:
        raise
    except Exception as error:
        raise AssertionError(f"{name} raises {error!r}; the server answers {what}") from error
    assert told.isprintable(), f"{name} tells more than a line: {told!r}"
    return None


def _traffic(traffic: Traffic) -> None:
    counts = (traffic.in_flight, traffic.peak, traffic.served)
    numbers = [*traffic.metrics.values(), *(count for count in counts if count is not None)]
    assert all(float("-inf") < number < float("inf") for number in numbers), f"no numbers: {traffic}"
