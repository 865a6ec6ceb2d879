"""What happened in a campaign's runs and in its engine, read whole from the disk at one moment.

Anybody may read at any time: no lock is taken, and a file that cannot be read hides no other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path

from workbench.errors import StoreError, UsageError
from workbench.model.chronicle import Chronicle, Exchanged, Happening, Output
from workbench.model.registry import Registry, RunLine
from workbench.store.damage import Damage
from workbench.store.journal import read_events, read_samples
from workbench.store.layout import WORK
from workbench.store.tails import read_tail

_ENGINE_LOGS = f"{WORK}/logs/engine"
_RUNS = 200  # newest runs whose events are read
_LOG_BYTES = 2 * 1024 * 1024  # last bytes of a component's log that are read
_BEGINS = 1000  # characters of a reply; `reply_of` gives the whole
_STAMP = re.compile(
    r"^[\[(]?([0-9]{4})[-/]([0-9]{2})[-/]([0-9]{2})[T ]([0-9:]{8}(?:[.,][0-9]{1,6})?)[0-9]*"
    r" ?(Z|[+-][0-9]{2}:?[0-9]{2})?"
)


def chronicle(registry: Registry, run: str = "") -> Chronicle:
    """Read what happened.

    Args:
        registry: The campaign.
        run: Id of the run whose exchanges are read; the newest if it is empty.
    """
    root, problems = Path(registry.root), list[str]()
    chosen = next((line for line in reversed(registry.runs) if not run or line.id == run), None)
    if run and chosen is None:
        problems.append(f"there is no run {run}")
    read = registry.runs[-_RUNS:]
    if chosen is not None and chosen not in read:
        read = (chosen, *read)
    if len(read) < len(registry.runs):
        problems.append(f"events of {len(registry.runs) - len(read):,} older runs are left out")
    return Chronicle(
        run=chosen.id if chosen else "",
        happenings=tuple(each for line in read for each in _happenings(root, line, problems)),
        exchanges=_exchanges(root, chosen, problems) if chosen else (),
        output=tuple(_output(root / _ENGINE_LOGS, problems)),
        problems=tuple(problems),
    )


def reply_of(registry: Registry, run: str, key: str) -> str:
    """Give a reply whole; empty if none was kept.

    Raises:
        UsageError: There is no such exchange.
        StoreError: The run cannot be read.
    """
    for line in registry.runs:
        if line.id == run:
            for sample in read_samples(Path(registry.root) / line.path, Damage()):
                if str(sample.exchange.key) == key:
                    return sample.exchange.text
    raise UsageError(f"there is no exchange {key} in run {run}", hint="is the run still there?")


def stamped(line: str) -> datetime | None:
    """Give the time that a line of a log begins with, UTC; one without a zone is this host's."""
    found = _STAMP.match(line)
    if found is None:
        return None
    year, month, day, clock, zone = found.groups(default="")
    try:
        at = datetime.fromisoformat(f"{year}-{month}-{day}T{clock.replace(',', '.')}{zone}")
        return at.astimezone(UTC)
    except (ValueError, OverflowError):  # the 32nd, or the zone takes it out of the calendar
        return None


def _happenings(root: Path, line: RunLine, problems: list[str]) -> Iterator[Happening]:
    damage = Damage()
    try:
        for number, event in enumerate(read_events(root / line.path, damage)):
            yield Happening(run=line.id, number=number, event=event)
    except StoreError as error:
        problems.append(error.what)
    problems += [f"{line.id}: {each}" for each in damage]


def _exchanges(root: Path, line: RunLine, problems: list[str]) -> tuple[Exchanged, ...]:
    damage, found = Damage(), list[Exchanged]()
    try:
        for sample in read_samples(root / line.path, damage):
            found.append(
                Exchanged(
                    key=str(sample.exchange.key),
                    at=sample.at,
                    status=sample.status,
                    label=f"{sample.label.word} ({sample.label.rule})",
                    seconds=sample.exchange.seconds,
                    begins=sample.exchange.text[:_BEGINS],
                )
            )
    except StoreError as error:
        problems.append(error.what)
    problems += [f"{line.id}: {each}" for each in damage]
    return tuple(sorted(found, key=attrgetter("at")))


def _output(folder: Path, problems: list[str]) -> Iterator[Output]:
    for path in sorted(folder.glob("*.log")):
        try:
            yield from _lines(path, problems)
        except StoreError as error:
            problems.append(error.what)


def _lines(path: Path, problems: list[str]) -> Iterator[Output]:
    """Yield the last lines of a log; what stands before the first time is as old as that."""
    tail = read_tail(path, _LOG_BYTES)
    if tail.left:
        problems.append(f"the first {tail.left:,} bytes of {path.name} are left out")
    at = next(filter(None, (stamped(text) for _, text in tail.lines)), tail.changed)
    for place, text in tail.lines:
        at = stamped(text) or at
        yield Output(component=path.stem, place=place, at=at, text=text)
