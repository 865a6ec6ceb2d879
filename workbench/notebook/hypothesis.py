"""A hypothesis in a notebook: what it claims and where it stands, what its test costs, and its test."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from workbench.campaign.registry import Campaign as Files
from workbench.model.standing import Standing, State
from workbench.notebook.asked import Asked
from workbench.notebook.run import Run
from workbench.notebook.shown import Report, Shown


class Hypothesis(Shown):
    """A hypothesis of a campaign; whatever is asked is looked up anew.

    Args:
        root: The campaign's folder.
        id: Its id.

    Attributes:
        id: Its id.
    """

    def __init__(self, root: Path, id: str) -> None:
        self._root = root
        self.id = id

    @property
    def standing(self) -> Standing:
        """Where it stands, with all evidence that bears on it."""
        standings = Files(self._root).registry.standings
        return standings.get(self.id) or Standing(hypothesis=self.id, state=State.OPEN)

    @property
    def state(self) -> State:
        """Its state."""
        return self.standing.state

    @property
    def runs(self) -> list[Run]:
        """The runs that serve it, oldest first."""
        lines = Files(self._root).run_lines
        return [Run(self._root / line.path) for line in lines if self.id in line.hypotheses]

    def lines(self) -> Iterable[str]:
        """Give all about it, as `workbench show` does."""
        from workbench.judge.interventions import named
        from workbench.report.show import show

        files = Files(self._root)
        git = None
        if named(files.registry, [self.id]):
            from workbench.campaign.history import history_or_problem

            git = history_or_problem(files, [self.id])
        return show(files.registry, self.id, git)

    def plan(self, *, put_back: bool = False, **asked: Any) -> Report:
        """Say what its test will cost and can see; run nothing.

        Args:
            put_back: Of the run that puts its cause back into the fixed system.
            asked: `engine`, `workload`, `seed`, `max_blocks`, `sessions`, `in_flight` or `budget` (in
                seconds), where they are to differ from its file.

        Raises:
            UsageError: It cannot be run as it stands.
            InvalidFiles: A file that is needed has mistakes.
        """
        from workbench.campaign import verdicts
        from workbench.report.forecast import forecast, plan_record

        files = Files(self._root)
        planned = verdicts.plan(files, [self.id], Asked(**asked).settings, put_back=put_back)
        pace = verdicts.pace(files, [self.id])
        return Report(forecast(planned, pace), records=[plan_record(planned, pace)])

    def test(self, **asked: Any) -> Run:
        """Run its test in a process of its own, and show how it goes; the verdict is on record then.

        An interrupt of the notebook saves and ends the run, as Ctrl-C does on a terminal: tested again,
        it goes on from its complete blocks. The end of the notebook ends no run.

        Args:
            asked: As for `plan`, and also `put_back`, `allow` (names of protected engines), `wait`
                (queue behind a run that has the engine) and `by` (`NAME` or `NAME:agent`).

        Returns:
            The run; one that had decided before, if there was nothing left to do.

        Raises:
            TestFailed: There is no verdict; the error says why.
            UsageError: Something is asked that is no option.
        """
        from workbench.notebook.testing import run_test

        return Run(run_test(self._root, [self.id], Asked(**asked)))

    async def atest(self, **asked: Any) -> Run:
        """Do the same without keeping the event loop; cancelled, it saves and ends the run."""
        from workbench.notebook.testing import run_test_async

        return Run(await run_test_async(self._root, [self.id], Asked(**asked)))
