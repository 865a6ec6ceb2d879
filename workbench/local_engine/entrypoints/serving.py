"""Serves `/generate` and `/v1/chat/completions`: whole replies, and streams of server-sent events.

A stream begins when its first piece is there, so that what goes wrong before has a status of its own;
what goes wrong later is an `error` event. A client that leaves ends its request, in a stream or not.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from ..managers.interface import GenerateRequest
from ..managers.tokenizer_manager import DuplicateRequest, Piece, TokenizerManager
from ..server_args import ServerArgs
from .bodies import GenerateBody, parse_chat, parse_generate, read_json
from .connection import CLIENT_LEFT, ClientLeft, while_connected
from .errors import ApiError, error_body
from .replies import ChatReplies, GenerateReplies, Replies

Pieces = AsyncGenerator[Piece, None]


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
        replies = GenerateReplies(body)
        return await self._respond(request, body, replies)

    async def chat(self, request: Request) -> Response:
        """Serve `/v1/chat/completions`."""
        body = parse_chat(await read_json(request), self._args)
        replies = ChatReplies(body, self._args)
        return await self._respond(request, body.generate, replies)

    async def _respond(self, request: Request, body: GenerateBody, replies: Replies) -> Response:
        pieces = self._pieces(body)
        try:
            if not body.stream:
                return JSONResponse(await while_connected(request, _whole(pieces, replies)))
            first = await while_connected(request, _first(pieces))
        except ClientLeft:
            return CLIENT_LEFT
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


async def _whole(pieces: Pieces, replies: Replies) -> dict[str, object]:
    async with aclosing(pieces) as closing:
        async for piece in closing:
            if piece.finish_reason == "error":
                raise ApiError(piece.error or "generation failed", status=500)
            replies.take(piece)
    return replies.whole()


async def _events(first: Piece, pieces: Pieces, replies: Replies) -> AsyncIterator[bytes]:
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
