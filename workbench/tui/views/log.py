"""The campaign's log: who did or found what, and when; what is new shows at its end, by itself."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import OptionList

from workbench.model.event import Event
from workbench.report.log import mentions
from workbench.report.text import count, inert
from workbench.tui.viewmodel.entries import entries, entry
from workbench.tui.views.base import Keys, View
from workbench.tui.widgets.listing import Listing, Row


class LogView(View):
    """The list; one entry opens whole, with what it is about."""

    VIEW = "log"
    KEYS: ClassVar[Keys] = [
        ("j/k", "move"),
        ("enter", "read"),
        ("o", "its suspect"),
        ("F", "to the end"),
        ("/", "filter"),
    ]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "suspect", "go to its suspect in the tree"),
        Binding("F", "end", "to the end, and stay there as entries come"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._rows = 0
        self._stay = True  # at the end, as long as the reader is there

    def body(self) -> ComposeResult:
        """Hold the list."""
        yield Listing(id="log", classes="first")

    def draw(self) -> None:
        """Draw the log; whoever reads at its end stays there."""
        listing = self.query_one(Listing)
        rows = entries(self.held.registry.events, self.words, max(self.size.width - 2, 40))
        self._rows = len(rows)
        stay = self._stay or (bool(listing.rows) and listing.key == listing.rows[-1].key)
        listing.show([Row(key=key, text=text) for key, text in rows])
        if stay and rows:
            listing.go(rows[-1][0])
        self._stay = False

    def said_below(self) -> str:
        """Say how many there are, and what a filter has left."""
        total = len(self.held.registry.events)
        if self.words:
            return f"filter '{inert(self.words)}': {self._rows} of {total:,}; esc shows all"
        return self.query_one(Listing).where() or f"{count(total, 'entry', 'entries')}, times are UTC"

    def copied(self) -> str:
        """Give the id of the entry."""
        return self._chosen.id if self._chosen else ""

    @property
    def _chosen(self) -> Event | None:
        key = self.query_one(Listing).key
        return next((event for event in self.held.registry.events if event.digest == key), None)

    @on(Listing.Turned)
    def _turned(self) -> None:
        self.draw_frame()

    @on(OptionList.OptionSelected)
    def _entered(self) -> None:
        if self._chosen is not None:
            self.bench.show_text("entry", list(entry(self._chosen)))

    def action_suspect(self) -> None:
        """Go to the first suspect that the entry speaks of."""
        named = mentions(self._chosen) if self._chosen else ()
        found = next((name for name in named if name in self.held.suspects.by_id), "")
        if found:
            self.bench.go_to(found)
        else:
            self.tell("it speaks of no suspect")

    def action_end(self) -> None:
        """Go to the end."""
        self._stay = True
        self.draw()
