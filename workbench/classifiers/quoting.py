"""Where a text quotes: fenced blocks and code spans of Markdown. Markup in there is only spoken of.

A span opens and closes with as many backticks, and no empty line stands between; a fence opens and
closes at the beginning of lines. A fence that nobody closes quotes nothing, unless the text was cut
off: else one stray fence would hide all that is wrong after it. Every question takes time in proportion
to the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass

_MARKS = re.compile(
    r"^ {0,3}(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})(?P<info>[^\n]*)|(?P<span>`+)", re.MULTILINE
)
_EMPTY_LINE = re.compile(r"\n[ \t]*\n")


@dataclass(frozen=True, slots=True)
class Span:
    """A quoted part of a text, its marks included: from `start` up to `end`, in characters."""

    start: int
    end: int


class Quotes:
    """The quotes of one text, found from any place on.

    Args:
        text: The text.
        cut: It was cut off, so that an open fence may have been meant to close.
    """

    def __init__(self, text: str, *, cut: bool = False) -> None:
        self._length = len(text)
        self._cut = cut
        self._marks = list(_MARKS.finditer(text))
        self._starts = [mark.start() for mark in self._marks]
        self._fences: dict[str, list[re.Match[str]]] = defaultdict(list)
        self._runs: dict[int, list[int]] = defaultdict(list)
        for mark in self._marks:
            if mark["fence"]:
                self._fences[mark["fence"][0]].append(mark)
            else:
                self._runs[len(mark["span"])].append(mark.start())
        self._empty_lines = [found.start() for found in _EMPTY_LINE.finditer(text)]
        self._no_closer: dict[str, int] = {}  # a fence this long, or longer, has nothing that closes it

    def after(self, at: int) -> Span | None:
        """Give the first quote that opens at `at` or later."""
        for place in range(bisect_left(self._starts, at), len(self._marks)):
            mark = self._marks[place]
            span = self._fenced(mark) if mark["fence"] else self._spanned(mark)
            if span:
                return span
        return None

    def _fenced(self, mark: re.Match[str]) -> Span | None:
        sign, size = mark["fence"][0], len(mark["fence"])
        if size < self._no_closer.get(sign, size + 1):
            fences = self._fences[sign]
            for place in range(bisect_left(fences, mark.end(), key=re.Match.start), len(fences)):
                other = fences[place]
                if len(other["fence"]) >= size and not other["info"].strip():
                    return Span(mark.start(), other.end())
            self._no_closer[sign] = size
        return Span(mark.start(), self._length) if self._cut else None

    def _spanned(self, mark: re.Match[str]) -> Span | None:
        size = len(mark["span"])
        runs = self._runs[size]
        place = bisect_left(runs, mark.end())
        if place == len(runs):
            return None
        empty = bisect_left(self._empty_lines, mark.end())
        if empty < len(self._empty_lines) and self._empty_lines[empty] < runs[place]:
            return None
        return Span(mark.start(), runs[place] + size)


def unquoted(text: str, *, cut: bool = False) -> str:
    """Give a text of the same length in which each quote is blank."""
    quotes = Quotes(text, cut=cut)
    pieces: list[str] = []
    at = 0
    while span := quotes.after(at):
        pieces += [text[at : span.start], " " * (span.end - span.start)]
        at = span.end
    return "".join([*pieces, text[at:]])
