"""A page of text that scrolls: details, reports, replies. Keys as in a pager.

Lines are wrapped once for the width there is, and only rows that are seen are drawn, so that a reply of
a megabyte scrolls like any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.visual import Visual

from workbench.report.text import count, inert
from workbench.tui.viewmodel.page import Kind, Line, sought
from workbench.tui.widgets.inert import plain

_STYLES: Mapping[Kind, str] = {
    Kind.HEADING: "bold $text-primary",
    Kind.WARNING: "bold $text-warning",
}


class Page(ScrollView, can_focus=True, inherit_bindings=False):
    """Lines, wrapped at the width there is."""

    ALLOW_SELECT = True
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
        self._marked: tuple[int, ...] = ()
        self._current = 0
        self._width = 0
        self._wrapped: list[tuple[int, Content]] = []  # every row, and the place of its line
        self.lines: tuple[Line, ...] = ()

    def show(self, lines: Sequence[Line], *, keep: bool = False) -> None:
        """Show lines.

        Args:
            lines: They.
            keep: The page is about the same thing as before: stay where the reader is.
        """
        self.lines = tuple(lines)
        self._marked, self._current = (), 0
        self._lay()
        if not keep:
            self.scroll_home(animate=False)

    def mark(self, words: str) -> None:
        """Mark the lines that hold words, and go to the first of them."""
        self._marked, self._current = sought(self.lines, words), 0
        self._come()

    def go(self, way: int) -> None:
        """Go to the next marked line, or to one before; after the last comes the first."""
        if self._marked:
            self._current = (self._current + way) % len(self._marked)
            self._come()

    def said(self, words: str) -> str:
        """Say how many lines are marked, and at which of them the reader is."""
        if not self._marked:
            return f"'{inert(words)}' is nowhere here; esc ends the search"
        lines = count(len(self._marked), "line")
        return f"'{inert(words)}': {lines}, at {self._current + 1}; n and N move, esc ends the search"

    def on_resize(self) -> None:
        """Wrap anew, and stay at the line that was the first to be seen."""
        if self.scrollable_content_region.width == self._width:
            return
        row = self.scroll_offset.y
        line = self._wrapped[row][0] if row < len(self._wrapped) else 0
        self._lay()
        if row:
            self.scroll_to(y=self._row_of(line), animate=False)

    def render_line(self, y: int) -> Strip:
        """Draw one of the rows that are seen."""
        row = self.scroll_offset.y + y
        if row >= len(self._wrapped):
            return Strip.blank(self.size.width, self.rich_style)
        at, content = self._wrapped[row]
        for style in self._looks(at):
            content = content.stylize(style)
        selected = self.text_selection.get_span(row) if self.text_selection else None
        if selected is not None:
            first, last = selected
            content = content.stylize("reverse", first, None if last < 0 else last)
        strips = Visual.to_strips(
            self, content, self._width, 1, self.visual_style, apply_selection=False
        )
        drawn = strips[0] if strips else Strip.blank(0)
        return drawn.extend_cell_length(self.size.width, self.rich_style).apply_offsets(0, row)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Give the text that was selected with the mouse."""
        return selection.extract("\n".join(content.plain for _, content in self._wrapped)), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Draw what is selected."""
        self.refresh()

    def _looks(self, at: int) -> Iterator[str]:
        """Yield how a line is set apart: by what it is, and by being sought."""
        kind = self.lines[at].kind
        if kind in _STYLES:
            yield _STYLES[kind]
        if at in self._marked:
            yield "reverse" if at == self._marked[self._current] else "underline"

    def _lay(self) -> None:
        """Wrap all lines."""
        self._width = self.scrollable_content_region.width
        self._wrapped = []
        if self._width:
            for at, line in enumerate(self.lines):
                text = plain(line.text)
                fits = line.text.isascii() and len(line.text) <= self._width
                self._wrapped += [(at, row) for row in ([text] if fits else text.wrap(self._width))]
        self.virtual_size = Size(self._width, len(self._wrapped))
        self.refresh()

    def _row_of(self, line: int) -> int:
        """Give the first row of a line."""
        return next((row for row, (at, _) in enumerate(self._wrapped) if at >= line), 0)

    def _come(self) -> None:
        """Scroll to the marked line that the reader is at."""
        self.refresh()
        if self._marked:
            self.scroll_to(y=max(self._row_of(self._marked[self._current]) - 2, 0), animate=False)
