"""All runs, the newest first: what they were for, and what came of them."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import OptionList

from workbench.report.text import count, inert
from workbench.tui.viewmodel import runs
from workbench.tui.views.base import Keys, View
from workbench.tui.widgets.listing import Listing, Row

_EMPTY = "no runs yet: in the tree, r tests the suspect under the cursor (workbench test ID)"
_BOTH = 2


class RunsView(View):
    """The list; one opens, two are compared."""

    VIEW = "runs"
    KEYS: ClassVar[Keys] = [
        ("j/k", "move"),
        ("enter", "open"),
        ("space", "mark"),
        ("=", "compare marked"),
        ("/", "filter"),
    ]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "mark", "mark a run, to compare two"),
        Binding("equals_sign", "compare", "compare the two that are marked"),
        Binding("S", "stop", "save and end the run under the cursor"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._marked: list[str] = []
        self._rows = 0

    def body(self) -> ComposeResult:
        """Hold the list."""
        yield Listing(id="runs", classes="first")

    def draw(self) -> None:
        """Draw the runs."""
        width = max(self.size.width - 2, 40)
        found = runs.runs(self.held.registry, self.words, self._marked, width)
        self._rows = len(found)
        self.query_one(Listing).show([Row(key=key, text=text) for key, text in found])

    def said_below(self) -> str:
        """Say how many there are, and which of them are shown."""
        total = len(self.held.registry.runs)
        if not total:
            return _EMPTY
        if self.words:
            return f"filter '{inert(self.words)}': {self._rows} of {total:,}; esc shows all"
        marked = f"; marked {', '.join(self._marked)}" if self._marked else ""
        return self.query_one(Listing).where() or f"{count(total, 'run')}{marked}"

    def copied(self) -> str:
        """Give the folder of the run."""
        key = self.query_one(Listing).key
        found = next((run for run in self.held.registry.runs if run.id == key), None)
        return str(self.held.root / found.path) if found else ""

    @on(Listing.Turned)
    def _turned(self) -> None:
        self.draw_frame()

    @on(OptionList.OptionSelected)
    def _entered(self) -> None:
        if key := self.query_one(Listing).key:
            self.bench.show_run(key)

    def action_mark(self) -> None:
        """Mark the run under the cursor, or take the mark away; two at most."""
        key = self.query_one(Listing).key
        if key in self._marked:
            self._marked.remove(key)
        elif key:
            self._marked = [*self._marked, key][-_BOTH:]
        self.draw()
        self.draw_frame()

    def action_compare(self) -> None:
        """Compare the two that are marked, or one that is marked with the one under the cursor."""
        key = self.query_one(Listing).key
        both = [*self._marked, *([key] if key and key not in self._marked else [])][:_BOTH]
        if len(both) < _BOTH:
            self.tell("mark two runs with space, or one and move to another")
            return
        from workbench.tui.views.compare import CompareView

        self.app.push_screen(CompareView(*both))

    def action_stop(self) -> None:
        """Ask the run under the cursor to save and end."""
        if key := self.query_one(Listing).key:
            self.bench.stop_run(key)
