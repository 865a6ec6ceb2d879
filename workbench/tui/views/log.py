"""All that happened, in the order of time: on record, in runs, in exchanges, in the engine's logs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import OptionList

from workbench.campaign.chronicle import chronicle, reply_of
from workbench.model.chronicle import Chronicle
from workbench.report.text import count, inert
from workbench.tui.held import Held
from workbench.tui.viewmodel import entries
from workbench.tui.viewmodel.entries import Choice, Entry, Source
from workbench.tui.views.base import Keys, View
from workbench.tui.widgets.listing import ROWS_A_PAGE, Listing, Row

_EMPTY = "nothing has happened yet: in the tree, a adds a suspect (workbench new TITLE)"
_REST = 5.0  # between two readings, at least that many times as long as the last one took


class LogView(View):
    """The list, with the newest entry last; whoever is there stays there as others come."""

    VIEW = "log"
    KEYS: ClassVar[Keys] = [
        ("enter", "open"),
        ("/", "filter"),
        ("f", "failing"),
        ("o", "all exchanges"),
        ("t", "around"),
        ("</>", "run"),
        ("F", "end"),
        ("e", "engine"),
    ]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "failing", "only exchanges that were not clean, or the rest too"),
        Binding("o", "clean", "exchanges that were clean, too or not"),
        Binding("e", "engine", "what the engine's components wrote, too or not"),
        Binding("t", "around", "all that happened around this entry, or the rest too"),
        Binding("less_than_sign", "run(-1)", "exchanges of the run before"),
        Binding("greater_than_sign", "run(1)", "exchanges of the run after"),
        Binding("F", "end", "read again, and go to the end"),
        Binding("p", "problems", "what could not be read, or was left out"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._choice = Choice()
        self._run = ""  # of which exchanges are asked; the newest without one
        self._read_of: Held | None = None
        self._reading = 0  # number of the last reading that was begun; what an older one gives is late
        self._resting = self._missed = False
        self._found: Chronicle | None = None
        self._entries: tuple[Entry, ...] = ()
        self._wanted: Sequence[Entry] = ()
        self._listed: Sequence[Entry] = ()

    def body(self) -> ComposeResult:
        """Hold the list."""
        yield Listing(id="log", classes="first")

    def draw(self) -> None:
        """Draw what was read last, and read again where the campaign has changed since."""
        self._draw_entries()
        if self._read_of is not self.held:
            self._read_of = self.held
            self._read_when_due()

    def said_below(self) -> str:
        """Say how many entries there are from which sources, or what a filter has left."""
        if self._found is None:
            return "reading"
        if not self._entries:
            said = _EMPTY
        else:
            holds, run = len(self._listed), self._found.run
            said = entries.said(self._wanted, holds, self._choice, self.words, run)
        problems = self._found.problems
        return f"{count(len(problems), 'problem')} (p); {said}" if problems else said

    def copied(self) -> str:
        """Give the entry in one line."""
        entry = self.entry
        return f"{entry.at:%Y-%m-%d %H:%M:%S}Z {inert(entry.text)}" if entry else ""

    @property
    def entry(self) -> Entry | None:
        """The entry under the cursor; None without one."""
        key = self.query_one(Listing).key
        return next((each for each in reversed(self._listed) if each.key == key), None)

    # --- reading ------------------------------------------------------------------------------------

    def _read_when_due(self) -> None:
        """Read, or note that it is to be done: a campaign may change faster than it can be read."""
        if self._resting:
            self._missed = True
        else:
            self._read()

    def _read(self) -> None:
        self._resting, self._missed = True, False
        self._reading += 1
        number, run, registry = self._reading, self._run, self.held.registry

        def read() -> tuple[Chronicle, tuple[Entry, ...], float]:
            began = time.monotonic()
            found = chronicle(registry, run)
            merged = entries.entries(registry.events, found)
            return found, merged, time.monotonic() - began

        def take(read: tuple[Chronicle, tuple[Entry, ...], float]) -> None:
            if number == self._reading and self.is_mounted:
                self._found, self._entries, took = read
                self.set_timer(_REST * took, self._rested)
                self._draw_entries()
                self.draw_frame()

        self.bench.attempt(read, take)

    def _rested(self) -> None:
        self._resting = False
        if self._missed:
            self._read()

    # --- drawing ------------------------------------------------------------------------------------

    def _draw_entries(self) -> None:
        """Draw the entries; a cursor at the end stays at the end."""
        listing = self.query_one(Listing)
        at_end = not listing.rows or listing.key == listing.rows[-1].key
        self._wanted = entries.among(self._entries, self._choice)
        self._listed = entries.holding(self._wanted, self.words)
        found = entries.rows(self._listed, max(self.size.width - 2, 40), ROWS_A_PAGE)
        listing.show([Row(key=key, text=text) for key, text in found])
        if at_end and found:
            listing.go(found[-1][0])

    def _choose(self, choice: Choice) -> None:
        """Want other entries, and stay on the one under the cursor, or near it."""
        before = self.entry
        self._choice = choice
        self._draw_entries()
        if before is not None and self._listed:
            shown = self._listed[-entries.MOST :]
            near = min(shown, key=lambda each: (each.key != before.key, abs(each.at - before.at)))
            self.query_one(Listing).go(near.key)
        self.draw_frame()

    @on(Listing.Turned)
    def _turned(self, message: Listing.Turned) -> None:
        self.tell(message.said)

    # --- keys ---------------------------------------------------------------------------------------

    @on(OptionList.OptionSelected)
    def _entered(self) -> None:
        entry = self.entry
        if entry is None:
            return
        if not entry.exchange:
            self.bench.show_text(entry.source, entries.whole(entry))
            return
        registry, run = self.held.registry, self._found.run if self._found else ""
        self.bench.attempt(
            lambda: reply_of(registry, run, entry.exchange),
            lambda reply: self.bench.show_text(Source.EXCHANGE, entries.whole(entry, reply)),
        )

    def action_failing(self) -> None:
        """Show only failing exchanges, or the rest too."""
        self._choose(replace(self._choice, only_failing=not self._choice.only_failing, around=None))

    def action_clean(self) -> None:
        """Show clean exchanges too, or not."""
        choice = replace(self._choice, clean=not self._choice.clean, only_failing=False, around=None)
        self._choose(choice)

    def action_engine(self) -> None:
        """Show what components wrote too, or not."""
        choice = replace(self._choice, engine=not self._choice.engine, only_failing=False, around=None)
        self._choose(choice)

    def action_around(self) -> None:
        """Show all that happened around the entry under the cursor, or the rest too."""
        entry = self.entry
        if self._choice.around is not None or entry is None:
            self._choose(replace(self._choice, around=None))
        else:
            self._choose(replace(self._choice, around=entry.at))

    def action_run(self, way: int) -> None:
        """Show the exchanges of another run."""
        runs = [line.id for line in self.held.registry.runs]
        now = self._found.run if self._found else ""
        at = runs.index(now) + way if now in runs else len(runs) - 1
        if not 0 <= at < len(runs):
            self.tell(
                f"there is no run {'before' if way < 0 else 'after'} {inert(now)}" if runs else _EMPTY
            )
            return
        self._run = runs[at] if at < len(runs) - 1 else ""
        self._read()

    def action_end(self) -> None:
        """Go to the end, and read again: a component's log grows without the campaign changing."""
        if self._listed:
            self.query_one(Listing).go(self._listed[-1].key)
        self._read()

    def action_problems(self) -> None:
        """Show what could not be read."""
        found = self._found.problems if self._found else ()
        self.bench.show_text("could not be read, or was left out", found or ["nothing"])

    def action_back(self) -> None:
        """Take back what was chosen around an entry, then the filter; else leave the view."""
        if self._choice.around is not None and not self.words:
            self.action_around()
        else:
            super().action_back()
