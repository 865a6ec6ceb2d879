"""A list to move through: rows of plain text, a page of them at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from workbench.report.text import inert
from workbench.tui.widgets.inert import plain

ROWS_A_PAGE = 500  # laying out 20,000 rows takes a second, and nobody reads them


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A row.

    Attributes:
        key: What it stands for.
        text: What it says, on one line or several.
    """

    key: str
    text: str


class Listing(OptionList, inherit_bindings=False):
    """Rows; `]` and `[` turn the page where there are more than one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", "open what is under the cursor", show=False),
        Binding("j,down", "cursor_down", "down", show=False),
        Binding("k,up", "cursor_up", "up", show=False),
        Binding("g,home", "first", "to the top", show=False),
        Binding("G,end", "last", "to the end", show=False),
        Binding("pagedown", "page_down", "a screen down", show=False),
        Binding("pageup", "page_up", "a screen up", show=False),
        Binding("right_square_bracket", "turn(1)", "next page of rows", show=False),
        Binding("left_square_bracket", "turn(-1)", "page of rows before", show=False),
    ]

    @dataclass
    class Turned(Message):
        """Another page of rows is shown."""

        said: str

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes, markup=False)
        self._rows: tuple[Row, ...] = ()
        self._page = 0

    @property
    def key(self) -> str:
        """The key of the row under the cursor; empty without one."""
        at = self._page * ROWS_A_PAGE + (self.highlighted or 0)
        return self._rows[at].key if at < len(self._rows) else ""

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows, of every page."""
        return self._rows

    def show(self, rows: Sequence[Row]) -> None:
        """Show rows, and stay on the one under the cursor if it is still among them."""
        if tuple(rows) == self._rows:
            return
        key = self.key
        self._rows = tuple(rows)
        at = next((at for at, row in enumerate(self._rows) if row.key == key), 0)
        self._lay(at)

    def go(self, key: str) -> bool:
        """Move to the row with a key; say whether there is one."""
        at = next((at for at, row in enumerate(self._rows) if row.key == key), None)
        if at is not None:
            self._lay(at)
        return at is not None

    def where(self) -> str:
        """Say which rows are shown, where that is not all of them."""
        if len(self._rows) <= ROWS_A_PAGE:
            return ""
        first = self._page * ROWS_A_PAGE
        last = min(first + ROWS_A_PAGE, len(self._rows))
        return f"rows {first + 1:,} to {last:,} of {len(self._rows):,}; ] and [ turn the page"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer to turn the page where there is another."""
        return action != "turn" or len(self._rows) > ROWS_A_PAGE

    def action_turn(self, pages: int) -> None:
        """Show another page of rows."""
        last = max(len(self._rows) - 1, 0) // ROWS_A_PAGE
        page = min(max(self._page + pages, 0), last)
        if page != self._page:
            self._lay(page * ROWS_A_PAGE)
            self.post_message(self.Turned(self.where()))

    def _lay(self, at: int) -> None:
        page = at // ROWS_A_PAGE
        first = page * ROWS_A_PAGE
        shown = self._rows[first : first + ROWS_A_PAGE]
        self._page = page
        self.clear_options()
        self.add_options([Option(plain(row.text)) for row in shown])
        self.highlighted = at - first if shown else None

    def __repr__(self) -> str:
        return f"Listing({len(self._rows)} rows at {inert(self.key)!r})"
