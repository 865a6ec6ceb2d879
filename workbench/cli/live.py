"""Progress on a terminal: arms as interval bars, evidence in words, time; at most 4 a second."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from workbench.model.progress import Phase, Snapshot
from workbench.report.figures import bar, evidence_so_far, rate, rate_and_rest
from workbench.report.forecast import forecast
from workbench.report.text import duration, ranked

_PER_SECOND = 4


class LiveDisplay:
    """A picture that is redrawn in place and removed at the end, when the result says it all."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False, markup=False, emoji=False)
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._drawn = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._live.stop()

    def started(self, snapshot: Snapshot) -> None:
        """Take the screen, and leave the plan above the picture.

        Not before: until a run is open, a question may be put to the person at the terminal.
        """
        self._live.start()
        for line in forecast(snapshot.plan):
            self._console.print(Text(line, style="dim"))
        self._draw(snapshot)

    def ticked(self, look: Callable[[], Snapshot]) -> None:
        """Redraw, unless that was done a moment ago."""
        if time.monotonic() - self._drawn >= 1 / _PER_SECOND:
            self._draw(look())

    def judged(self, snapshot: Snapshot) -> None:
        """Redraw with the new judgement."""
        self._draw(snapshot)

    def closed(self, snapshot: Snapshot) -> None:
        """Draw the last state once more."""
        self._draw(snapshot)

    def _draw(self, snapshot: Snapshot) -> None:
        self._drawn = time.monotonic()
        self._live.update(picture(snapshot), refresh=True)


def picture(snapshot: Snapshot) -> Text:
    """Draw a run as text; meaning is in words and numbers, colour only helps."""
    text = Text(no_wrap=True, overflow="ellipsis")
    plan = snapshot.plan
    if snapshot.phase is Phase.MEASURING:
        _measuring(text, snapshot)
    else:
        text.append(f"block {snapshot.block} of at most {plan.rules.max_blocks}", style="bold")
        for name, counts in snapshot.arms.items():
            running = " <" if name == snapshot.arm else ""
            text.append(f"\n  {name:<10} {bar(counts)} {rate_and_rest(counts)}{running}")
        for judgement in snapshot.judgements:
            state = judgement.verdict or evidence_so_far(judgement, plan.rules)
            text.append(f"\n  {state}")
    for line in _worst_failures(snapshot):
        text.append(f"\n  {line}", style="yellow")
    text.append(f"\n  {_time(snapshot)}", style="dim")
    text.append("\n  Ctrl-C stops and keeps everything", style="dim")
    return text


def _measuring(text: Text, snapshot: Snapshot) -> None:
    measurement = snapshot.plan.measurement
    if measurement is None:
        text.append("starting", style="bold")
        return
    until = f"{measurement.until_hits} hits or " if measurement.until_hits else ""
    text.append(
        f"sampling {measurement.arm}, until {until}{measurement.max_trials} trials", style="bold"
    )
    text.append(f"\n  {measurement.arm:<10} {bar(snapshot.measured)} {rate(snapshot.measured)}")


def _worst_failures(snapshot: Snapshot) -> list[str]:
    return [f"{times:>4} x {signature}" for signature, times in ranked(snapshot.failures)[:3]]


def _time(snapshot: Snapshot) -> str:
    parts = [f"{snapshot.in_flight} in flight", duration(snapshot.seconds)]
    if snapshot.worst_seconds:
        parts.append(f"at worst {duration(snapshot.worst_seconds)} more")
    return ", ".join(parts)
