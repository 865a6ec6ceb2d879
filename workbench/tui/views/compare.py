"""Two runs side by side, on top of the view that chose them."""

from __future__ import annotations

import shlex
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from workbench.campaign.comparing import compare
from workbench.model.compared import Compared
from workbench.tui.viewmodel.compared import compared
from workbench.tui.viewmodel.page import page
from workbench.tui.views.base import Keys, View
from workbench.tui.widgets.pages import Page


class CompareView(View):
    """What `workbench compare` says of two runs, as a page.

    Args:
        first: The identity of one run.
        second: That of the other.
    """

    VIEW = "compare"
    KEYS: ClassVar[Keys] = [("j/k", "move"), ("/", "find"), ("n/N", "next, before"), ("esc", "back")]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "go(1)", "to the next line that is sought"),
        Binding("N", "go(-1)", "to the one before"),
    ]

    def __init__(self, first: str, second: str) -> None:
        super().__init__()
        self._both = (first, second)

    def body(self) -> ComposeResult:
        """Hold the page."""
        yield Page(id="compare", classes="first")

    def on_mount(self) -> None:
        """Read both runs, in a thread."""
        super().on_mount()
        self.query_one("#compare", Page).show(page([self.copied()]))
        self.bench.attempt(lambda: compare(*self._both), self._take)

    def draw(self) -> None:
        """Mark what is sought; runs that are read do not change with the campaign."""
        self.query_one("#compare", Page).mark(self.words)

    def said_below(self) -> str:
        """Say how many lines are sought, else what is never done with two runs."""
        if self.words:
            return self.query_one("#compare", Page).said(self.words)
        return "counts of two runs are never added up"

    def copied(self) -> str:
        """Give the command that says the same."""
        return shlex.join(["workbench", "compare", *self._both])

    def action_go(self, way: int) -> None:
        """Go to another line that is sought."""
        self.query_one("#compare", Page).go(way)
        self.draw_frame()

    def _take(self, found: Compared) -> None:
        if self.is_mounted:
            self.query_one("#compare", Page).show(compared(found))
            self.draw()
            self.draw_frame()
