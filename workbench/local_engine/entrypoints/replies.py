"""Makes replies from the pieces of what is generated, in the two shapes of the API."""

from __future__ import annotations

import json
import time
import uuid
from dataclasses import dataclass, field
from typing import Protocol

from ..function_call.dsv4 import Delta, DSMLParser, ToolCall
from ..managers.tokenizer_manager import Piece
from ..server_args import ServerArgs
from .bodies import ChatBody, GenerateBody

_JSON = dict[str, object]


class Replies(Protocol):
    """Takes the pieces of one reply, in order."""

    def events(self, piece: Piece) -> list[_JSON]:
        """Take a piece; give the events of a stream that it makes."""

    def take(self, piece: Piece) -> object:
        """Take a piece of a reply that is given as a whole."""

    def whole(self) -> _JSON:
        """Give the reply as far as it has come."""


@dataclass(slots=True)
class _Usage:
    """Tokens of a reply so far."""

    prompt: int
    completion: int = 0
    cached: int = 0

    def count(self, piece: Piece) -> None:
        self.completion += len(piece.token_ids)
        self.cached = max(self.cached, piece.cached_tokens)

    def json(self) -> dict[str, object]:
        return {
            "prompt_tokens": self.prompt,
            "completion_tokens": self.completion,
            "total_tokens": self.prompt + self.completion,
            "prompt_tokens_details": {"cached_tokens": self.cached},
        }


class GenerateReplies:
    """Makes the replies of `/generate` from pieces."""

    def __init__(self, body: GenerateBody) -> None:
        self._rid = body.rid
        self._usage = _Usage(len(body.input_ids))
        self._text: list[str] = []
        self._ids: list[int] = []
        self._last: Piece | None = None

    def take(self, piece: Piece) -> None:
        """See `Replies`."""
        self._usage.count(piece)
        self._text.append(piece.text)
        self._ids.extend(piece.token_ids)
        self._last = piece

    def events(self, piece: Piece) -> list[_JSON]:
        """See `Replies`."""
        self.take(piece)
        return [self.whole()]

    def whole(self) -> _JSON:
        """See `Replies`."""
        reason = self._last.finish_reason if self._last else ""
        finish: _JSON | None = {"type": reason} if reason else None
        if finish and self._last and self._last.error:
            finish["message"] = self._last.error
        return {
            "text": "".join(self._text),
            "output_ids": list(self._ids),
            "meta_info": {
                "id": self._rid,
                "finish_reason": finish,
                "prompt_tokens": self._usage.prompt,
                "completion_tokens": self._usage.completion,
                "cached_tokens": self._usage.cached,
            },
        }


@dataclass(slots=True)
class _Message:
    content: list[str] = field(default_factory=list)
    calls: list[_JSON] = field(default_factory=list)


class ChatReplies:
    """Makes the replies of `/v1/chat/completions` from pieces."""

    def __init__(self, body: ChatBody, args: ServerArgs) -> None:
        self._id = body.generate.rid
        self._model = args.served_model_name
        self._include_usage = body.include_usage
        self._usage = _Usage(len(body.generate.input_ids))
        self._created = int(time.time())
        self._message = _Message()
        self._reason = ""
        self._begun = False
        self._parser = (
            None
            if body.tools is None
            else DSMLParser(body.tools, fail_open=args.tool_call_parser_fail_open)
        )

    def take(self, piece: Piece) -> list[_JSON]:
        """Take a piece; give the deltas of the message that it makes, in order."""
        self._usage.count(piece)
        self._reason = piece.finish_reason
        deltas = [self._read(piece.text)]
        if self._parser and piece.finish_reason:
            deltas.append(self._parser.close())
        shown: list[_JSON] = []
        for delta in deltas:
            if delta.content:
                self._message.content.append(delta.content)
                shown.append({"content": delta.content})
            for call in delta.calls:
                made = _call(call, len(self._message.calls))
                self._message.calls.append(made)
                shown.append({"tool_calls": [made]})
        return shown

    def events(self, piece: Piece) -> list[_JSON]:
        """See `Replies`."""
        deltas = self.take(piece)
        if not self._begun:
            self._begun = True
            deltas.insert(0, {"role": "assistant", "content": ""})
        events = [self._chunk(delta, None) for delta in deltas]
        if piece.finish_reason:
            events.append(self._chunk({}, self._finish_reason()))
            if self._include_usage:
                events.append(
                    {**self._head("chat.completion.chunk"), "choices": [], "usage": self._usage.json()}
                )
        return events

    def whole(self) -> _JSON:
        """See `Replies`."""
        content = "".join(self._message.content)
        message: _JSON = {"role": "assistant", "content": content or None}
        if self._message.calls:
            message["tool_calls"] = [
                {key: value for key, value in call.items() if key != "index"}
                for call in self._message.calls
            ]
        elif not content:
            message["content"] = ""
        choice = {"index": 0, "message": message, "finish_reason": self._finish_reason()}
        return {**self._head("chat.completion"), "choices": [choice], "usage": self._usage.json()}

    def _read(self, text: str) -> Delta:
        return self._parser.feed(text) if self._parser else Delta(content=text)

    def _finish_reason(self) -> str:
        return "tool_calls" if self._message.calls and self._reason == "stop" else self._reason

    def _head(self, kind: str) -> _JSON:
        return {"id": self._id, "object": kind, "created": self._created, "model": self._model}

    def _chunk(self, delta: _JSON, reason: str | None) -> _JSON:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {**self._head("chat.completion.chunk"), "choices": [choice]}


def _call(call: ToolCall, index: int) -> _JSON:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return {
        "index": index,
        "id": f"call_{uuid.uuid4().hex[:24]}",
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }
