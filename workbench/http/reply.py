"""What is sent and what comes back: requests, replies, attempts, answers, and how each ended.

A reply is the list of its attempts, mostly of one. An attempt says how it ended in one word
(`Outcome`), when what happened, and keeps the first part of the body together with the length and
the digest of all of it. Its answer is what the deltas of a stream come to (`joining.py`).

Times are seconds of the monotonic clock, bodies are bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal


class Outcome(StrEnum):
    """How an attempt ended. Only `completed` is an observation of what the engine says."""

    COMPLETED = "completed"
    TIMEOUT = "timeout"  # the deadline passed first
    REFUSED = "refused"  # no connection came about
    RESET = "reset"  # the connection broke, or was closed before any answer
    TRUNCATED = "truncated"  # the answer ended in order, but before it was whole
    HTTP_ERROR = "http_error"  # a status of 400 or more
    REDIRECTED = "redirected"  # a status of 300 to 399; it is not followed
    TOO_LARGE = "too_large"  # a header, line, event or body over its limit
    MALFORMED = "malformed"  # not the HTTP, events or JSON that was promised
    ENGINE_ERROR = "engine_error"  # an error object inside a 200


class Form(StrEnum):
    """What the answer to a request looks like."""

    CHAT = "chat"  # OpenAI's chat completions, and completions: deltas
    GENERATE = "generate"  # SGLang's /generate: each event has the whole text so far
    JSON = "json"  # any JSON, never streamed; nothing is joined
    BYTES = "bytes"  # anything, also nothing, never streamed; it is not looked into


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """What a server may send; more is `too_large`, and ends the connection.

    Attributes:
        header: Bytes of one header line.
        headers: Number of header lines.
        line: Bytes of one line of a stream.
        event: Bytes of one event.
        body: Bytes of a body.
        kept: Bytes of a body that are kept; of the rest, length and digest.
    """

    header: int = 16 << 10
    headers: int = 200
    line: int = 1 << 20
    event: int = 4 << 20
    body: int = 64 << 20
    kept: int = 1 << 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One request: mostly a JSON POST.

    Attributes:
        url: Where to, in full.
        body: What to send: an object, or JSON that is sent byte by byte as it is.
        form: What the answer looks like.
        stream: Whether server-sent events were asked for; the body must say so too.
        deadline: Seconds for all of it: connecting, every read, every further attempt and the waits.
        headers: Laid over the client's own.
        method: How it is asked.
    """

    url: str
    body: Mapping[str, Any] | bytes
    form: Form = Form.CHAT
    stream: bool = True
    deadline: float = 600.0
    headers: Mapping[str, str] = field(default_factory=dict)
    method: Literal["GET", "POST"] = "POST"

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise ValueError("url must begin with http:// or https://")
        if not self.deadline > 0:
            raise ValueError(f"deadline must be positive, not {self.deadline}")
        if self.stream and self.form in (Form.JSON, Form.BYTES):
            raise ValueError("a stream needs a form whose end is known: chat or generate")


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCall:
    """One call as the engine's parser made it; `arguments` is text, valid JSON or not."""

    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """One of the answers that were asked for, its deltas joined.

    Attributes:
        content: The text.
        reasoning: What came as `reasoning_content`, or `reasoning`.
        tool_calls: Calls, in the order of their numbers.
        finish_reason: Why it ended; empty if the engine never said so.
    """

    content: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """Tokens as the engine counts them; None for what it does not say."""

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What a body says, as far as it came.

    Attributes:
        choices: By number.
        usage: Token counts; None if there are none.
        id: The engine's name for the request.
        model: The model that it says has answered.
        events: Events that were joined, `[DONE]` not counted.
        rewound: Events of `/generate` whose text did not begin with the text before it.
        undecodable: What in the texts is no character, bytes that are not UTF-8 and halves of surrogate
            pairs; U+FFFD stands in the place of each.
        replaced: U+FFFD in the texts that came so over the wire: the engine's own.
        error: The engine's error object as JSON text; empty if there was none.
    """

    choices: tuple[Choice, ...] = ()
    usage: Usage | None = None
    id: str = ""
    model: str = ""
    events: int = 0
    rewound: int = 0
    undecodable: int = 0
    replaced: int = 0
    error: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stamps:
    """When what happened, seconds of the monotonic clock; None for what never did.

    Attributes:
        sent: The request was handed to the transport.
        headers: The head of the answer was there.
        first_content: The first event with text, reasoning or a call; of streams only.
        last_byte: The last bytes that came: the end of the answer, where it had one. Of a stream that
            never ended, as they were taken, up to 50 ms later.
        ended: The attempt was over.
    """

    sent: float
    headers: float | None = None
    first_content: float | None = None
    last_byte: float | None = None
    ended: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """One request on the wire.

    Attributes:
        outcome: How it ended.
        detail: The same in one line, for people; holds nothing of the request.
        stamps: When.
        status: HTTP status; None if no head came.
        headers: Of the answer, names in lower case; of repeated ones the last.
        body: The first bytes of it, as they came over the wire.
        body_bytes: All bytes that came.
        body_sha256: Digest of all bytes that came.
        valid_utf8: Whether what came, whole or not, is UTF-8.
        answer: What it says; None if there was nothing to join.
        reused: Whether the connection had served before. A server that closes an idle connection in the
            moment in which it is used again makes a `reset` that is no fault of the engine.
        waited: Seconds between the last attempt and this one.
    """

    outcome: Outcome
    detail: str = ""
    stamps: Stamps
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    body_bytes: int = 0
    body_sha256: str = ""
    valid_utf8: bool = True
    answer: Answer | None = None
    reused: bool = False
    waited: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """All attempts of a request, the last of which counts."""

    attempts: tuple[Attempt, ...]

    @property
    def last(self) -> Attempt:
        """The attempt that counts."""
        return self.attempts[-1]

    @property
    def outcome(self) -> Outcome:
        """How it ended."""
        return self.last.outcome

    @property
    def answer(self) -> Answer | None:
        """What it says."""
        return self.last.answer
