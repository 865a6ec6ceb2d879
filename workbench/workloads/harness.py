"""Exchanges that a team's own harness wrote down: JSON lines in the file that it was given.

    {"text": "...", "ending": "completed", "seconds": 1.2, "expected": {"name": "book", ...}}

Each field may be left out. `text` and `expected` are texts, or JSON such as the whole body of a reply.
A line that is not one is an exchange of its own, `malformed`, with its number: a harness that writes
nonsense has not made clean sessions.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from workbench.errors import UsageError
from workbench.model.ids import ExchangeKey, SessionKey
from workbench.model.outcome import Ending, Exchange
from workbench.workloads.single import as_text
from workbench.workloads.textfile import read_whole

LARGEST = 16 << 20  # bytes of a session's file
MOST_LINES = 10_000
_SHOWN = 4096  # characters of a line that is not one
_PREFIX = "workbench-"

_Seconds = Annotated[float, Meta(ge=0)]
_Count = Annotated[int, Meta(ge=0, le=1 << 53)]


class Line(msgspec.Struct, forbid_unknown_fields=True):
    """One line of the file; fields mean what they mean in an `Exchange`."""

    text: Any = ""
    ending: Ending = Ending.COMPLETED
    seconds: _Seconds = 0.0
    expected: Any = ""
    first_seconds: _Seconds | None = None
    http_status: Annotated[int, Meta(ge=100, le=999)] | None = None
    finish: Annotated[str, Meta(max_length=60)] = ""
    prompt_tokens: _Count | None = None
    completion_tokens: _Count | None = None
    cached_tokens: _Count | None = None
    detail: Annotated[str, Meta(max_length=200)] = ""


read_line = msgspec.json.Decoder(Line).decode
"""Read a line; raises ValueError for what is not one."""


def private_folder(run: str) -> tempfile.TemporaryDirectory[str]:
    """Make a folder that nobody else can look into, and that goes when it is closed."""
    return tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{run}-", ignore_cleanup_errors=True)


def folders_of(run: str) -> Iterator[Path]:
    """Give the folders that a killed opening of a run left behind."""
    return Path(tempfile.gettempdir()).glob(f"{_PREFIX}{run}-*")


def written_in(path: Path, session: SessionKey) -> list[Exchange]:
    """Read what a harness wrote; none of it is marked as the last of its session.

    Args:
        path: The file; one that is not there, or empty, holds no exchange.
        session: The session that it is of.
    """
    if not path.exists():
        return []
    try:
        data = read_whole(path, LARGEST)
    except UsageError as error:
        large = path.is_file() and path.stat().st_size > LARGEST
        ending = Ending.TOO_LARGE if large else Ending.MALFORMED
        what = error.what.rpartition(": ")[2]
        return [_bad(session, 0, ending, f"the file of exchanges {what}")]
    exchanges: list[Exchange] = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        turn = len(exchanges)
        if turn == MOST_LINES:
            why = f"more than {MOST_LINES} exchanges"
            exchanges.append(_bad(session, turn, Ending.TOO_LARGE, why))
            break
        exchanges.append(_exchange(session, turn, number, line))
    return exchanges


def _exchange(session: SessionKey, turn: int, number: int, line: bytes) -> Exchange:
    try:
        told = read_line(line)
        text, expected = as_text(told.text), as_text(told.expected)
    except (ValueError, RecursionError) as error:
        shown = line[:_SHOWN].decode("utf-8", "replace")
        return _bad(session, turn, Ending.MALFORMED, f"line {number}: {error}", shown)
    return Exchange(
        key=ExchangeKey(session, turn),
        ending=told.ending,
        text=text,
        text_bytes=len(text.encode()),
        seconds=told.seconds,
        last=False,
        expected=expected,
        first_seconds=told.first_seconds,
        http_status=told.http_status,
        finish=told.finish,
        prompt_tokens=told.prompt_tokens,
        completion_tokens=told.completion_tokens,
        cached_tokens=told.cached_tokens,
        detail=told.detail,
    )


def _bad(session: SessionKey, turn: int, ending: Ending, detail: str, text: str = "") -> Exchange:
    key = ExchangeKey(session, turn)
    size = len(text.encode())
    return Exchange(key=key, ending=ending, text=text, text_bytes=size, detail=detail[:200], last=False)
