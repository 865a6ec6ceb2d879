"""The view of matrix."""

from __future__ import annotations

from textual.app import ComposeResult

from workbench.tui.views.base import View
from workbench.tui.widgets.pages import Page


class MatrixView(View):
    """Not built yet."""

    VIEW = "matrix"

    def body(self) -> ComposeResult:
        """Hold nothing."""
        yield Page(classes="first")

    def draw(self) -> None:
        """Show nothing."""
