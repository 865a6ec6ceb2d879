"""The lines of a log as a chain: what follows what, which events nobody follows, what does not fit.

The chain is a DAG. Each event names the digests of the heads that its writer saw; two branches that
both appended give two heads, which the next event names and so joins. Nothing here reads a file, and
nothing that a file may hold makes it raise.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator
from datetime import datetime

from workbench.model.event import Event
from workbench.model.hypothesis import Problem
from workbench.store.eventlines import decode, digest_of, version_of
from workbench.store.jsonl import BadLine, unseal
from workbench.store.plainfile import printable

_MARKER = re.compile(rb"^(?:<{7}|>{7}|\|{7})(?: |\r?$)|^={7}\r?$")
_BYTE = re.compile(r"\(byte (\d+)\)")
_RESTORE = "restore the line from git or a copy; the other lines are whole"


class Chain:
    """All lines of a log, added one by one in any order and as often as they come.

    Attributes:
        file: The log's path as a person would type it.
        events: Digest to event, in the order added.
        heads: Digests of the events that no other names.
        ids: Ids in use.
        seq: Greatest `seq` so far, 0 without events.
        newer: Version of the format of a line that a newer workbench wrote, 0 without any.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self.events: dict[str, Event] = {}
        self.heads: set[str] = set()
        self.ids: set[str] = set()
        self.seq = 0
        self.newer = 0
        self._known: set[str] = set()  # digests of all whole lines, also of those not understood
        self._named: set[str] = set()
        self._places: dict[str, int] = {}
        self._problems: list[Problem] = []

    def add(self, number: int, line: bytes) -> None:
        """Take in a line, without its newline, that stands at `number`, from 1."""
        line = line.removesuffix(b"\r")  # an editor or git may have changed the ends of lines
        if not line.strip():
            return
        if _MARKER.match(line):
            self._problem(
                number,
                "a conflict marker of git",
                hint="keep the lines of both sides and take out the lines of markers",
            )
            return
        digest = digest_of(line)
        if digest in self._known:  # a union merge may keep a line twice
            return
        try:
            found = decode(line, digest)
        except BadLine as error:
            self._refuse(number, line, str(error))
            return
        event = found.event
        if found.newer:
            self._note_newer(number, found.version)
        if event.id in self.ids:
            self._problem(number, f"a second event with the id {event.id}", hint="both are kept")
        self._known.add(digest)
        self.events[digest] = event
        self.ids.add(event.id)
        self.seq = max(self.seq, event.seq)
        self._places[digest] = number
        self._named.update(event.prev)
        self.heads.difference_update(event.prev)
        if digest not in self._named:
            self.heads.add(digest)

    def problems(self) -> tuple[Problem, ...]:
        """Say what does not fit, by line."""
        found = [*self._problems, *self._missing()]
        return tuple(sorted(found, key=lambda each: (each.line, each.column, each.what)))

    def _missing(self) -> Iterator[Problem]:
        for digest, event in self.events.items():
            for lost in sorted(set(event.prev) - self._known):
                yield Problem(
                    file=self.file,
                    line=self._places[digest],
                    column=1,
                    what=f"a line is missing: this event follows {lost[:12]}, which is not in the log",
                    hint="restore the lost line from git or a copy",
                )

    def _refuse(self, number: int, line: bytes, why: str) -> None:
        try:
            unseal(line)
        except BadLine:
            pass
        else:
            self._known.add(digest_of(line))  # it is what was written; only its meaning is lost
        version = version_of(line)
        self._note_newer(number, version)
        found = _BYTE.search(why)
        before = line[: int(found[1])] if found else b""
        column = len(before.decode("utf-8", "replace")) + 1
        self._problem(number, f"a damaged line is left out: {why}", hint=_RESTORE, column=column)

    def _note_newer(self, number: int, version: int) -> None:
        if version > 1 and not self.newer:
            self._problem(
                number,
                f"written by a newer workbench (format {version}); read as far as it is understood",
                hint="upgrade the workbench to append to this log",
            )
        self.newer = max(self.newer, version if version > 1 else 0)

    def _problem(self, number: int, what: str, *, hint: str, column: int = 1) -> None:
        self._problems.append(
            Problem(file=self.file, line=number, column=column, what=printable(what), hint=hint)
        )


def in_order(events: Iterable[Event]) -> tuple[Event, ...]:
    """Order events: none before one that it names; else by time, then by id.

    The order depends on the events alone and not on the order in which they are given. Events of a
    circle, which only a forger could make, come last.
    """
    by_digest = {event.digest: event for event in events}
    followers: dict[str, list[str]] = {}
    waits: dict[str, int] = {}
    for digest, event in by_digest.items():
        before = {name for name in event.prev if name in by_digest}
        waits[digest] = len(before)
        for name in before:
            followers.setdefault(name, []).append(digest)
    ready = [_place(by_digest[digest]) for digest, count in waits.items() if not count]
    heapq.heapify(ready)
    ordered: list[Event] = []
    while ready:
        digest = heapq.heappop(ready)[2]
        ordered.append(by_digest.pop(digest))
        for follower in followers.get(digest, ()):
            waits[follower] -= 1
            if not waits[follower]:
                heapq.heappush(ready, _place(by_digest[follower]))
    return (*ordered, *sorted(by_digest.values(), key=_place))


def descendants(events: Iterable[Event], digests: Iterable[str]) -> set[str]:
    """Give the digests of all events that follow any of these, themselves included."""
    followers: dict[str, list[str]] = {}
    for event in events:
        for name in event.prev:
            followers.setdefault(name, []).append(event.digest)
    found: set[str] = set()
    rest = list(digests)
    while rest:
        name = rest.pop()
        if name not in found:
            found.add(name)
            rest += followers.get(name, ())
    return found


def _place(event: Event) -> tuple[datetime, str, str]:
    return event.at, event.id, event.digest
