"""Joins what a body says: deltas of OpenAI's APIs, and SGLang's `/generate` with its cumulative text.

A joiner takes the data of one event after the other, or of one whole answer, and never raises: what is
not what the API promises becomes its `fault`, an error object its `error`, and what was joined before
stays. Joining is concatenation and nothing else; a text that was split anywhere comes back whole, and
nothing is trimmed, repaired or guessed at. What the APIs promise is in `shapes.py`.

Bytes that are not UTF-8 are told from the engine's own U+FFFD: they travel as lone surrogates until
the text is whole, are counted there, and only then replaced.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, NoReturn

import msgspec

from workbench.http.reply import Answer, Choice, Form, ToolCall, Usage
from workbench.http.shapes import CallDelta, Chunk, Generated, Part

_ESCAPED_BYTES = re.compile("[\udc80-\udcff]")


class Joiner:
    """What all forms share: decoding, errors, the end. Joins nothing itself.

    Attributes:
        fault: Why what came is not what the API promises; empty while it is.
        error: The engine's error object as JSON text; empty while there is none.
        content: Whether any text, reasoning or call has come.
    """

    shape: Any = Any  # what an event is, in the words of msgspec
    _decode = msgspec.json.Decoder(Any).decode

    def __init__(self) -> None:
        self.fault = ""
        self.error = ""
        self.content = False
        self._events = 0
        self._id = ""
        self._model = ""
        self._usage: Usage | None = None
        self._choices: dict[int, _Choice] = {}
        self._rewound = 0
        self._slow = False  # something came that only the careful decoder could read
        self._undecodable = 0
        self._replaced = 0

    @property
    def finished(self) -> bool:
        """Whether every choice that began has said why it ended."""
        return bool(self._choices) and all(choice.finish for choice in self._choices.values())

    def feed(self, data: bytes, *, error: bool = False) -> None:
        """Take the data of an event, or a whole answer.

        Args:
            data: JSON. Nothing is not an event, but a sign of life.
            error: The event is named an error; then it need not be JSON.
        """
        if self.fault or not data:
            return
        self._events += 1
        try:
            value = None if error else self._decode(data)
        except (ValueError, RecursionError):
            value = None
        if value is None:
            value = self._careful(data, error)
        if value is not None:
            self._take(value)

    def answer(self) -> Answer:
        """Give what has been joined so far."""
        self._undecodable = self._replaced = 0
        choices = tuple(self._settled(choice) for _, choice in sorted(self._choices.items()))
        return Answer(
            choices=choices,
            usage=self._usage,
            id=self._text(self._id),
            model=self._text(self._model),
            events=self._events,
            rewound=self._rewound,
            undecodable=self._undecodable,
            replaced=self._replaced,
            error=self.error,
        )

    def _take(self, value: Any) -> None:
        """Join one event; of plain JSON there is nothing to join."""
        self._look_for_error(value)

    def _look_for_error(self, value: Any) -> bool:
        """Keep an error object: `{"error": ...}`, or vLLM's older `{"object": "error", ...}`."""
        if not isinstance(value, dict):
            return False
        told = value.get("error") or (value if value.get("object") == "error" else None)
        if told:
            self.error = self.error or json.dumps(told)
        return bool(told)

    def _careful(self, data: bytes, error: bool) -> Any:
        """Decode what the quick decoder refused; None if it was an error, or is not what was promised.

        Bytes that are not UTF-8 become lone surrogates, and halves of surrogate pairs stay.
        """
        self._slow = True
        try:
            value = json.loads(data.decode("utf-8", "surrogateescape"), parse_constant=_refuse)
        except (ValueError, RecursionError) as mistake:
            if error:
                self.error = self.error or json.dumps(data.decode("utf-8", "replace"))
            else:
                self.fault = f"event {self._events} is not JSON: {mistake}"
            return None
        if self._look_for_error(value):
            return None
        if error:
            self.error = self.error or json.dumps(value)
            return None
        try:
            return msgspec.convert(value, self.shape)
        except (ValueError, RecursionError) as mistake:
            self.fault = f"event {self._events} is not what the API promises: {mistake}"
            return None

    def _choice(self, index: int | None) -> _Choice:
        choice = self._choices.get(index or 0)
        if choice is None:
            choice = self._choices[index or 0] = _Choice()
        return choice

    def _settled(self, choice: _Choice) -> Choice:
        calls = (call for _, call in sorted(choice.calls.items()))
        return Choice(
            content=self._text("".join(choice.content)),
            reasoning=self._text("".join(choice.reasoning)),
            tool_calls=tuple(
                ToolCall(
                    id=self._text(call.id),
                    name=self._text("".join(call.name)),
                    arguments=self._text("".join(call.arguments)),
                )
                for call in calls
            ),
            finish_reason=self._text(choice.finish),
        )

    def _text(self, text: str) -> str:
        """Make a text whole: count what is no character, and put U+FFFD there."""
        if text.isascii():
            return text
        own = text.count("\ufffd")
        self._replaced += own
        if self._slow:
            text = _ESCAPED_BYTES.sub("\ufffd", text)
            # halves of a pair that came in two events make one character; a lone one makes none
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
            self._undecodable += text.count("\ufffd") - own
        return text


