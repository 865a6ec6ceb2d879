"""What clients send: bodies read, checked field by field, and made into values of their own types."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from starlette.requests import Request

from ..chat_template import apply_chat_template
from ..server_args import ServerArgs
from ..tokenizer import get_tokenizer
from .errors import ApiError

MAX_BODY = 1 << 20  # bytes; four times what a context of 16,384 tokens takes
_MAX_DISCARDED = 64 << 20  # a larger body is read no further, so its sender sees a reset
_DEFAULT_NEW_TOKENS = 512
_LONGEST_RID = 200
_Value = TypeVar("_Value")


@dataclass(frozen=True, kw_only=True, slots=True)
class GenerateBody:
    """A request to continue a prompt.

    Attributes:
        rid: Id of the request.
        input_ids: The prompt.
        max_new_tokens: Most tokens to generate.
        bootstrap_room: Joins the halves of a disaggregated request.
        stream: Whether to reply piece by piece.
        skip_special_tokens: Whether control tokens are left out of the text.
    """

    rid: str
    input_ids: tuple[int, ...]
    max_new_tokens: int
    bootstrap_room: int | None
    stream: bool
    skip_special_tokens: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatBody:
    """A request for a chat completion.

    Attributes:
        generate: What is generated.
        tools: Names of the tools that the reply may call; None if it is not to be parsed.
        include_usage: Whether a stream ends with a chunk that counts tokens.
    """

    generate: GenerateBody
    tools: tuple[str, ...] | None
    include_usage: bool


async def read_json(request: Request) -> dict[str, Any]:
    """Read a body that must be a JSON object.

    Raises:
        ApiError: It is too long, no JSON, or no object.
    """
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size <= MAX_BODY:
            chunks.append(chunk)
        elif size > _MAX_DISCARDED:
            break
    if size > MAX_BODY:
        raise ApiError(f"the body is larger than {MAX_BODY} bytes", status=413)
    try:
        body = json.loads(b"".join(chunks))
    except (ValueError, RecursionError) as error:
        raise ApiError(f"the body is no JSON: {error}") from None
    if not isinstance(body, dict):
        raise ApiError("the body must be a JSON object")
    return body


def optional(body: Mapping[str, Any], name: str, kind: type[_Value], default: _Value) -> _Value:
    """Give a field of a body, or a default where it is missing or null.

    Raises:
        ApiError: The field is of another type.
    """
    value = body.get(name)
    if value is None:
        return default
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ApiError(f"{name} must be {_article(kind)}, not {_shown(value)}", param=name)
    return value


def parse_generate(body: Mapping[str, Any], args: ServerArgs) -> GenerateBody:
    """Check the body of `/generate`: `text` or `input_ids`, `sampling_params`, `stream`, `rid`."""
    if ("text" in body) == ("input_ids" in body):
        raise ApiError("give either text or input_ids", param="text")
    if "text" in body:
        ids = get_tokenizer().encode(_required(body, "text", str), args.context_length)
    else:
        ids = _ids(_required(body, "input_ids", list), args.context_length)
    sampling: dict[str, Any] = optional(body, "sampling_params", dict, {})
    most = optional(sampling, "max_new_tokens", int, 0)
    return _generate(
        body,
        ids,
        args,
        max_new_tokens=most if "max_new_tokens" in sampling else None,
        skip_special_tokens=optional(sampling, "skip_special_tokens", bool, True),
    )


def parse_chat(body: Mapping[str, Any], args: ServerArgs) -> ChatBody:
    """Check the body of `/v1/chat/completions`."""
    model = optional(body, "model", str, args.served_model_name)
    if model not in (args.served_model_name, "default"):
        message = f"the model {_shown(model)} does not exist; {args.served_model_name!r} is served"
        raise ApiError(message, status=404, param="model", code="model_not_found")
    if optional(body, "n", int, 1) != 1:
        raise ApiError("n must be 1", param="n")
    messages = _required(body, "messages", list)
    if not messages or not all(isinstance(message, dict) for message in messages):
        raise ApiError("messages must be a list of objects, at least one", param="messages")
    try:
        ids = apply_chat_template(messages, args.context_length)
    except ValueError as error:
        raise ApiError(str(error), param="messages") from None
    names = _tool_names(optional(body, "tools", list, []))
    choice = body.get("tool_choice")
    if choice not in (None, "auto", "none"):
        raise ApiError("tool_choice must be auto or none", param="tool_choice")
    parsed = bool(names) and choice != "none" and args.tool_call_parser != "none"
    if args.disaggregation_mode == "prefill":  # its one token is the decode server's to tell
        parsed = False
    limits = [name for name in ("max_completion_tokens", "max_tokens") if body.get(name) is not None]
    generate = _generate(
        body,
        ids,
        args,
        max_new_tokens=optional(body, limits[0], int, 0) if limits else None,
        skip_special_tokens=True,
    )
    options: dict[str, Any] = optional(body, "stream_options", dict, {})
    return ChatBody(
        generate=generate,
        tools=names if parsed else None,
        include_usage=optional(options, "include_usage", bool, False),
    )


def _generate(
    body: Mapping[str, Any],
    ids: Sequence[int],
    args: ServerArgs,
    *,
    max_new_tokens: int | None,
    skip_special_tokens: bool,
) -> GenerateBody:
    left = args.context_length - len(ids)
    wanted = min(_DEFAULT_NEW_TOKENS, left) if max_new_tokens is None else max_new_tokens
    if not ids:
        raise ApiError("the prompt is empty")
    if left < 1 or wanted > left:
        has = len(ids) if left >= 0 else "more"  # not all were counted
        message = (
            f"the context holds {args.context_length} tokens; the prompt has {has}"
            f" and {max(wanted, 1)} are to be generated"
        )
        raise ApiError(message, code="context_length_exceeded")
    if wanted < 1:
        raise ApiError("the most tokens to generate must be at least 1", param="max_tokens")
    room = body.get("bootstrap_room")
    if room is not None and not (type(room) is int and 0 <= room < 2**63):
        raise ApiError("bootstrap_room must be an integer of 63 bits", param="bootstrap_room")
    rid = optional(body, "rid", str, "") or uuid.uuid4().hex
    if len(rid) > _LONGEST_RID or not (rid.isascii() and rid.isprintable()):
        raise ApiError(f"rid must be at most {_LONGEST_RID} printable ASCII characters", param="rid")
    return GenerateBody(
        rid=rid,
        input_ids=tuple(ids),
        max_new_tokens=wanted,
        bootstrap_room=room,
        stream=optional(body, "stream", bool, False),
        skip_special_tokens=skip_special_tokens,
    )


def _required(body: Mapping[str, Any], name: str, kind: type[_Value]) -> _Value:
    if body.get(name) is None:
        raise ApiError(f"{name} is missing", param=name)
    return optional(body, name, kind, kind())


def _ids(values: list[Any], limit: int) -> list[int]:
    values = values[: limit + 1]
    size = get_tokenizer().vocab_size
    if not all(type(value) is int and 0 <= value < size for value in values):
        raise ApiError(f"input_ids must be integers from 0 to {size - 1}", param="input_ids")
    return values


def _tool_names(tools: list[Any]) -> tuple[str, ...]:
    names = []
    for tool in tools:
        match tool:
            case {"type": "function", "function": {"name": str(name)}}:
                names.append(name)
            case _:
                raise ApiError("a tool must be a function with a name", param="tools")
    return tuple(names)


def _article(kind: type) -> str:
    names = {str: "a string", int: "an integer", bool: "a boolean", list: "a list", dict: "an object"}
    return names[kind]


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
