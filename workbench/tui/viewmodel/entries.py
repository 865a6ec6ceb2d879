"""The campaign's log as rows: who did or found what, and when."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from workbench.model.event import Event
from workbench.report.log import happened, line
from workbench.report.reasons import who
from workbench.report.text import cut, inert, wrapped
from workbench.report.values import utc

_BY = 40
_INDENT, _LINES = 4, 2


def entries(events: Sequence[Event], words: str, width: int) -> list[tuple[str, str]]:
    """Give the events as rows, each with its digest, in the order of the log.

    Args:
        events: They.
        words: What is sought, every one of the words, in whatever case.
        width: Columns of a row.
    """
    sought = words.casefold().split()
    rows = []
    for event in events:
        happens = happened(event)
        by = who(event.by.name, event.by.agent)
        if all(word in f"{by} {happens}".casefold() for word in sought):
            head = f"{event.at:%m-%d %H:%M}  {cut(by, _BY)}"
            rows.append((event.digest, "\n".join([head, *_folded(happens, width)])))
    return rows


def _folded(text: str, width: int) -> list[str]:
    """Fold a text into at most two lines."""
    lines = textwrap.wrap(inert(text), width - _INDENT)
    if len(lines) > _LINES:
        lines = [lines[0], cut(" ".join(lines[1:]), width - _INDENT)]
    return [" " * _INDENT + line for line in lines]


def entry(event: Event) -> Iterator[str]:
    """Yield an event as a page."""
    yield f"{event.id}  {event.kind}"
    yield f"  {utc(event.at)}, by {who(event.by.name, event.by.agent)}"
    yield ""
    yield from wrapped(inert(line(event)), 0)
