"""What the HTTP servers see of the engine: requests in, tokens out.

A scheduler runs in one thread of its own. `submit`, `abort` and `flush_cache` may be called from any
thread; `emit` is called from the scheduler's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True, slots=True)
class GenerateRequest:
    """One prompt to continue.

    Attributes:
        rid: Unique among the requests under way.
        input_ids: The tokenized prompt.
        max_new_tokens: Tokens after which generation ends with reason `length`.
        bootstrap_room: The room that joins the prefill half of a request to its decode half.
    """

    rid: str
    input_ids: tuple[int, ...]
    max_new_tokens: int
    bootstrap_room: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenOutput:
    """Tokens that a request has gained since its last output.

    Attributes:
        rid: The request.
        token_ids: The new tokens, the end-of-sentence token included.
        finished: Nothing more will come.
        finish_reason: `stop`, `length`, `abort` or `error`; empty until finished.
        error: What went wrong, if the reason is `error` or `abort`.
        cached_tokens: Prompt tokens that came from the prefix cache.
    """

    rid: str
    token_ids: tuple[int, ...]
    finished: bool = False
    finish_reason: str = ""
    error: str = ""
    cached_tokens: int = 0


Emit = Callable[[TokenOutput], None]
Send = Callable[[int, bytes], None]
"""Sends the payload of a room to its decode server."""


class Scheduler(Protocol):
    """An engine process without its HTTP surface."""

    def start(self) -> None:
        """Start the scheduler's thread."""

    def stop(self) -> None:
        """End the thread; requests under way are aborted."""

    def submit(self, request: GenerateRequest, emit: Emit) -> None:
        """Queue a request. Its outputs go to `emit`, the last one marked as finished."""

    def abort(self, rid: str) -> bool:
        """End a request early. False if it is not known."""

    def flush_cache(self) -> bool:
        """Empty the prefix tree, the pools and the host mirror. False while anything is under way."""

    def counters(self) -> dict[str, float]:
        """Metrics by their SGLang name, without the `sglang:` prefix."""

    def describe(self) -> dict[str, object]:
        """Resolved facts for `/server_info`: sizes, dtypes, pool classes."""
