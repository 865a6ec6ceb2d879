"""Serves `/generate` and `/v1/chat/completions`: whole replies, and streams of server-sent events.

A stream begins when its first piece is there, so that what goes wrong before has a status of its own;
what goes wrong later is an `error` event. A client that leaves ends its request, in a stream or not.
"""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from ..function_call.dsv4 import Delta, DSMLParser, ToolCall
from ..managers.interface import GenerateRequest
from ..managers.tokenizer_manager import DuplicateRequest, Piece, TokenizerManager
from ..server_args import ServerArgs
from .bodies import ChatBody, GenerateBody, parse_chat, parse_generate, read_json
from .errors import ApiError, error_body

_Result = TypeVar("_Result")
Pieces = AsyncGenerator[Piece, None]
_CLIENT_LEFT = Response(status_code=499)  # nobody reads it


class ClientLeft(Exception):
    """The client hung up before its reply was complete."""


async def while_connected(request: Request, work: Coroutine[Any, Any, _Result]) -> _Result:
    """Await something for as long as the client stays. The body must have been read.

    Raises:
        ClientLeft: The client hung up; the work was cancelled.
    """
    task = asyncio.ensure_future(work)
    left = asyncio.ensure_future(_hang_up(request))
    try:
        await asyncio.wait({task, left}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientLeft
        return task.result()
    finally:
        for each in (task, left):
            each.cancel()
        await asyncio.gather(task, left, return_exceptions=True)


async def _hang_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


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


class Serving:
    """The two routes that generate.

    Args:
        manager: Runs requests.
        args: The server's flags.
    """

    def __init__(self, manager: TokenizerManager, args: ServerArgs) -> None:
        self._manager = manager
        self._args = args

    async def generate(self, request: Request) -> Response:
        """Serve `/generate`; in a stream, text and ids are those of the reply so far."""
        body = parse_generate(await read_json(request), self._args)
        replies = _GenerateReplies(body)
        return await self._respond(request, body, replies)

    async def chat(self, request: Request) -> Response:
        """Serve `/v1/chat/completions`."""
        body = parse_chat(await read_json(request), self._args)
        replies = _ChatReplies(body, self._args)
        return await self._respond(request, body.generate, replies)

    async def _respond(
        self, request: Request, body: GenerateBody, replies: _GenerateReplies | _ChatReplies
    ) -> Response:
        pieces = self._pieces(body)
        try:
            if not body.stream:
                return JSONResponse(await while_connected(request, _whole(pieces, replies)))
            first = await while_connected(request, _first(pieces))
        except ClientLeft:
            return _CLIENT_LEFT
        except DuplicateRequest:
            raise ApiError(f"a request with rid {body.rid!r} is under way", param="rid") from None
        headers = {"Cache-Control": "no-cache"}
        events = _events(first, pieces, replies)
        return StreamingResponse(events, media_type="text/event-stream", headers=headers)

    def _pieces(self, body: GenerateBody) -> Pieces:
        request = GenerateRequest(
            rid=body.rid,
            input_ids=body.input_ids,
            max_new_tokens=body.max_new_tokens,
            bootstrap_room=body.bootstrap_room,
        )
        return self._manager.generate(request, skip_special_tokens=body.skip_special_tokens)


async def _first(pieces: Pieces) -> Piece:
    piece = await anext(pieces)
    if piece.finish_reason == "error":
        await pieces.aclose()
        raise ApiError(piece.error or "generation failed", status=500)
    return piece


async def _whole(pieces: Pieces, replies: _GenerateReplies | _ChatReplies) -> dict[str, object]:
    async with aclosing(pieces) as closing:
        async for piece in closing:
            if piece.finish_reason == "error":
                raise ApiError(piece.error or "generation failed", status=500)
            replies.take(piece)
    return replies.whole()


async def _events(
    first: Piece, pieces: Pieces, replies: _GenerateReplies | _ChatReplies
) -> AsyncIterator[bytes]:
    async with aclosing(pieces) as closing:
        for event in replies.events(first):
            yield _sse(event)
        async for piece in closing:
            if piece.finish_reason == "error":
                yield _sse(error_body(piece.error or "generation failed", 500))
            else:
                for event in replies.events(piece):
                    yield _sse(event)
    yield b"data: [DONE]\n\n"


def _sse(event: dict[str, object]) -> bytes:
    return b"data: " + json.dumps(event, ensure_ascii=False).encode() + b"\n\n"


class _GenerateReplies:
    """Makes the replies of `/generate` from pieces."""

    def __init__(self, body: GenerateBody) -> None:
        self._rid = body.rid
        self._usage = _Usage(len(body.input_ids))
        self._text: list[str] = []
        self._ids: list[int] = []
        self._last: Piece | None = None

    def take(self, piece: Piece) -> None:
        self._usage.count(piece)
        self._text.append(piece.text)
        self._ids.extend(piece.token_ids)
        self._last = piece

    def events(self, piece: Piece) -> list[dict[str, object]]:
        self.take(piece)
        return [self.whole()]

    def whole(self) -> dict[str, object]:
        reason = self._last.finish_reason if self._last else ""
        finish: dict[str, object] | None = {"type": reason} if reason else None
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
    calls: list[dict[str, object]] = field(default_factory=list)


class _ChatReplies:
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

    def take(self, piece: Piece) -> list[dict[str, object]]:
        """Take a piece; give the deltas of the message that it makes, in order."""
        self._usage.count(piece)
        self._reason = piece.finish_reason
        deltas = [self._read(piece.text)]
        if self._parser and piece.finish_reason:
            deltas.append(self._parser.close())
        shown: list[dict[str, object]] = []
        for delta in deltas:
            if delta.content:
                self._message.content.append(delta.content)
                shown.append({"content": delta.content})
            for call in delta.calls:
                made = _call(call, len(self._message.calls))
                self._message.calls.append(made)
                shown.append({"tool_calls": [made]})
        return shown

    def events(self, piece: Piece) -> list[dict[str, object]]:
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

    def whole(self) -> dict[str, object]:
        content = "".join(self._message.content)
        message: dict[str, object] = {"role": "assistant", "content": content or None}
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

    def _head(self, kind: str) -> dict[str, object]:
        return {"id": self._id, "object": kind, "created": self._created, "model": self._model}

    def _chunk(self, delta: dict[str, object], reason: str | None) -> dict[str, object]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {**self._head("chat.completion.chunk"), "choices": [choice]}


def _call(call: ToolCall, index: int) -> dict[str, object]:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return {
        "index": index,
        "id": f"call_{uuid.uuid4().hex[:24]}",
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }
