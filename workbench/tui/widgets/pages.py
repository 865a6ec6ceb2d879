"""A page of text that scrolls: details, reports, replies. Keys as in a pager."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

from workbench.report.text import count, inert
from workbench.tui.viewmodel.page import Line, sought
from workbench.tui.widgets.inert import plain, styled

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
        self._marked: tuple[int, ...] = ()
        self._current = 0
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
        self._marked, self._current = (), 0
        self._draw()
        if not keep:
            self.scroll_home(animate=False)

    def mark(self, words: str) -> None:
        """Mark the lines that hold words, and go to the first of them."""
        self._marked, self._current = sought(self.lines, words), 0
        self._draw()
        self._come()

    def go(self, way: int) -> None:
        """Go to the next marked line, or to one before; after the last comes the first."""
        if self._marked:
            self._current = (self._current + way) % len(self._marked)
            self._draw()
            self._come()

    def said(self, words: str) -> str:
        """Say how many lines are marked, and at which of them the reader is."""
        if not self._marked:
            return f"'{inert(words)}' is nowhere here; esc ends the search"
        lines = count(len(self._marked), "line")
        return f"'{inert(words)}': {lines}, at {self._current + 1}; n and N move, esc ends the search"

    def _draw(self) -> None:
        shown = self.lines[:MOST_LINES]
        left = len(self.lines) - len(shown)
        if left:
            shown = (*shown, Line(text=f"... {left} more lines are not drawn"))
        current = self._marked[self._current] if self._marked else -1
        self._static.update(styled(shown, set(self._marked), current))

    def _come(self) -> None:
        """Scroll to the marked line that the reader is at, by the rows that those before it take."""
        if not self._marked:
            return
        width = max(self._static.size.width, 1)
        before = self.lines[: self._marked[self._current]]
        rows = sum(plain(line.text).get_height({}, width) for line in before)
        self.scroll_to(y=max(rows - 2, 0), animate=False)
