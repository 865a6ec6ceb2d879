"""What happened, from every source, as entries in the order of time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from workbench.model.chronicle import Chronicle, Exchanged, Happening, Output
from workbench.model.event import Event
from workbench.model.outcome import Status
from workbench.report.log import happened
from workbench.report.reasons import who
from workbench.report.text import count, cut, duration, inert, sentence_of

MOST = 20_000  # entries that are listed
FOLD = 2000  # characters of a line of an entry that is opened
AROUND = timedelta(seconds=5)


class Source(StrEnum):
    """Where an entry comes from."""

    CAMPAIGN = "campaign"
    RUN = "run"
    EXCHANGE = "exchange"
    ENGINE = "engine"


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """Something that happened.

    Attributes:
        at: When, UTC.
        source: Where it comes from.
        text: It, or what it is in short where there is `more`; untrusted.
        key: What names it among all entries.
        more: How the reply of an exchange begins; untrusted.
        failing: It is an exchange that was not clean.
        exchange: Key of an exchange in its run; empty for anything else.
    """

    at: datetime
    source: Source
    text: str
    key: str
    more: str = ""
    failing: bool = False
    exchange: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """Which entries are wanted.

    Attributes:
        only_failing: Exchanges that were not clean, and nothing else.
        clean: Exchanges that were clean as well.
        engine: What components wrote as well.
        around: All that happened around a moment, whatever else is chosen.
    """

    only_failing: bool = False
    clean: bool = False
    engine: bool = True
    around: datetime | None = None


def entries(events: Iterable[Event], found: Chronicle) -> tuple[Entry, ...]:
    """Merge the campaign's log with what happened, by time; what is of one time keeps its order."""
    merged = [
        *map(_event, events),
        *map(_happening, found.happenings),
        *(_exchange(found.run, each) for each in found.exchanges),
        *map(_output, found.output),
    ]
    return tuple(sorted(merged, key=lambda each: each.at))


def among(found: Iterable[Entry], choice: Choice) -> list[Entry]:
    """Give the entries that are wanted, whatever they say."""
    if choice.around is not None:
        return [each for each in found if abs(each.at - choice.around) <= AROUND]
    if choice.only_failing:
        return [each for each in found if each.failing]
    return [each for each in found if _wanted(each, choice)]


def holding(found: Sequence[Entry], words: str) -> Sequence[Entry]:
    """Give the entries that hold words, every one of them, in whatever case."""
    sought = words.casefold().split()
    if not sought:
        return found
    return [each for each in found if _holds(each, sought)]


def rows(found: Sequence[Entry], width: int, a_page: int) -> list[tuple[str, str]]:
    """Give the last entries as rows: key, and a line below the date where that changes.

    Args:
        found: The entries.
        width: Columns of a row.
        a_page: Rows of a page; the first of each page has the date as well.
    """
    shown = found[-MOST:]
    made, day = [], ""
    for place, entry in enumerate(shown):
        today = f"{entry.at.astimezone(UTC):%Y-%m-%d}"
        head = "" if today == day and place % a_page else f"{today}\n"
        made.append((entry.key, f"{head}{_line(entry, width)}"))
        day = today
    return made


def said(wanted: Sequence[Entry], holds: int, choice: Choice, words: str, run: str) -> str:
    """Say which entries there are, or how many of them a filter has left.

    Args:
        wanted: Entries that are wanted, whatever they say.
        holds: How many of them hold the words.
        choice: What is wanted.
        words: What is sought.
        run: Id of the run that exchanges are of.
    """
    cut_off = f", of which the last {MOST:,} are listed" if holds > MOST else ""
    if words:
        return f"filter '{inert(words)}': {holds:,} of {len(wanted):,}{cut_off}; esc shows all"
    about = f", run {inert(run)}" if run else ""
    if choice.around is not None:
        about = f" within {AROUND.seconds} s of {choice.around:%H:%M:%S}, esc shows all"
    elif choice.only_failing:
        return f"{count(len(wanted), 'exchange')} not clean{cut_off}{about}; f shows the rest"
    times = Counter(each.source for each in wanted)
    sources = sentence_of(f"{times[each]:,} {each}" for each in Source if times[each])
    return f"{count(len(wanted), 'entry', 'entries')}{cut_off}{about}{sources and f': {sources}'}"


def whole(entry: Entry, reply: str = "") -> list[str]:
    """Give an entry as a page: when, what, and every line of its text or reply as it came, folded."""
    head = f"{entry.at.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f}Z  {entry.source}"
    if not entry.exchange:
        return [head, "", *folded(entry.text)]
    return [head, f"  {entry.text}", "", *(folded(reply) if reply else ["(reply not kept)"])]


def folded(text: str) -> Iterator[str]:
    """Yield the lines of a text, in pieces where they are long."""
    for line in text.split("\n"):
        yield line[:FOLD]
        for at in range(FOLD, len(line), FOLD):
            yield line[at : at + FOLD]


def _wanted(entry: Entry, choice: Choice) -> bool:
    if entry.source is Source.EXCHANGE:
        return entry.failing or choice.clean
    return entry.source is not Source.ENGINE or choice.engine


def _holds(entry: Entry, sought: Sequence[str]) -> bool:
    low = f"{entry.source} {entry.text}\n{entry.more}".casefold()
    return all(word in low for word in sought)


def _line(entry: Entry, width: int) -> str:
    text = entry.text
    if entry.more:
        text = f"{text[:width]}  {' '.join(entry.more[: 4 * width].split())}"
    return cut(f"{entry.at.astimezone(UTC):%H:%M:%S} {entry.source:<8} {text[: 4 * width]}", width)


def _event(event: Event) -> Entry:
    by = who(event.by.name, event.by.agent)
    text = f"{by}: {happened(event)} ({event.id})"
    return Entry(at=event.at, source=Source.CAMPAIGN, text=text, key=f"campaign {event.digest}")


def _happening(happening: Happening) -> Entry:
    run, event = happening.run, happening.event
    told = {name: value for name, value in event.facts.items() if value not in ("", None)}
    facts = ", ".join(f"{name} {_fact(value)}" for name, value in told.items())
    text = f"{event.kind}{facts and ': '}{facts} ({run})"
    return Entry(at=event.at, source=Source.RUN, text=text, key=f"run {run} {happening.number}")


def _fact(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " and ".join("undecided" if each is None else str(each) for each in value) or "none"
    return str(value)


def _exchange(run: str, exchanged: Exchanged) -> Entry:
    head = f"{exchanged.key}  {exchanged.status}  {exchanged.label}  {duration(exchanged.seconds)}"
    return Entry(
        at=exchanged.at,
        source=Source.EXCHANGE,
        text=head,
        key=f"exchange {run} {exchanged.key}",
        more=exchanged.begins,
        failing=exchanged.status is not Status.CLEAN,
        exchange=exchanged.key,
    )


def _output(output: Output) -> Entry:
    return Entry(
        at=output.at,
        source=Source.ENGINE,
        text=f"{output.component}: {output.text}",
        key=f"engine {output.component} {output.place}",
    )
