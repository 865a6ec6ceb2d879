"""One run, live or ended: where it stands, and the last exchanges that were not clean."""

from __future__ import annotations

import time
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import OptionList

from workbench.campaign.following import RunFollower, last_failures
from workbench.errors import WorkbenchError
from workbench.model.progress import Snapshot
from workbench.model.registry import Failure
from workbench.model.run import RunState
from workbench.report.explain import explain
from workbench.report.text import count, inert
from workbench.tui.viewmodel.live import failing, holding, live, reply
from workbench.tui.viewmodel.page import page
from workbench.tui.views.base import Keys, View
from workbench.tui.widgets.listing import Listing, Row
from workbench.tui.widgets.pages import Page

_GOING_ON = (RunState.RUNNING, RunState.PLANNED, None)
_FAILURES = 200  # newest failing exchanges that are listed
_EVERY = 1.0  # seconds between two looks at a run that is going on ...
_SHARE = 5.0  # ... and at least that many times as long as the last one took


class RunView(View):
    """A run on top of the view that opened it.

    Args:
        run: Its id.
    """

    KEYS: ClassVar[Keys] = [
        ("tab", "failures"),
        ("enter", "reply"),
        ("e", "why this word"),
        ("S", "stop"),
        ("esc", "back"),
    ]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "other", "between the run and what was not clean", priority=True),
        Binding("e", "explain", "why it got its word"),
        Binding("o", "suspect", "go to its suspect in the tree"),
        Binding("S", "stop", "save and end it"),
    ]

    def __init__(self, run: str) -> None:
        super().__init__()
        self._run = run
        self._snapshot: Snapshot | None = None
        self._failing: tuple[Failure, ...] = ()
        self._listed: tuple[Failure, ...] = ()
        self._follower: RunFollower | None = None
        self._next_look = 0.0
        self._looked_at: RunState | None = None

    def body(self) -> ComposeResult:
        """Hold the picture, and below it what was not clean."""
        yield Page(id="run", classes="first rest")
        yield Listing(id="failures", classes="half")

    def on_mount(self) -> None:
        """Look at once, and again as long as it goes on."""
        super().on_mount()
        self.set_interval(_EVERY / 4, self._look_again)
        self._look()

    def draw(self) -> None:
        """Draw what was seen last; its state may have changed in the list of runs."""
        if self._snapshot is None:
            self.query_one("#run", Page).show(page([f"reading {self._run}"]))
            return
        self.query_one("#run", Page).show(page(live(self._snapshot, self.state)), keep=True)
        self._listed = holding(self._failing, self.words)
        rows = failing(self._listed, max(self.size.width - 2, 40))
        self.query_one(Listing).show([Row(key=key, text=text) for key, text in rows])

    @property
    def state(self) -> RunState | None:
        """Its state as the campaign has it."""
        found = next((run for run in self.held.registry.runs if run.id == self._run), None)
        return found.state if found else None

    def said_below(self) -> str:
        """Say how many exchanges were not clean, and whether more may come."""
        if self.words:
            listed, all_of_them = len(self._listed), len(self._failing)
            return f"filter '{inert(self.words)}': {listed} of {all_of_them}; esc shows all"
        going_on = "; it goes on when this is closed" if self.state is RunState.RUNNING else ""
        return f"{count(len(self._failing), 'exchange')} not clean below (tab){going_on}"

    def copied(self) -> str:
        """Give its folder."""
        return self._snapshot.folder if self._snapshot else ""

    def _look_again(self) -> None:
        state = self.state
        if time.monotonic() >= self._next_look and (state in _GOING_ON or state != self._looked_at):
            self._looked_at = state
            self._look()

    @work(thread=True, exclusive=True, exit_on_error=False, group="look")
    def _look(self) -> None:
        """Read the run again if it has grown; the longer that takes, the less often it is done."""
        began = time.monotonic()
        try:
            if self._follower is None:
                self._follower = RunFollower(self.held.root, self._run)
            snapshot = self._follower.look()
            if snapshot is not None:
                found = last_failures(self.held.root, self._run, _FAILURES)
                self.app.call_from_thread(self._take, snapshot, found)
        except WorkbenchError as error:
            self.app.call_from_thread(self.bench.tell_problem, error)
        took = time.monotonic() - began
        self._next_look = time.monotonic() + max(_EVERY, _SHARE * took)

    def _take(self, snapshot: Snapshot, found: tuple[Failure, ...]) -> None:
        self._snapshot, self._failing = snapshot, found
        if self.is_mounted:
            self.draw()
            self.draw_frame()

    @on(OptionList.OptionSelected)
    def _entered(self) -> None:
        key = self.query_one(Listing).key
        found = next((each for each in self._failing if each.key == key), None)
        if found is not None:
            self.bench.show_text("reply", reply(found))

    def action_other(self) -> None:
        """Move between the run and what was not clean."""
        listing = self.query_one(Listing)
        self.set_focus(self.query_one("#run", Page) if listing.has_focus else listing)

    def action_explain(self) -> None:
        """Say why it got its word."""
        if self._snapshot is not None:
            self.bench.show_text("why", list(explain(self._snapshot)))

    def action_suspect(self) -> None:
        """Go to its suspect."""
        found = next((run for run in self.held.registry.runs if run.id == self._run), None)
        if found is not None and found.hypotheses:
            self.bench.go_to(found.hypotheses[0])

    def action_stop(self) -> None:
        """Ask it to save and end."""
        self.bench.stop_run(self._run)
