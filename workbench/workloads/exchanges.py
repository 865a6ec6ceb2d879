"""From a reply of a server to an exchange: how it ended, what it says, how long it took.

The text of a reply that is whole is one JSON text of the API's own shape, its deltas joined, which is
what classifiers read. Of any other it is the beginning of what came, as it came, for people to look at:
how it ended is all that is judged of it.
"""

from __future__ import annotations

from typing import Any

import msgspec

from workbench.http.reply import Answer, Attempt, Choice, Limits, Outcome, Reply, Usage
from workbench.model.ids import ExchangeKey
from workbench.model.outcome import Ending, Exchange
from workbench.workloads.bodies import Api

LIMITS = Limits(kept=64 << 10)
_LONGEST_WORD = 60  # characters of a finish reason; it stands in every line of a journal
_MOST_TOKENS = 1 << 53
_encode = msgspec.json.Encoder().encode


def exchange_of(
    reply: Reply,
    key: ExchangeKey,
    *,
    api: Api,
    last: bool,
    expected: str = "",
    request_sha256: str = "",
) -> Exchange:
    """Give the exchange that a reply makes.

    Args:
        reply: All attempts; the last one counts.
        key: Its place in the run.
        api: What was asked.
        last: It ends its session; one that is not whole ends it in any case.
        expected: The right answer, if it is known.
        request_sha256: Digest of the body as sent.
    """
    attempt = reply.last
    ending, detail = _ended(attempt)
    whole = ending is Ending.COMPLETED
    answer = attempt.answer or Answer()
    stamps = attempt.stamps
    ended = stamps.last_byte if whole and stamps.last_byte is not None else stamps.ended
    usage = answer.usage or Usage()
    return Exchange(
        key=key,
        ending=ending,
        text=text_of(answer, api) if whole else attempt.body.decode("utf-8", "replace"),
        text_bytes=attempt.body_bytes,
        seconds=ended - stamps.sent,
        last=last or not whole,
        expected=expected,
        first_seconds=None if stamps.first_content is None else stamps.first_content - stamps.sent,
        http_status=attempt.status,
        finish=answer.choices[0].finish_reason[:_LONGEST_WORD] if answer.choices else "",
        prompt_tokens=_tokens(usage.prompt),
        completion_tokens=_tokens(usage.completion),
        cached_tokens=_tokens(usage.cached),
        detail=detail,
        earlier=tuple(map(_told, reply.attempts[:-1], reply.attempts[1:])),
        request_sha256=request_sha256,
    )


def text_of(answer: Answer, api: Api) -> str:
    """Write an answer as one JSON text in the shape of its API; one without choices says nothing."""
    choices = answer.choices or (Choice(),)
    if api is Api.GENERATE:
        finish = {"finish_reason": {"type": choices[0].finish_reason}}
        return _encode({"text": choices[0].content, "meta_info": finish}).decode()
    said = _message if api is Api.CHAT else _completion
    return _encode({"choices": [said(choice) for choice in choices]}).decode()


def _message(choice: Choice) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": choice.content}
    if choice.reasoning:
        message["reasoning_content"] = choice.reasoning
    if choice.tool_calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in choice.tool_calls
        ]
    return {"message": message, "finish_reason": choice.finish_reason}


def _completion(choice: Choice) -> dict[str, Any]:
    return {"text": choice.content, "finish_reason": choice.finish_reason}


def _ended(attempt: Attempt) -> tuple[Ending, str]:
    if attempt.outcome is Outcome.COMPLETED and not attempt.valid_utf8:
        return Ending.MALFORMED, "the body is not UTF-8"
    detail = attempt.detail
    if attempt.outcome is Outcome.RESET and attempt.reused and attempt.status is None:
        detail += "; it had served before, and may have been closed for being idle"
    return Ending(attempt.outcome.value), detail


def _tokens(count: int | None) -> int | None:
    """Take a count as it is, unless no count of tokens can be so: an engine may say anything."""
    return count if count is not None and 0 <= count < _MOST_TOKENS else None


def _told(attempt: Attempt, following: Attempt) -> str:
    """Tell of an attempt after which there was another, in one line."""
    took = attempt.stamps.ended - attempt.stamps.sent
    how = f"{attempt.outcome}: {attempt.detail or 'whole'}"
    return f"{how}; took {took:.3f} s, and {following.waited:g} s of waiting followed"
