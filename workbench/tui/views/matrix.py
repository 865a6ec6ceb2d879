"""The matrix: evidence in rows, suspects in columns, and whether any A/B tells them apart."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from workbench.report.matrix import diagnosis, matrix
from workbench.tui.held import Held
from workbench.tui.viewmodel.page import page
from workbench.tui.views.base import Keys, View
from workbench.tui.widgets.pages import Page


class MatrixView(View):
    """What `workbench matrix` says, as a page."""

    VIEW = "matrix"
    KEYS: ClassVar[Keys] = [
        ("j/k", "move"),
        ("/", "find"),
        ("n/N", "next, before"),
        ("x", "what to test"),
    ]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "go(1)", "to the next line that is sought"),
        Binding("N", "go(-1)", "to the one before"),
        Binding("x", "app.next", "which test would tell most"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._of: Held | None = None

    def body(self) -> ComposeResult:
        """Hold the page."""
        yield Page(id="matrix", classes="first")

    def draw(self) -> None:
        """Draw the matrix; it is where it was for whoever reads it."""
        found = self.query_one("#matrix", Page)
        if self._of is not self.held:
            self._of = self.held
            found.show(page(matrix(self.held.registry)), keep=True)
        found.mark(self.words)

    def said_below(self) -> str:
        """Say how many lines are sought, else what the matrix comes to."""
        if self.words:
            return self.query_one("#matrix", Page).said(self.words)
        return diagnosis(self.held.suspects) or "an A/B tells live suspects apart: see the rows with *"

    def action_go(self, way: int) -> None:
        """Go to another line that is sought."""
        self.query_one("#matrix", Page).go(way)
        self.draw_frame()
