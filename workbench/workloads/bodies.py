"""Bodies of requests: what a workload says, with options and the arm's own fields laid over it.

Names of fields are dotted where they lie within an object, `sampling_params.temperature`; a value of
None takes a field out. The arm comes last: a knob that sets a field has the last word on it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from workbench.http.reply import Form

_USAGE = "stream_options"  # without it a stream of OpenAI's API tells no counts of tokens


class Api(StrEnum):
    """What a path answers with, told by its end."""

    CHAT = "chat"  # `/v1/chat/completions`, and whatever is none of the others
    COMPLETIONS = "completions"  # `/v1/completions`: text in, text out
    GENERATE = "generate"  # SGLang's `/generate`: likewise, and untouched by any parser

    @classmethod
    def of(cls, path: str) -> Api:
        """Tell it from a path."""
        place = path.partition("?")[0].rstrip("/")
        if place.endswith("/generate"):
            return cls.GENERATE
        chat = place.endswith("/chat/completions") or not place.endswith("/completions")
        return cls.CHAT if chat else cls.COMPLETIONS

    @property
    def form(self) -> Form:
        """How its answers are joined."""
        return Form.GENERATE if self is Api.GENERATE else Form.CHAT

    def says(self, text: str) -> dict[str, Any]:
        """Give the least body that says a text."""
        if self is Api.CHAT:
            return {"messages": [{"role": "user", "content": text}]}
        return {"text" if self is Api.GENERATE else "prompt": text}


def assembled(
    said: Mapping[str, Any],
    *,
    api: Api,
    stream: bool,
    model: str,
    fields: Mapping[str, Any],
    arm: Mapping[str, Any],
) -> dict[str, Any]:
    """Give the body of a request.

    Args:
        said: What the workload says; if it states `stream` itself, that holds.
        api: What it is sent to.
        stream: Ask for a stream.
        model: Name of the model; empty to leave it as it is.
        fields: Fields of the workload's options.
        arm: Fields of the arm.

    Raises:
        ValueError: A dotted name leads through something that is no object.
    """
    body = laid_over({"stream": stream, **said, **({"model": model} if model else {})}, fields)
    body = laid_over(body, arm)
    spoken_of = _USAGE in body or _USAGE in fields or _USAGE in arm
    if streams(body) and api is not Api.GENERATE and not spoken_of:
        body[_USAGE] = {"include_usage": True}
    return body


def streams(body: Mapping[str, Any]) -> bool:
    """Whether a body asks for a stream."""
    return body.get("stream") is True


def laid_over(body: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Give a body with fields set, or taken out; neither is changed.

    Raises:
        ValueError: A dotted name leads through something that is no object.
    """
    result = dict(body)
    for name, value in fields.items():
        *way, last = name.split(".")
        place = result
        for step in way:
            inner = place.get(step)
            if not isinstance(inner, Mapping | None):
                raise ValueError(f"field {name!r} cannot be set: {step!r} is no object")
            place[step] = dict(inner or {})  # a copy: other requests share what it was
            place = place[step]
        if value is None:
            place.pop(last, None)
        else:
            place[last] = value
    return result


def encoded(body: Mapping[str, Any]) -> bytes:
    """Write a body as JSON, the same bytes for the same body.

    Raises:
        ValueError: It holds what JSON has no form for.
    """
    try:
        text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode()
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from error
