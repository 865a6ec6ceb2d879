"""Progress of a run on stderr: which display, and those that need no terminal.

rich    a live picture, on a terminal        plain   a line a block, for logs
json    a line of JSON a block               none    nothing
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from workbench.model.progress import Phase, Snapshot
from workbench.ports import Observer
from workbench.report.figures import evidence_so_far, rate
from workbench.report.forecast import forecast
from workbench.report.record import progress_record
from workbench.report.text import duration

_EVERY = 10.0  # seconds between plain lines within a long block


@contextmanager
def observer(display: str) -> Iterator[Observer]:
    """Give the observer for a display and clean the screen up after it."""
    if display == "auto":
        display = "rich" if sys.stderr.isatty() else "plain"
    if display == "rich":
        from workbench.cli.live import LiveDisplay

        with LiveDisplay() as live:
            yield live
    else:
        kinds = {"plain": PlainDisplay, "json": JsonDisplay, "none": NoDisplay}
        yield kinds[display]()


class NoDisplay:
    """Says nothing."""

    def started(self, snapshot: Snapshot) -> None:
        """Say nothing."""

    def ticked(self, look: Callable[[], Snapshot]) -> None:
        """Say nothing."""

    def judged(self, snapshot: Snapshot) -> None:
        """Say nothing."""

    def closed(self, snapshot: Snapshot) -> None:
        """Say nothing."""


class PlainDisplay(NoDisplay):
    """A line when a block is complete, and every ten seconds within a longer one."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def started(self, snapshot: Snapshot) -> None:
        """Show the plan."""
        for line in forecast(snapshot.plan):
            click.echo(line, err=True)
        click.echo(f"kept in {snapshot.folder}", err=True)

    def ticked(self, look: Callable[[], Snapshot]) -> None:
        """Show that a long block is alive."""
        if time.monotonic() - self._last >= _EVERY:
            self._say(look(), "... ")

    def judged(self, snapshot: Snapshot) -> None:
        """Show a complete block."""
        self._say(snapshot, "")

    def _say(self, snapshot: Snapshot, prefix: str) -> None:
        self._last = time.monotonic()
        click.echo(prefix + progress_line(snapshot), err=True)


class JsonDisplay(NoDisplay):
    """A line of JSON when the run starts, at each complete block, and when it stands still."""

    def started(self, snapshot: Snapshot) -> None:
        """Write where the run is kept."""
        self._write("started", snapshot)

    def judged(self, snapshot: Snapshot) -> None:
        """Write a complete block."""
        self._write("judged", snapshot)

    def closed(self, snapshot: Snapshot) -> None:
        """Write that the run stands still."""
        self._write("closed", snapshot)

    def _write(self, kind: str, snapshot: Snapshot) -> None:
        values = {"event": kind, **progress_record(snapshot)}
        click.echo(json.dumps(values, allow_nan=False), err=True)


def progress_line(snapshot: Snapshot) -> str:
    """Say in one line where a run stands."""
    spent = duration(snapshot.seconds)
    if snapshot.phase is Phase.MEASURING:
        arm = snapshot.plan.measurement.arm if snapshot.plan.measurement else ""
        return f"sampling {arm}: {rate(snapshot.measured)}; {spent}"
    parts = [f"block {snapshot.block}"]
    parts += [f"{name} {rate(counts)}" for name, counts in snapshot.arms.items()]
    for judgement in snapshot.judgements:
        if judgement.verdict is None:
            parts.append(evidence_so_far(judgement, snapshot.plan.rules))
        else:
            parts.append(str(judgement.verdict))
    worst = snapshot.worst_seconds
    undecided = any(judgement.verdict is None for judgement in snapshot.judgements)
    if worst is not None and undecided:
        spent += f", at worst {duration(worst)} more"
    return "; ".join([*parts, spent])
