"""A page of text that scrolls: details, reports, replies. Keys as in a pager."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

from workbench.tui.viewmodel.page import Line
from workbench.tui.widgets.inert import styled

MOST_LINES = 4000  # drawn at once; what is longer says so, and where the whole is


class Page(VerticalScroll, can_focus=True):
    """Lines, wrapped at the width there is."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "scroll_down", "down", show=False),
        Binding("k,up", "scroll_up", "up", show=False),
        Binding("g,home", "scroll_home", "to the top", show=False),
        Binding("G,end", "scroll_end", "to the end", show=False),
        Binding("space,pagedown", "page_down", "a page on", show=False),
        Binding("b,pageup", "page_up", "a page back", show=False),
    ]

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._static = Static(markup=False)
        self.lines: tuple[Line, ...] = ()

    def compose(self) -> ComposeResult:
        """Hold the text."""
        yield self._static

    def show(self, lines: Sequence[Line], *, keep: bool = False) -> None:
        """Show lines.

        Args:
            lines: They.
            keep: The page is about the same thing as before: stay where the reader is.
        """
        self.lines = tuple(lines)
        shown = self.lines[:MOST_LINES]
        left = len(self.lines) - len(shown)
        if left:
            shown = (*shown, Line(text=f"... {left} more lines are not drawn"))
        self._static.update(styled(shown))
        if not keep:
            self.scroll_home(animate=False)
