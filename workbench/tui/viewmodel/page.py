"""Lines of a report, each with what it is, so that a view can set them apart without reading them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from workbench.report.text import inert

_WARNINGS = ("WARNING", "warning:")


class Kind(StrEnum):
    """What a line is."""

    HEADING = "heading"
    TEXT = "text"
    WARNING = "warning"


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """A line of a page.

    Attributes:
        text: It, inert.
        kind: What it is.
    """

    text: str
    kind: Kind = Kind.TEXT


def page(lines: Iterable[str]) -> tuple[Line, ...]:
    """Tell the lines of a report apart: what stands at the margin after an empty line is a heading."""
    found: list[Line] = []
    before = ""
    for line in lines:
        text = inert(line)
        kind = Kind.TEXT
        if text.lstrip().startswith(_WARNINGS):
            kind = Kind.WARNING
        elif not before and text[:1] not in ("", " "):
            kind = Kind.HEADING
        found.append(Line(text=text, kind=kind))
        before = text
    return tuple(found)


def sought(lines: Iterable[Line], words: str) -> tuple[int, ...]:
    """Give the places of the lines that hold words, in whatever case; none for no words."""
    low = words.casefold().strip()
    return tuple(at for at, line in enumerate(lines) if low and low in line.text.casefold())
