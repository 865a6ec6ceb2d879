"""What the events of the APIs look like, as far as they are joined; more fields are no mistake.

msgspec checks and decodes in one go; its errors name the place, such as `$.choices[0].delta.content`.
What is only passed on, such as counts of tokens, is not held to a type: an engine that counts in a new
way has not garbled its answer.
"""

from __future__ import annotations

from typing import Any

import msgspec


class Function(msgspec.Struct):
    """What is called, or the next part of it."""

    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class CallDelta(msgspec.Struct):
    """A part of a tool call."""

    index: int | None = None
    id: str | None = None
    function: Function | None = None


class Delta(msgspec.Struct):
    """What a chunk adds to a choice; of a whole answer, all of it."""

    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[CallDelta] | None = None


class Part(msgspec.Struct):
    """A choice within a chunk; `text` is that of the older completions."""

    index: int | None = None
    delta: Delta | None = None
    message: Delta | None = None
    text: str | None = None
    finish_reason: str | None = None


class Chunk(msgspec.Struct):
    """A chunk of a stream, or a whole answer, or an error."""

    id: str | int | None = None
    model: str | int | None = None
    object: Any = None
    choices: list[Part] | None = None
    usage: Any = None
    error: Any = None
    message: Any = None
    code: Any = None


class Generated(msgspec.Struct):
    """An answer of `/generate`, or an error."""

    index: int | None = None
    text: str | None = None
    meta_info: dict[str, Any] | None = None
    error: Any = None
