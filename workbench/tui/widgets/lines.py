"""One-line widgets: what happened, and what is sought."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input

from workbench.tui.widgets.inert import Plain


class Problem(Plain, can_focus=True):
    """An error in one line; enter opens all there is to say about it, esc puts it away."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "details of the error", show=False),
        Binding("escape", "dismiss", "put the error away", show=False),
    ]

    @dataclass
    class Opened(Message):
        """Somebody wants to read it."""

        what: str
        details: str

    @dataclass
    class Dismissed(Message):
        """Somebody has read it."""

    def __init__(self) -> None:
        super().__init__(id="problem")
        self.display = False
        self._what = self._details = ""

    def tell(self, what: str, details: str) -> None:
        """Show an error."""
        self._what, self._details = what, details
        self.say(f"error: {what} (enter: details, esc: put away)")
        self.display = True

    def action_open(self) -> None:
        """Ask for the details."""
        self.post_message(self.Opened(self._what, self._details))

    def action_dismiss(self) -> None:
        """Put it away."""
        self.display = False
        self.post_message(self.Dismissed())


class Sought(Input):
    """What a view is filtered by, typed in the last line; enter keeps it, esc takes it back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "give_up", "show all", show=False),
    ]

    @dataclass
    class Left(Message):
        """The reader goes back to the view."""

        words: str

    def __init__(self) -> None:
        super().__init__(id="sought", placeholder="words that must all be there", compact=True)
        self.display = False

    def begin(self) -> None:
        """Take the keys, also those that were typed before this is drawn."""
        self.display = True
        self.screen.set_focus(self)

    def action_give_up(self) -> None:
        """Show everything again."""
        self.value = ""
        self._leave()

    async def action_submit(self) -> None:
        """Keep what is sought, and go back."""
        self._leave()

    def _leave(self) -> None:
        self.display = bool(self.value)
        self.post_message(self.Left(self.value))
