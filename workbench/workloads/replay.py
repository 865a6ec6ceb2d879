"""Request bodies from a file, sent again: what production sent, or what somebody wrote down.

A line of the file is a body, or `{"body": {...}, "expected": ..., "session": "name"}`; lines of one
name are the turns of one session, in their order. Session i of a block sends entry i, and so on around,
counted from a place that depends on the block alone: both arms of a block send the same, and a few
blocks see all of a long file, whatever their size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from workbench.errors import UsageError, nearest
from workbench.model.ids import SessionKey
from workbench.ports import SessionRequest
from workbench.workloads.server import Ask, ServerOptions, ServerWorkload
from workbench.workloads.single import as_text
from workbench.workloads.textfile import read_whole

LARGEST = 64 << 20
_STEP = 618  # thousandths of the file from block to block: the golden ratio spreads places evenly
_FIELDS = ("body", "expected", "session")
_EXAMPLE = 'a line is, say, {"messages": [{"role": "user", "content": "hello"}]}'
_decode = msgspec.json.Decoder().decode
_raw_of = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


@dataclass(frozen=True, kw_only=True)
class ReplayOptions(ServerOptions):
    """Options of the workload.

    Attributes:
        file: The JSON lines to send, 64 MiB at most.
        cwd: Folder that the file is looked for in; null for the current one.
    """

    file: str
    cwd: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.file:
            raise ValueError("file is empty; name a file of JSON lines")


@dataclass(frozen=True, slots=True)
class Turn:
    """One line: the bytes of its body, which are read again when they are sent, and its answer."""

    body: bytes
    expected: str


class ReplayWorkload(ServerWorkload[ReplayOptions]):
    """Workload `replay`. Reads its file once, when it is made; raises UsageError for a bad one."""

    Options = ReplayOptions
    fixed = (*ServerWorkload.fixed, "file", "cwd")

    def __init__(self, options: ReplayOptions) -> None:
        super().__init__(options)
        self._entries = read_entries(Path(options.cwd or "") / options.file)

    def asks(self, options: ReplayOptions, session: SessionRequest) -> Iterator[Ask]:
        """Ask what stands in the entry of the session."""
        for turn in self._entries[entry_of(session.key, len(self._entries))]:
            yield Ask(body=_decode(turn.body), expected=turn.expected)


def entry_of(session: SessionKey, entries: int) -> int:
    """Say which of so many entries a session sends."""
    start = session.block * (entries * _STEP // 1000)
    return (start + session.session) % entries


def read_entries(path: Path) -> list[list[Turn]]:
    """Read the sessions of a file, in the order of their first lines.

    Raises:
        UsageError: The file cannot be read, is too large, holds nothing, or a line is not one.
    """
    entries: dict[object, list[Turn]] = {}
    for number, line in enumerate(read_whole(path, LARGEST).split(b"\n"), start=1):
        if line.strip():
            try:
                name, turn = _turn(line)
            except ValueError as error:
                raise UsageError(f"{path}:{number}: {error}", hint=_EXAMPLE) from error
            entries.setdefault(number if name is None else name, []).append(turn)
    if not entries:
        raise UsageError(f"{path}: holds no request", hint=_EXAMPLE)
    return list(entries.values())


def _turn(line: bytes) -> tuple[str | None, Turn]:
    """Read a line: the name of its session, if it has one, and what to send."""
    try:
        value = _decode(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"is not JSON: {error}") from error
    if not isinstance(value, dict) or not value:
        raise ValueError("is no JSON object with something in it")
    if "body" not in value:
        return None, Turn(line, "")
    for name in value:
        if name not in _FIELDS:
            raise ValueError(f"has no field {name!r} beside body; {nearest(name, _FIELDS)}")
    session: Any = value.get("session")
    if not isinstance(value["body"], dict) or not isinstance(session, str | None):
        raise ValueError("body must be an object, and session a text")
    return session, Turn(bytes(_raw_of(line)["body"]), as_text(value.get("expected")))