class ChatJoiner(Joiner):
    """Joins chunks of chat completions and completions; a whole answer is one chunk to it."""

    shape = Chunk
    _decode = msgspec.json.Decoder(Chunk).decode

    def _take(self, value: Chunk) -> None:
        if value.error or value.object == "error":
            told = value.error or {name: getattr(value, name) for name in ("message", "code")}
            self.error = self.error or json.dumps(told)
            return
        if not self._id and value.id is not None:
            self._id = str(value.id)
        if not self._model and value.model is not None:
            self._model = str(value.model)
        for part in value.choices or ():
            self._part(part)
        if isinstance(value.usage, dict):
            details = value.usage.get("prompt_tokens_details")
            cached = details.get("cached_tokens") if isinstance(details, dict) else None
            self._usage = _usage(value.usage, cached)

    def _part(self, part: Part) -> None:
        choice = self._choice(part.index)
        if part.finish_reason:
            choice.finish = part.finish_reason
        delta = part.delta or part.message
        text = (delta.content if delta else None) or part.text
        if text:
            choice.content.append(text)
            self.content = True
        if delta is None:
            return
        if thought := delta.reasoning_content or delta.reasoning:
            choice.reasoning.append(thought)
            self.content = True
        for call in delta.tool_calls or ():
            choice.call(call)
            self.content = True


class GenerateJoiner(Joiner):
    """Joins answers of SGLang's `/generate`, each of which has the whole text so far."""

    shape = Generated | list[Generated]
    _decode = msgspec.json.Decoder(Generated | list[Generated]).decode

    def _take(self, value: Generated | list[Generated]) -> None:
        for each in value if isinstance(value, list) else (value,):
            if each.error:
                self.error = self.error or json.dumps(each.error)
                continue
            choice = self._choice(each.index)
            text = each.text or ""
            self._rewound += not text.startswith("".join(choice.content))
            choice.content = [text]
            self.content = self.content or bool(text)
            told = each.meta_info or {}
            self._id = self._id or str(told.get("id") or "")
            reason = told.get("finish_reason")
            reason = reason.get("type") if isinstance(reason, dict) else reason
            choice.finish = str(reason or "") or choice.finish
            self._usage = _usage(told, None) if told else self._usage


def joiner(form: Form) -> Joiner:
    """Give the joiner of a form."""
    return {Form.CHAT: ChatJoiner, Form.GENERATE: GenerateJoiner}.get(form, Joiner)()


def join(form: Form, events: Iterable[bytes]) -> Answer:
    """Join events that are there already, without the `[DONE]` of their end."""
    joining = joiner(form)
    for event in events:
        joining.feed(event)
    return joining.answer()


class _Call:
    __slots__ = ("arguments", "id", "name")

    def __init__(self) -> None:
        self.id = ""
        self.name: list[str] = []
        self.arguments: list[str] = []


class _Choice:
    __slots__ = ("calls", "content", "finish", "reasoning")

    def __init__(self) -> None:
        self.content: list[str] = []
        self.reasoning: list[str] = []
        self.calls: dict[int, _Call] = {}
        self.finish = ""

    def call(self, delta: CallDelta) -> None:
        """Join a part of a call. Without a number, an id or a name begins the next one."""
        name = (delta.function.name if delta.function else None) or ""
        arguments = (delta.function.arguments if delta.function else None) or ""
        index = delta.index
        if index is None:
            last = max(self.calls, default=-1)
            index = last + 1 if delta.id or name or last < 0 else last
        call = self.calls.setdefault(index, _Call())
        call.id = call.id or delta.id or ""
        call.name.append(name)
        if isinstance(arguments, dict):  # some servers send the object itself
            arguments = json.dumps(arguments, ensure_ascii=False)
        call.arguments.append(arguments)


def _usage(counts: dict[str, Any], cached: Any) -> Usage:
    def count(value: Any) -> int | None:
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    prompt, completion = counts.get("prompt_tokens"), counts.get("completion_tokens")
    cached = counts.get("cached_tokens") if cached is None else cached
    return Usage(prompt=count(prompt), completion=count(completion), cached=count(cached))


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON")
