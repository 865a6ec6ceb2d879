"""What the starts of a run really were: settings as read back, exposure, and their load."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from workbench.model.start import UNTOLD, Load, Reading, Start
from workbench.report.text import duration, inert, number

_SHOWN = 8  # starts; of more the first ones and the last


def starts(found: Sequence[Start]) -> Iterator[str]:
    """Yield the lines that tell of each start, in their order."""
    if not found:
        return
    yield "what was found running, by start:"
    cut = len(found) - _SHOWN
    for at, each in enumerate(found):
        if cut > 0 and at == _SHOWN // 2:
            yield f"  ... and {cut} more starts; each has a file fingerprint-*.json in the run's folder"
        if cut <= 0 or at < _SHOWN // 2 or at >= _SHOWN // 2 + cut:
            yield from _start(each)


def _start(start: Start) -> Iterator[str]:
    again = f", start {start.number}" if start.number > 1 else ""
    place = f"block {start.block}" if start.block else "measurement"
    reset = f", {inert(start.reset)}" if start.reset else ""
    yield f"  {place} {inert(start.arm)}{again}: ready in {duration(start.ready_seconds)}{reset}"
    for reading in (*start.readbacks, *start.exposure):
        yield f"    {_reading(reading)}"
    if start.load is not None:
        yield f"    load: {'; '.join(_load(start.load))}"
    if start.died:
        yield f"    died: {inert(start.died)}"


def _reading(reading: Reading) -> str:
    mark = "ok " if reading.ok else "NOT"
    if reading.ok and reading.found == UNTOLD:
        mark = "?  "
    found = inert(reading.found) or "nowhere"
    return (
        f"{mark} {inert(reading.about)}: {inert(reading.source)} is {found} (due: {inert(reading.due)})"
    )


def _load(load: Load) -> Iterable[str]:
    yield f"{load.asked} in flight asked, {load.client_peak} sent at once"
    if load.server_peak is not None:
        how = "by its own count" if load.exact else f"in {load.samples} looks"
        yield f"the server saw {number(load.server_peak)} {how}"
    yield f"{load.requests} requests in {duration(load.seconds)}"
    if load.served is not None:
        yield f"the server took {number(load.served)}"
    yield f"client late by {load.lag_mean * 1000:.1f} ms on average, {load.lag_most * 1000:.0f} at most"
