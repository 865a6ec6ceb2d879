"""The view of log."""

from __future__ import annotations

from textual.app import ComposeResult

from workbench.tui.views.base import View
from workbench.tui.widgets.pages import Page


class LogView(View):
    """Not built yet."""

    VIEW = "log"

    def body(self) -> ComposeResult:
        """Hold nothing."""
        yield Page(classes="first")

    def draw(self) -> None:
        """Show nothing."""
