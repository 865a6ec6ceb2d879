"""What keys set in motion: forms, tests as processes of their own, what to test next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from textual.app import App

from workbench.model.event import Actor
from workbench.tui.held import Held
from workbench.tui.views.base import View


class Acting(App[None]):
    """Actions of the application; `WorkbenchApp` has what they stand on."""

    held: Held
    actor: Actor

    def attempt(self, what: Callable[[], Any], then: Callable[[Any], None] | None = None) -> None:
        """Do something in a thread; tell its error, or go on with what it gives."""
        raise NotImplementedError

    def show_text(self, title: str, lines: Sequence[str]) -> None:
        """Show a page of text on top of the view."""
        raise NotImplementedError

    def go_to(self, suspect: str) -> None:
        """Go to a suspect in the tree."""
        raise NotImplementedError

    @property
    def suspect(self) -> str:
        """Id of the suspect under the cursor; empty where there is none."""
        return str(getattr(self.screen, "suspect", ""))

    @property
    def by(self) -> str:
        """Who acts, as the command line spells it."""
        return f"{self.actor.name}:agent" if self.actor.agent else self.actor.name

    # --- words on record ----------------------------------------------------------------------------

    def action_add(self) -> None:
        """Add a suspect, under the one at the cursor."""
        self._open("add")

    def action_evidence(self) -> None:
        """Put evidence on record."""
        self._open("evidence")

    def action_rule(self) -> None:
        """Rule on a suspect, or ask for it to be looked at again."""
        self._open("rule")

    def action_link(self) -> None:
        """Link a commit."""
        self._open("link")

    def action_note(self) -> None:
        """Note something."""
        self._open("note")

    def action_claim(self) -> None:
        """Say that you work on a suspect."""
        self._open("claim")

    def _open(self, kind: str) -> None:
        from workbench.tui.doing import Forms

        forms = Forms(self.held, self.actor, self._written)
        self.push_screen(getattr(forms, kind)(self.suspect))

    def _written(self, said: str, suspect: str) -> None:
        """Say what was written, and go to what it is about once it is read."""
        if suspect:
            self.go_to(suspect)
        self.say(said)

    def say(self, what: str) -> None:
        """Say something in the line below the view."""
        if isinstance(self.screen, View):
            self.screen.tell(what)

    # --- tests --------------------------------------------------------------------------------------

    def action_test(self) -> None:
        """Plan and run the test of the suspect under the cursor."""
        if not self.suspect:
            self.say("move to a suspect first: a test is of one")
            return
        from workbench.tui.views.plan import PlanSheet

        self.push_screen(PlanSheet(self.held.root, [self.suspect], self.by, self.show_run))

    def action_next(self) -> None:
        """Say which test would tell most a minute."""

        def ask() -> list[str]:
            from workbench.campaign.asking import ask
            from workbench.campaign.registry import Campaign
            from workbench.report.next import following

            return list(following(ask(Campaign(self.held.root))))

        self.say("weighing what each test would tell")
        self.attempt(ask, lambda found: self.show_text("what to test next", found))

    def show_run(self, run: str) -> None:
        """Open a run on top of the view."""
        from workbench.tui.views.run import RunView

        self.push_screen(RunView(run))

    def stop_run(self, run: str) -> None:
        """Ask the process that has a run to save and end it, once that is said twice."""
        from workbench.tui.views.sheets import Question

        def stop() -> str:
            from workbench.campaign.processes import stop

            ended = stop(self.held.root, run)
            return f"{ended.id} {ended.state}: workbench test --resume {ended.id} goes on with it"

        def answered(yes: bool | None) -> None:
            if yes:
                self.say("it saves what it has, and ends")
                self.attempt(stop, self.say)

        self.push_screen(Question(f"save and end run {run}? What it has stays."), answered)
