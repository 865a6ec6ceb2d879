"""Labels a reply of a chat server that may call tools: what is wrong with it, if anything.

A body of `/v1/chat/completions` shows what the server's parser made of the model's words, a body of
`/generate` or plain text shows the words; `reply.py` tells which it is. The first that applies:

    error                   the engine says what went wrong, in place of a reply
    salad, repetition       the words themselves are broken, whatever else they hold
    markup_leaked           markup of calls where people read, or inside the arguments of a call
    control_token           the same with control tokens
    truncated               it ended because it was as long as it may be
    unknown_tool, invalid_json, schema_violation     a call that no tool can take
    call_lost               a call was announced, or is due, and there is none
    empty                   nothing said and nothing called
    wrong_but_well_formed   a fine call, and not the right one
    ok

A parser can lose, leak or refuse one and the same broken call, and which it does differs from build to
build. So the rule says where the fault stands and whether whole markup leaked, which convicts the
parser, or broken markup, which the model wrote.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from workbench.classifiers.families import FAMILIES
from workbench.classifiers.markup import Family, Found, find
from workbench.classifiers.quoting import unquoted
from workbench.classifiers.reply import (
    BAD_JSON,
    Call,
    Reply,
    canonical,
    read_json,
    read_reply,
    texts_in,
)
from workbench.classifiers.salad import Thresholds, look
from workbench.classifiers.schemas import Schemas
from workbench.classifiers.words import MEANINGS, SKIPPED, bad, failed, unfinished
from workbench.errors import nearest
from workbench.model.outcome import Exchange, Label

LOOKED_AT = 262_144
_ANNOUNCED = frozenset({"tool_calls", "function_call"})
_Told = tuple[str, str] | None  # a word and the rule that fired


@dataclass(frozen=True, kw_only=True)
class ToolCallOptions:
    """Options of the classifier.

    Attributes:
        family: Whose markup the model writes, such as `deepseek_v4`.
        tools: Name of a tool to the JSON Schema of its arguments, {} for any; empty when any tool will
            do.
        call: `required` when every reply must make a call, so that one without is a lost call. With
            `optional` a call that was lost behind plain words looks like an answer in words, and is
            `ok`.
        thresholds: Laid over those of `salad.Thresholds`.
    """

    family: str
    tools: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    call: Literal["optional", "required"] = "optional"
    thresholds: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.family not in FAMILIES:
            hint = nearest(self.family, FAMILIES)
            raise ValueError(f"there is no family {self.family!r}; {hint}")
        Thresholds.of(self.thresholds)
        Schemas(self.tools)


@dataclass(frozen=True, kw_only=True, slots=True)
class _View:
    """A reply, and what stands in it.

    Attributes:
        reply: The reply.
        content: Markup in what is said.
        reasoning: Markup in what is thought.
        calls: Calls, read by the server or, in a raw reply, here.
        arguments: Their arguments as JSON values, or BAD_JSON.
        values: Texts in those arguments; broken arguments as they stand.
        right: The right calls in canonical form, or None where nobody gives them.
    """

    reply: Reply
    content: Found
    reasoning: Found
    calls: tuple[Call, ...]
    arguments: tuple[Any, ...]
    values: tuple[str, ...]
    right: list[str] | None


class ToolCall:
    """Classifier `tool_call`."""

    Options = ToolCallOptions
    words: Mapping[str, str] = {
        "ok": "calls that the tools allow, or an answer in words",
        "error": "the engine answered with an error",
        "salad": "the text is no language: scripts mixed, characters from anywhere, words strung up",
        "repetition": "the text repeats itself without end",
        "markup_leaked": "markup of a call stands in the content, the reasoning, or in an argument",
        "control_token": "a control token stands in the content, the reasoning, or in an argument",
        "truncated": "the reply was cut off because it had grown too long",
        "unknown_tool": "a call of a tool that was not offered",
        "invalid_json": "a call whose arguments are not JSON",
        "schema_violation": "a call whose arguments the tool's schema forbids",
        "call_lost": "a call was announced or is due, and there is none that can be read",
        "empty": "nothing was said and nothing was called",
        "wrong_but_well_formed": "a call that the tools allow, and not the right one",
        **MEANINGS,
    }
    clean: tuple[str, ...] = ("ok",)
    void: tuple[str, ...] = (SKIPPED,)

    def __init__(self, options: ToolCallOptions) -> None:
        self._family: Family = FAMILIES[options.family]
        self._any_tool = not options.tools
        self._schemas = Schemas(options.tools)
        self._required = options.call == "required"
        self._thresholds = Thresholds.of(options.thresholds)
        self._checks: tuple[Callable[[_View], _Told], ...] = (
            self._broken_words,
            self._leaked,
            self._cut,
            self._bad_call,
            self._lost,
            _empty,
            _wrong,
        )

    def label(self, exchange: Exchange) -> Label:
        """Label one reply; one of more than LOOKED_AT characters by its beginning and its end."""
        if ended := unfinished(exchange) or failed(exchange):
            return ended
        view = self._view(read_reply(exchange.text), exchange.expected)
        if view.reply.error:
            return bad("error", view.reply.error)
        for check in self._checks:
            if told := check(view):
                return bad(*told)
        return Label(word="ok", rule="calls" if view.calls else "words")

    def _view(self, reply: Reply, expected: str) -> _View:
        content = find(_ends(reply.content), self._family, cut=reply.cut)
        reasoning = find(_ends(reply.reasoning), self._family)
        calls = reply.calls + (content.calls if reply.raw else ())
        arguments = tuple(read_json(call.arguments) for call in calls)
        values: list[str] = []
        for call, value in zip(calls, arguments, strict=True):
            values += [call.arguments] if value is BAD_JSON else texts_in(value)
        return _View(
            reply=reply,
            content=content,
            reasoning=reasoning,
            calls=calls,
            arguments=arguments,
            values=tuple(_ends(value) for value in values),
            right=_right(expected),
        )

    def _broken_words(self, view: _View) -> _Told:
        said = {
            "content": view.content.outside,
            "reasoning": view.reasoning.outside,
            "arguments": "\n".join(view.values),
        }
        for where, text in said.items():
            if sign := look(text, self._thresholds):
                return sign.word, f"{where}: {sign.name}: {sign.detail}"
        return None

    def _leaked(self, view: _View) -> _Told:
        family = self._family
        found = {"content": view.content, "reasoning": view.reasoning}
        if view.reply.raw or (view.content.open and view.reply.cut):
            found["content"] = _without_blocks(view.content)  # they are where they belong
        for where, each in found.items():
            if each.blocks:
                kind = f"broken markup: {each.fault}" if each.fault else "whole markup"
                return "markup_leaked", f"{where}: {kind}"
            if family.trace.search(each.bare):
                return "markup_leaked", f"{where}: broken markup: a stray piece"
        values = [unquoted(value) for value in view.values]
        if any(map(family.trace.search, values)):
            return "markup_leaked", "arguments: broken markup: a stray piece"
        bare = {"content": view.content.bare, "reasoning": view.reasoning.bare}
        for where, text in [*bare.items(), *(("arguments", value) for value in values)]:
            if token := family.control.search(text):
                return "control_token", f"{where}: {token[0]}"
        return None

    def _cut(self, view: _View) -> _Told:
        if view.reply.torn:
            return "truncated", "the body is no whole JSON"
        return ("truncated", "finish reason length") if view.reply.cut else None

    def _bad_call(self, view: _View) -> _Told:
        for call, arguments in zip(view.calls, view.arguments, strict=True):
            if not call.name or not (self._any_tool or call.name in self._schemas):
                return "unknown_tool", f"there is no tool {call.name[:60]!r}"
            if arguments is BAD_JSON:
                return "invalid_json", f"{call.name}: arguments are not JSON"
            if not isinstance(arguments, dict):
                return "schema_violation", f"{call.name}: arguments are not an object"
            if call.name in self._schemas and (wrong := self._schemas.violation(call.name, arguments)):
                return "schema_violation", f"{call.name}: {wrong}"
        return None

    def _lost(self, view: _View) -> _Told:
        if view.reply.raw and view.content.fault:
            return "call_lost", f"raw markup: {view.content.fault}"
        if view.calls:
            return None
        if view.reply.finish in _ANNOUNCED:
            return "call_lost", f"finish reason {view.reply.finish} and no call"
        if self._required or view.right:
            said = "other words" if view.reply.content.strip() else "no words"
            return "call_lost", f"a call is due, and there are {said}"
        return None


def _empty(view: _View) -> _Told:
    if view.calls or view.reply.content.strip():
        return None
    return "empty", "reasoning only" if view.reply.reasoning.strip() else "nothing at all"


def _wrong(view: _View) -> _Told:
    if view.right is None:
        return None
    made = [
        _canonical(call.name, value) for call, value in zip(view.calls, view.arguments, strict=True)
    ]
    if sorted(made) == view.right:
        return None
    return "wrong_but_well_formed", f"{len(made)} calls, and not the right {len(view.right)}"


def _right(expected: str) -> list[str] | None:
    """Give the right calls: an object with `name` and `arguments`, or a list of them; else None."""
    value = read_json(canonical(expected) or "") if expected else BAD_JSON
    due = value if isinstance(value, list) else [value]
    right: list[str] = []
    for each in due:
        match each:
            case {"name": str(name), "arguments": dict(arguments)}:
                right.append(_canonical(name, arguments))
            case _:
                return None
    return sorted(right)


def _canonical(name: str, arguments: Any) -> str:
    return canonical(json.dumps([name, arguments])) or ""


def _without_blocks(found: Found) -> Found:
    return Found(
        calls=found.calls, outside=found.outside, bare=found.bare, blocks=0, fault="", open=False
    )


def _ends(text: str) -> str:
    return text if len(text) <= LOOKED_AT else text[: LOOKED_AT // 2] + text[-LOOKED_AT // 2 :]
