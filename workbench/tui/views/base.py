"""What all views have: the line above, the line below, the filter, and the keys that always work."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Input

from workbench.tui.held import Held
from workbench.tui.viewmodel import frame
from workbench.tui.widgets.inert import Plain
from workbench.tui.widgets.lines import Problem, Sought

if TYPE_CHECKING:
    from workbench.tui.app import WorkbenchApp

Keys = list[tuple[str, str]]


class View(Screen[None], inherit_bindings=False):
    """A screen of the campaign.

    Subclasses give `VIEW` (a name of `frame.VIEWS`, or of none), `KEYS` (what the last line shows), a
    `body`, and `draw`, which is called whenever the campaign or the filter changes while they are seen.
    """

    VIEW: ClassVar[str] = ""
    KEYS: ClassVar[Keys] = []
    BINDINGS: ClassVar[list[BindingType]] = [
        # before other keys, so that what is typed right after it is not lost
        Binding("slash", "seek", "filter, with a count", priority=True),
        Binding("y", "copy", "copy what is under the cursor, and say where it is"),
        Binding("escape,q", "back", "take the filter back, or go back"),
        Binding("ctrl+c", "copy_text", "copy what is selected with the mouse", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._drawn: tuple[Held, str] | None = None

    @property
    def bench(self) -> WorkbenchApp:
        """The application."""
        return cast("WorkbenchApp", self.app)

    @property
    def held(self) -> Held:
        """The campaign as it was read last."""
        return self.bench.held

    @property
    def words(self) -> str:
        """What is sought."""
        return self.query_one(Sought).value

    def compose(self) -> ComposeResult:
        """Put the frame around the body."""
        yield Plain(id="above")
        yield from self.body()
        yield Problem()
        yield Sought()
        yield Plain(id="below")
        yield Plain(id="steps")

    def body(self) -> ComposeResult:
        """Yield the widgets between the frame's lines."""
        raise NotImplementedError

    def draw(self) -> None:
        """Show the campaign as it is now."""
        raise NotImplementedError

    def said_below(self) -> str:
        """Give the line below."""
        return frame.below(self.held.suspects)

    def copied(self) -> str:
        """Give what `y` copies; empty where there is nothing."""
        return ""

    def on_mount(self) -> None:
        """Draw for the first time."""
        self.refresh_view()

    def on_screen_resume(self) -> None:
        """Catch up with what has changed while another view was seen."""
        if self.is_mounted:
            self.refresh_view()

    def on_resize(self) -> None:
        """Draw the frame to the new width."""
        self.draw_frame()

    def refresh_view(self) -> None:
        """Draw, unless just that is drawn already."""
        now = (self.held, self.words)
        if self._drawn is None or self._drawn[0] is not now[0] or self._drawn[1] != now[1]:
            self._drawn = now
            self.draw()
        self.draw_frame()

    def draw_frame(self) -> None:
        """Draw the lines above and below."""
        width = self.size.width or 80
        self.query_one("#above", Plain).say(frame.above(self.held.suspects, self.VIEW, width - 2))
        self.query_one("#below", Plain).say(self.said_below())
        keys = [*self.KEYS, ("?", "all keys")]
        self.query_one("#steps", Plain).say(frame.steps(keys, width - 2))

    def tell(self, what: str) -> None:
        """Say in the line below what came of a key, until something else is said there."""
        self.query_one("#below", Plain).say(what)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave the key of the filter to what is typed."""
        return action != "seek" or not isinstance(self.focused, Input)

    def action_seek(self) -> None:
        """Type what to filter by."""
        self.query_one(Sought).begin()

    def action_copy(self) -> None:
        """Copy, through the terminal, and say what was copied: not every terminal allows it."""
        text = self.copied()
        if not text:
            self.tell("nothing to copy here")
            return
        self.app.copy_to_clipboard(text)
        self.tell(frame.copied(text, (self.size.width or 80) - 2))

    def action_back(self) -> None:
        """Take the filter back, else leave the view."""
        if self.words:
            self.query_one(Sought).action_give_up()
        elif len(self.app.screen_stack) > 1:
            self.app.pop_screen()
        elif frame.VIEWS[0][1] != self.VIEW:
            self.app.switch_mode(frame.VIEWS[0][1])

    @on(Input.Changed, "#sought")
    def _sought(self) -> None:
        self.refresh_view()

    @on(Sought.Left)
    def _go_on(self) -> None:
        self.focus_body()

    @on(Problem.Dismissed)
    def _put_away(self) -> None:
        self.focus_body()

    @on(Problem.Opened)
    def _open_problem(self, message: Problem.Opened) -> None:
        self.bench.show_text("error", f"{message.what}\n\n{message.details}".split("\n"))

    def focus_body(self) -> None:
        """Give the keys back to the view."""
        found = self.query(".first")
        if found:
            found.first().focus()
