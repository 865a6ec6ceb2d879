"""The application: views by number, the campaign that all of them show, errors, what opens on top.

Nothing that reads or writes a file, asks git or starts a process runs in the loop that draws: it runs
in a thread, and its error becomes one line of the view (`tell_problem`).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from textual import work
from textual.app import SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen

from workbench.errors import WorkbenchError
from workbench.model.commits import History
from workbench.model.event import Actor
from workbench.model.registry import Registry
from workbench.report.text import inert
from workbench.tui import keys
from workbench.tui.acting import Acting
from workbench.tui.following import Following
from workbench.tui.held import Held
from workbench.tui.viewmodel import frame
from workbench.tui.viewmodel.page import page
from workbench.tui.views.base import View
from workbench.tui.widgets.lines import Problem

WIDE = 132  # columns from which the detail stands beside the tree: 80 of its own, and room for titles
_BREAKPOINTS = [(0, "-narrow"), (82, "-normal"), (WIDE, "-wide")]


def _later(module: str, name: str) -> Callable[[], Screen[Any]]:
    """Give what makes a view, and imports it only then: the first frame needs one of them."""

    def make() -> Screen[Any]:
        view = getattr(importlib.import_module(f"workbench.tui.views.{module}"), name)()
        assert isinstance(view, Screen)
        return view

    return make


class WorkbenchApp(Acting):
    """The terminal interface of a campaign.

    Args:
        registry: The campaign as it was read.
        actor: Who writes.
        follow: Read the campaign again when a file changes; tests that look at one moment do without.
    """

    TITLE = "workbench"
    CSS_PATH = "style.tcss"
    ENABLE_COMMAND_PALETTE = True
    MODES: ClassVar[dict[str, Any]] = {
        "tree": _later("tree", "TreeView"),
        "runs": _later("runs", "RunsView"),
        "commits": _later("commits", "CommitsView"),
        "matrix": _later("matrix", "MatrixView"),
        "log": _later("log", "LogView"),
    }
    DEFAULT_MODE = "tree"
    HORIZONTAL_BREAKPOINTS = _BREAKPOINTS
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(key, f"look('{name}')", f"{title.lower()}", show=False)
            for key, name, title in frame.VIEWS
        ),
        Binding("m", "look('matrix')", "matrix", show=False),
        Binding("question_mark,f1", "keys", "all keys"),
        Binding("Q", "quit", "leave; runs go on", priority=False),
        Binding("ctrl+z", "suspend_process", "to the shell; fg comes back", show=False),
    ]

    def __init__(self, registry: Registry, actor: Actor, *, follow: bool = True) -> None:
        super().__init__()
        self.animation_level = "none"  # what moves by itself is drawn many times over ssh
        self.held = Held(registry)
        self.actor = actor
        self._following: Following | None = None
        if follow:
            self._following = Following(
                self.held.root,
                registry,
                lambda found: self.call_from_thread(self.take, found),
                lambda error: self.call_from_thread(self.tell_problem, error),
            )

    def on_mount(self) -> None:
        """Begin to follow."""
        if self._following is not None:
            self._following.start()

    def on_unmount(self) -> None:
        """Leave runs alone, and follow no more."""
        if self._following is not None:
            self._following.stop()

    def take(self, registry: Registry) -> None:
        """Show the campaign as it was read again."""
        self.held = Held(registry, self.held.history)
        self._refresh()

    def _refresh(self) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, View) and screen.is_mounted:
                screen.refresh_view()

    # --- errors -------------------------------------------------------------------------------------

    def tell_problem(self, error: WorkbenchError) -> None:
        """Show an error in one line of the view that is seen, with its hint behind it."""
        what = inert(error.what)
        details = "\n".join(
            filter(None, [error.hint, f"exit code {error.exit_code} on the command line"])
        )
        found = [screen for screen in reversed(self.screen_stack) if isinstance(screen, View)]
        for screen in found[:1]:
            problem = screen.query_one(Problem)
            problem.tell(what, details)
            if screen is self.screen:
                problem.focus()

    def attempt(self, what: Callable[[], Any], then: Callable[[Any], None] | None = None) -> None:
        """Do something in a thread; tell its error, or go on with what it gives."""
        self._attempt(what, then)

    @work(thread=True, exit_on_error=False, group="attempts")
    def _attempt(self, what: Callable[[], Any], then: Callable[[Any], None] | None) -> None:
        try:
            found = what()
        except WorkbenchError as error:
            self.call_from_thread(self.tell_problem, error)
            return
        if then is not None:
            self.call_from_thread(then, found)

    # --- views --------------------------------------------------------------------------------------

    def action_look(self, view: str) -> None:
        """Go to one of the views, from whatever lies on top of another."""
        while len(self.screen_stack) > 1:
            self.pop_screen()
        if view != self.current_mode:
            self.switch_mode(view)

    def go_to(self, suspect: str) -> None:
        """Go to a suspect in the tree."""
        from workbench.tui.views.tree import TreeView

        self.action_look("tree")

        def go() -> None:
            if isinstance(self.screen, TreeView):
                self.screen.branches.go(suspect)

        self.call_after_refresh(go)

    def ask_git(self) -> None:
        """Ask git of every linked commit, and show what it says in all views."""
        registry = self.held.registry

        def ask() -> History:
            from workbench.campaign.history import history_or_problem
            from workbench.campaign.registry import Campaign

            return history_or_problem(Campaign(self.held.root))

        def told(history: History) -> None:
            if self.held.registry is registry:
                self.held = Held(registry, history)
                self._refresh()

        self.attempt(ask, told)

    def show_text(self, title: str, lines: Sequence[str]) -> None:
        """Show a page of text on top of the view."""
        from workbench.tui.views.sheets import TextSheet

        self.push_screen(TextSheet(title, page(lines)))

    def action_keys(self) -> None:
        """Show the keys that mean something here."""
        title = getattr(self.screen, "VIEW", "") or "here"
        lines = [f"{keys:<14} {what}" for keys, what in keys.here(self)]
        self.show_text(f"keys: {title}", lines)

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Offer every key of the view, and what Textual has: themes, a picture of the screen."""
        yield from super().get_system_commands(screen)
        yield from keys.commands(self, screen)
