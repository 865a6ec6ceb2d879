"""A run in a notebook: what it found, its plots, its sessions, and what was not clean in it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.model.progress import Snapshot
from workbench.notebook.shown import Report, Shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from workbench.report.frames import Frame


class Run(Shown):
    """A run; shows its summary, judged anew when it is first asked.

    Args:
        path: Its folder.

    Attributes:
        path: Its folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __fspath__(self) -> str:
        return str(self.path)

    @property
    def id(self) -> str:
        """Its id."""
        return self.path.name

    @cached_property
    def snapshot(self) -> Snapshot:
        """How it stood when it was first asked, as nouns of `workbench.model`."""
        found: Snapshot = _looking().snapshot(self.path)
        return found

    @property
    def verdicts(self) -> dict[str, str]:
        """What it says: the hypothesis, or the two arms, and the word; empty while undecided."""
        found = {}
        for judgement in self.snapshot.judgements:
            pair = judgement.comparison
            about = pair.hypothesis or f"{pair.control} against {pair.treatment}"
            found[about] = str(judgement.verdict or "")
        return found

    def lines(self) -> Iterable[str]:
        """Give its summary."""
        return self.summary.lines()

    @property
    def summary(self) -> Report:
        """The word of each comparison, why, the numbers, and what to do next."""
        from workbench.report.record import judgement_record, measurement_record
        from workbench.report.summary import comparison_summary, measurement_summary
        from workbench.report.text import printed

        snapshot = self.snapshot
        if not snapshot.judgements:
            measured = [measurement_record(snapshot)]
            return Report(printed(measurement_summary(snapshot)), records=measured)
        records = [judgement_record(each, snapshot) for each in snapshot.judgements]
        return Report(printed(comparison_summary(snapshot)), records=records)

    @property
    def trials(self) -> Frame:
        """One row a session that has ended."""
        return _frames().trials([(self.id, _looking().exchanges(self.path))])

    @property
    def exchanges(self) -> Frame:
        """One row an exchange."""
        return _frames().exchanges([(self.id, _looking().exchanges(self.path))])

    @property
    def failures(self) -> Frame:
        """One row a kind of failure, the most frequent first, with the first reply as it was kept."""
        return _frames().failures(_looking().failures(self.path))

    def plot(self, kind: str = "evidence") -> Figure:
        """Draw the run.

        Args:
            kind: `evidence` over its blocks with the thresholds, or `rates` of its arms by block.

        Raises:
            UsageError: There is no such plot, nothing to draw, or matplotlib is missing.
        """
        from workbench.notebook.drawing import run_plot

        return run_plot(self.path, kind)


def _looking() -> Any:
    from workbench.campaign import looking  # judges, for which it loads numbers

    return looking


def _frames() -> Any:
    from workbench.report import frames

    return frames
