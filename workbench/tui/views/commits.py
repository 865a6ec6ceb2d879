"""Commits that hypotheses link: live, dead, reverted; what git knows of each, and its patch."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import OptionList

from workbench.model.commits import History
from workbench.report.leftovers import left_over
from workbench.tui.held import Held
from workbench.tui.viewmodel import rows
from workbench.tui.viewmodel.page import page
from workbench.tui.views.base import Keys, View
from workbench.tui.widgets.listing import Listing, Row
from workbench.tui.widgets.pages import Page

_EMPTY = "no commit is linked yet; in the tree, c links one to the suspect under the cursor"


class CommitsView(View):
    """The list above, and below it all about the commit under the cursor."""

    VIEW = "commits"
    KEYS: ClassVar[Keys] = [
        ("j/k", "move"),
        ("enter", "patch"),
        ("R", "how to take it back"),
        ("o", "its suspect"),
        ("p", "left-overs"),
        ("/", "filter"),
    ]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "patch", "show the patch"),
        Binding("tab", "other", "between list and detail", priority=True),
        Binding("R", "take_back", "how to take this one change back"),
        Binding("o", "suspect", "go to its suspect in the tree"),
        Binding("p", "left_overs", "probes and debug lines that were left in the code"),
        Binding("c", "app.link", "link a commit"),
        Binding("ctrl+r", "ask", "ask git again"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._listed: tuple[rows.Listed, ...] = ()
        self._all = 0
        self._asked: Held | None = None

    def body(self) -> ComposeResult:
        """Hold list and detail."""
        yield Listing(id="commits", classes="first half")
        yield Page(id="commit", classes="rest")

    def draw(self) -> None:
        """Draw what is known, and ask git where it has not been asked since the campaign changed."""
        registry, history = self.held.registry, self.held.history
        width = max(self.size.width - 2, 40)
        self._all = len(rows.commits(registry, history, "", width))
        self._listed = rows.commits(registry, history, self.words, width)
        found = self.query_one(Listing)
        found.show([Row(key=each.key, text=each.text) for each in self._listed])
        self._draw_detail()
        if self._asked is None or self._asked.registry is not registry:
            self.action_ask()

    def action_ask(self) -> None:
        """Ask git, which may take a while, and show what it says."""
        self._asked = self.held
        self.bench.ask_git()

    def said_below(self) -> str:
        """Say what the list holds."""
        return rows.said(self._listed, self.held.history, self._all, self.words)

    def copied(self) -> str:
        """Give the whole id."""
        chosen = self.chosen
        return (chosen.row.change.sha or chosen.row.change.commit) if chosen else ""

    @property
    def chosen(self) -> rows.Listed | None:
        """The commit under the cursor; None without one."""
        key = self.query_one(Listing).key
        return next((each for each in self._listed if each.key == key), None)

    @on(OptionList.OptionHighlighted)
    def _moved(self) -> None:
        self._draw_detail()

    @on(OptionList.OptionSelected)
    def _entered(self) -> None:
        self.action_patch()

    def action_patch(self) -> None:
        """Show the whole commit."""
        chosen = self.chosen
        if chosen is None or not chosen.row.change.sha:
            self.tell("git does not have that commit" if chosen else _EMPTY)
            return
        sha = chosen.row.change.sha

        def ask() -> tuple[str, ...]:
            from workbench.campaign.history import shown
            from workbench.campaign.registry import Campaign

            return shown(Campaign(self.held.root), sha)

        self.bench.attempt(ask, lambda found: self.bench.show_text(sha, found))

    def action_take_back(self) -> None:
        """Say how to take back the commit under the cursor, whatever else is selected elsewhere."""
        chosen = self.chosen
        line = rows.take_back(chosen) if chosen else ""
        if not chosen or not line:
            self.tell("it is not in the tree: there is nothing to take back" if chosen else _EMPTY)
            return
        self.app.copy_to_clipboard(line)
        history = self.held.history or History(at="", name="")
        about = list(rows.commit_page(chosen, history))
        self.bench.show_text("take it back alone", [line, "  (copied)", "", *about])

    def action_suspect(self) -> None:
        """Go to its suspect."""
        chosen = self.chosen
        if chosen:
            self.bench.go_to(chosen.row.suspects[0].id)

    def action_left_overs(self) -> None:
        """List what was left in the code."""

        def ask() -> list[str]:
            from workbench.campaign.history import left_overs
            from workbench.campaign.registry import Campaign

            return list(left_over(left_overs(Campaign(self.held.root))))

        self.bench.attempt(ask, lambda found: self.bench.show_text("left over", found))

    def action_other(self) -> None:
        """Move between list and detail."""
        detail = self.query_one("#commit", Page)
        self.set_focus(self.query_one(Listing) if detail.has_focus else detail)

    def _draw_detail(self) -> None:
        chosen = self.chosen
        history = self.held.history or History(at="", name="")
        lines = rows.commit_page(chosen, history) if chosen else iter([_EMPTY])
        self.query_one("#commit", Page).show(page(lines))
