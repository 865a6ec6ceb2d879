"""Text in widgets, never as markup: `[bold]`, a link or an escape sequence in a reply stays as it is.

Textual parses a plain string that it is given. So no view gives it one: what is shown comes from here.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich.text import Text
from textual.content import Content
from textual.widgets import Static

from workbench.report.text import inert
from workbench.tui.viewmodel.tree import Piece


def plain(text: str) -> Content:
    """Give text as it may be shown: no markup in it means anything, no control character is sent.

    Line breaks are kept; everything else that is not printable is spelled out.
    """
    return Content("\n".join(map(inert, text.split("\n"))))


def pieces(found: Iterable[Piece]) -> Text:
    """Give a label for a tree, which takes no other kind of text."""
    text = Text(no_wrap=True, end="")
    for piece in found:
        text.append(inert(piece.text), style=piece.style or None)
    return text


class Plain(Static):
    """A text that is only ever shown."""

    def __init__(self, text: str = "", *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(plain(text), markup=False, id=id, classes=classes)

    def say(self, text: str) -> None:
        """Show another text."""
        self.update(plain(text))
