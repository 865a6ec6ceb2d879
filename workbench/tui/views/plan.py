"""What a test will cost and can see, and the command that runs it as a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input

from workbench.campaign import processes, verdicts
from workbench.campaign.registry import Campaign
from workbench.errors import WorkbenchError
from workbench.report.forecast import forecast
from workbench.report.text import inert
from workbench.tui.doing import test_arguments
from workbench.tui.viewmodel.page import page
from workbench.tui.views.sheets import Sheet
from workbench.tui.widgets.inert import Plain
from workbench.tui.widgets.pages import Page

PUT_BACK = "--put-back"


class PlanSheet(Sheet):
    """The plan of a test; enter starts it.

    Args:
        root: The campaign's folder.
        ids: The suspects that are tested in one run.
        by: Who tests, as the command line spells it.
        started: Told the id of the run once it is open.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+t", "put_back", "put the cause back into the fixed system, or not"),
    ]

    def __init__(self, root: Path, ids: Sequence[str], by: str, started: Callable[[str], None]) -> None:
        super().__init__()
        self._root = root
        self._ids = tuple(ids)
        self._by = by
        self._started = started

    def compose(self) -> ComposeResult:
        """Hold the forecast, the options, what is wrong, and the keys."""
        with Vertical(classes="tall"):
            yield Plain(f"workbench test {' '.join(self._ids)}", classes="title")
            yield Page(id="forecast")
            yield Plain("options, as on the command line: --budget 20m --allow prod", classes="name")
            yield Input(id="options", compact=True)
            yield Plain(classes="wrong")
            yield Plain("enter start  ctrl+t put back  tab read the plan  esc leave", classes="keys")

    def on_mount(self) -> None:
        """Plan it."""
        self.query_one("#forecast", Page).show(page(["planning"]))
        self.query_one("#options", Input).focus()
        self._plan(put_back=False)

    @property
    def options(self) -> str:
        """What is typed."""
        return self.query_one("#options", Input).value

    def action_put_back(self) -> None:
        """Put the option in, or take it out, and plan that."""
        words = self.options.split()
        back = PUT_BACK not in words
        kept = [word for word in words if word != PUT_BACK]
        self.query_one("#options", Input).value = " ".join([PUT_BACK, *kept] if back else kept)
        self._plan(put_back=back)

    @on(Input.Submitted, "#options")
    def _enter(self) -> None:
        self._wrong("starting: the arms are read back first")
        self._start(self.options)

    @work(thread=True, exclusive=True, exit_on_error=False, group="plan")
    def _plan(self, *, put_back: bool) -> None:
        try:
            campaign = Campaign(self._root)
            plan = verdicts.plan(campaign, self._ids, {}, put_back=put_back)
            lines = list(forecast(plan, verdicts.pace(campaign, self._ids)))
        except WorkbenchError as error:
            lines = [f"WARNING: {error.what}", f"  {error.hint}"]
        self.app.call_from_thread(self._show, lines)

    @work(thread=True, exclusive=True, exit_on_error=False, group="start")
    def _start(self, options: str) -> None:
        try:
            words = test_arguments(self._ids, options)
            begun = processes.detach(self._root, ["-C", str(self._root), *words, "--by", self._by])
        except WorkbenchError as error:
            hint = f" ({error.hint})" if error.hint else ""
            self.app.call_from_thread(self._wrong, f"{error.what}{hint}")
            return
        self.app.call_from_thread(self._leave, begun.run)

    def _show(self, lines: list[str]) -> None:
        if self.is_mounted:
            self.query_one("#forecast", Page).show(page(map(inert, lines)))

    def _wrong(self, what: str) -> None:
        if self.is_mounted:
            self.query_one(".wrong", Plain).say(what)

    def _leave(self, run: str) -> None:
        if self.is_mounted:
            self.dismiss()
        self._started(run)
