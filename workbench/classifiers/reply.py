"""Reads what a chat server replied into one shape, whichever of its routes it came by. Never raises.

    /v1/chat/completions    the body as JSON text, or its message alone: the markup has been parsed
    /generate               the body as JSON text: `text` is what the model wrote, before any parser
    anything else           the text itself, likewise untouched

A reply that is raw still holds its markup, and whoever judges it has to do the parser's work.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_BODY = re.compile(r'\s*\{.*"(?:choices|meta_info)"\s*:', re.DOTALL)
_HEAD = 2000  # characters in which the body of a reply shows that it is one
_THINK, _THOUGHT = "<think>", "</think>"
BAD_JSON = object()


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """A tool call: the tool's name, and its arguments as JSON text, right or not."""

    name: str
    arguments: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """A reply.

    Attributes:
        raw: No parser has seen it: calls still stand in `content` as markup.
        content: What is said.
        reasoning: What was thought before, as far as it is told apart.
        calls: Calls as the server gives them.
        finish: Finish reason, such as `stop`, `length`, `tool_calls`; empty when none is told.
        error: What the server says went wrong, in place of a reply.
        torn: It begins as a body of JSON and is not a whole one.
    """

    raw: bool = False
    content: str = ""
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    finish: str = ""
    error: str = ""
    torn: bool = False

    @property
    def cut(self) -> bool:
        """Whether it ended because it had grown as long as it may."""
        return self.torn or self.finish == "length"


def read_reply(text: str) -> Reply:
    """Read a reply."""
    if text.lstrip()[:1] != "{":
        return _raw(text)
    body = read_json(text)
    if body is BAD_JSON and _BODY.match(text[:_HEAD]):
        return Reply(torn=True)
    match body:
        case {"choices": [{"message": Mapping() as message, **choice}, *_]}:
            return _message(message, _text(choice.get("finish_reason")))
        case {"choices": [{"text": str(said), **choice}, *_]}:
            return _raw(said, _text(choice.get("finish_reason")))
        case {"text": str(said), "meta_info": Mapping() as about}:
            finish = about.get("finish_reason")
            return _raw(said, _text(finish.get("type") if isinstance(finish, Mapping) else finish))
        case {"error": error} if error:
            return Reply(error=_error(error))
        case {"object": "error", **rest}:
            return Reply(error=_error(rest))
        case {"role": "assistant"} | {"tool_calls": _}:
            return _message(body, "")
    return _raw(text)


def read_json(text: str) -> Any:
    """Give the value of a JSON text, or BAD_JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return BAD_JSON


def canonical(text: str) -> str | None:
    """Give one text for a JSON value, whatever its keys' order and its numbers' form, or None."""
    try:
        return json.dumps(json.loads(text, parse_float=_number), sort_keys=True)
    except (ValueError, RecursionError):
        return None


def _number(text: str) -> int | float:
    value = float(text)
    return int(value) if value.is_integer() else value


def texts_in(value: Any) -> Iterator[str]:
    """Give the texts in a JSON value, at any depth, in their order; not the keys."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, Mapping):
            waiting.extend(reversed(list(each.values())))
        elif isinstance(each, list):
            waiting.extend(reversed(each))


def _raw(text: str, finish: str = "") -> Reply:
    reasoning, content = _apart(text)
    return Reply(raw=True, content=content, reasoning=reasoning, finish=finish)


def _apart(text: str) -> tuple[str, str]:
    """Tell a thought from what follows; where templates open it in the prompt it is only closed."""
    thought, closed, rest = text.partition(_THOUGHT)
    thought = thought.lstrip().removeprefix(_THINK)
    return (thought, rest) if closed and _THINK not in thought else ("", text)


def _message(message: Mapping[str, Any], finish: str) -> Reply:
    content = _text(message.get("content"))
    reasoning = _text(message.get("reasoning_content")) or _text(message.get("reasoning"))
    if not reasoning:  # a server without a reasoning parser
        reasoning, content = _apart(content)
    made = message.get("tool_calls")
    calls = [_call(each) for each in made] if isinstance(made, list) else []
    if message.get("function_call"):
        calls.append(_call({"function": message["function_call"]}))
    return Reply(content=content, reasoning=reasoning, calls=tuple(calls), finish=finish)


def _call(made: object) -> Call:
    match made:
        case {"function": {"name": str(name), "arguments": str(arguments)}}:
            return Call(name=name, arguments=arguments)
        case {"function": {"name": str(name), "arguments": Mapping() as arguments}}:
            return Call(name=name, arguments=json.dumps(arguments))
        case {"function": {"name": str(name)}}:
            return Call(name=name, arguments="")
    return Call(name="", arguments="")


def _text(value: object) -> str:
    match value:
        case str():
            return value
        case list():
            parts = [part.get("text") for part in value if isinstance(part, Mapping)]
            return "".join(part for part in parts if isinstance(part, str))
    return ""


def _error(value: object) -> str:
    match value:
        case {"message": str(said)} | str(said):
            return said or "no reason given"
    return "no reason given"
