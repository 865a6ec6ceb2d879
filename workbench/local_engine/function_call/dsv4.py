"""Parser of DSML, the markup in which DeepSeek V4 calls tools.

    <｜DSML｜tool_calls>
    <｜DSML｜invoke name="lookup">
    <｜DSML｜parameter name="key" string="true">amber</｜DSML｜parameter>
    </｜DSML｜invoke>
    </｜DSML｜tool_calls>

A parameter is raw text with `string="true"`, JSON otherwise; one JSON object may stand in place of all
parameters. Text before and after a block is content.

Markup that does not parse is dropped with a warning (fail-closed) or becomes content (fail-open). That
choice decides whether a garbled reply is seen by a client, or only missed as "no tool call".
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass

from ..logs import logger

_D = "｜DSML｜"  # the bars are full width
_MARKERS = (f"<{_D}", f"</{_D}")
_OPENER = re.compile(rf"<{_D}tool_calls>")
_CLOSER = re.compile(rf"\s*</{_D}tool_calls>")
_INVOKE = re.compile(
    rf'\s*<{_D}invoke name="(?P<name>[^"<>]+)">(?P<body>(?:(?!</?{_D}invoke).)*)</{_D}invoke>',
    re.DOTALL,
)
_PARAMETER = re.compile(
    rf'\s*<{_D}parameter name="(?P<name>[^"<>]+)" string="(?P<string>true|false)">'
    rf"(?P<value>(?:(?!{_D}).)*)</{_D}parameter>",
    re.DOTALL,
)
_END_OF_FRAGMENT = re.compile(rf"</{_D}(?:invoke|tool_calls)>")
_END_OF_BLOCK = re.compile(rf"</{_D}tool_calls>")
_LONGEST_OPENER = len(f"<{_D}tool_calls>")


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCall:
    """One call: the tool's name, and its arguments by name."""

    name: str
    arguments: dict[str, object]


@dataclass(frozen=True, kw_only=True, slots=True)
class Delta:
    """What a piece of a reply adds: content to show, and calls that are now complete."""

    content: str = ""
    calls: tuple[ToolCall, ...] = ()


class DSMLParser:
    """Reads one reply piece by piece; what it gives does not depend on where the pieces are cut.

    Args:
        tools: Names that may be called. A call of another tool is markup that does not parse.
        fail_open: What to do with markup that does not parse; see above.
    """

    def __init__(self, tools: Collection[str], *, fail_open: bool) -> None:
        self._tools = tools
        self._fail_open = fail_open
        self._held = ""
        self._in_block = False
        self._opener = ""  # of the block at hand, while nothing of that block was understood
        self._opener_was_shown = False

    def feed(self, text: str) -> Delta:
        """Take the next piece of the reply."""
        self._held += text
        return self._advance(final=False)

    def close(self) -> Delta:
        """Take the end of the reply."""
        return self._advance(final=True)

    def _advance(self, *, final: bool) -> Delta:
        content: list[str] = []
        calls: list[ToolCall] = []
        progress = True
        while progress and (self._held or (final and self._opener)):
            step = self._inside if self._in_block else self._outside
            progress = step(content, calls, final)
        return Delta(content="".join(content), calls=tuple(calls))

    def _outside(self, content: list[str], _: list[ToolCall], final: bool) -> bool:
        """Give content up to the next markup, and enter a block; True if there may be more to do."""
        start = min((at for marker in _MARKERS if (at := self._held.find(marker)) >= 0), default=-1)
        if start < 0:
            kept = 0 if final else _possible_marker(self._held)
            content.append(self._take(len(self._held) - kept))
            return False
        content.append(self._take(start))
        if opener := _OPENER.match(self._held):
            self._opener = self._take(opener.end())
            self._in_block, self._opener_was_shown = True, False
            return True
        if len(self._held) < _LONGEST_OPENER and not final:
            return False
        return self._drop_through(_END_OF_BLOCK, content, final)  # markup with no block around it

    def _inside(self, content: list[str], calls: list[ToolCall], final: bool) -> bool:
        """Take one invoke or the end of the block; True if there may be more to do."""
        if closer := _CLOSER.match(self._held):
            markup = self._take(closer.end())
            if self._opener or self._opener_was_shown:
                self._malformed(markup, content)
            self._in_block = False
            return True
        if invoke := _INVOKE.match(self._held):
            call = self._call(invoke["name"], invoke["body"])
            markup = self._take(invoke.end())
            if call is None:
                self._malformed(markup, content)
            else:
                self._opener = ""
                calls.append(call)
            return True
        if final and not self._held.strip() and not self._opener:
            space = self._take(len(self._held))
            if self._opener_was_shown:
                content.append(space)
            return False
        return self._drop_through(_END_OF_FRAGMENT, content, final)

    def _call(self, name: str, body: str) -> ToolCall | None:
        if name not in self._tools:
            logger.warning("Model attempted to call undefined function: %r", name)
            return None
        arguments = _arguments(body)
        return None if arguments is None else ToolCall(name=name, arguments=arguments)

    def _drop_through(self, end: re.Pattern[str], content: list[str], final: bool) -> bool:
        if found := end.search(self._held):
            # the end of the block is left in place when a block is open, so that it is closed
            closes = self._in_block and found[0].endswith("tool_calls>")
            self._malformed(self._take(found.start() if closes else found.end()), content)
            return True
        if final:
            self._malformed(self._take(len(self._held)), content)
        return False

    def _malformed(self, markup: str, content: list[str]) -> None:
        if self._fail_open:
            content.append(self._opener + markup)
            self._opener_was_shown = self._opener_was_shown or bool(self._opener)
        else:
            logger.warning("Dropping malformed DeepSeek invoke: %d characters", len(markup))
        self._opener = ""

    def _take(self, size: int) -> str:
        taken, self._held = self._held[:size], self._held[size:]
        return taken


def _possible_marker(text: str) -> int:
    """Give the length of the longest tail of a text that may become a marker."""
    start = text.rfind("<")
    tail = text[start:]
    return len(tail) if start >= 0 and any(m.startswith(tail) for m in _MARKERS) else 0


def _arguments(body: str) -> dict[str, object] | None:
    """Give the arguments in the body of an invoke, None if it is malformed."""
    if body.lstrip().startswith("{"):
        value = _json(body)
        return value if isinstance(value, dict) else None
    arguments: dict[str, object] = {}
    at = 0
    while parameter := _PARAMETER.match(body, at):
        at = parameter.end()
        name = parameter["name"]
        value = parameter["value"] if parameter["string"] == "true" else _json(parameter["value"])
        if name in arguments or value is _BAD:
            return None
        arguments[name] = value
    return None if body[at:].strip() else arguments


_BAD = object()


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _BAD
