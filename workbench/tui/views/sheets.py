"""What opens on top of a view and goes away again: pages of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from workbench.tui.viewmodel.page import Line
from workbench.tui.widgets.inert import Plain
from workbench.tui.widgets.pages import Page


class Sheet(ModalScreen[None]):
    """Something on top of a view; esc or q takes it away."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "close"),
    ]

    def action_close(self) -> None:
        """Take it away."""
        self.dismiss()


class Question(ModalScreen[bool]):
    """A question that y answers, and any other key declines.

    Args:
        what: It.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss(True)", "yes"),
        Binding("n,escape,enter,q", "dismiss(False)", "no"),
    ]

    def __init__(self, what: str) -> None:
        super().__init__()
        self._asked = what

    def compose(self) -> ComposeResult:
        """Hold the question."""
        with Vertical(id="question"):
            yield Plain(self._asked, classes="said")
            yield Plain("y yes   n no", classes="keys")


class TextSheet(Sheet):
    """A page of text.

    Args:
        title: What it is.
        lines: It.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("q,enter", "close", "close", show=False)]

    def __init__(self, title: str, lines: Sequence[Line]) -> None:
        super().__init__()
        self._headline = title
        self._text = lines

    def compose(self) -> ComposeResult:
        """Hold title, text and the keys."""
        with Vertical(classes="tall"):
            yield Plain(self._headline, classes="title")
            yield Page(classes="first")
            yield Plain("j/k move  space page  esc close", classes="keys")

    def on_mount(self) -> None:
        """Show the text and take the keys."""
        found = self.query_one(Page)
        found.show(self._text)
        found.focus()
