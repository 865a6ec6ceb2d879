"""The event log of a campaign, `hypotheses/events.jsonl`: append-only, shared, merged by git.

Whoever appends holds a short lock, reads what others have added, and writes one line that names all
heads seen. When `append` returns, the line is on the disk. Reading takes in whatever stands in the
file: a damaged line hides no other, and nothing makes it raise.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from workbench.errors import StoreError, UsageError, VersionTooNew
from workbench.model.event import Actor, Body, Event, EvidenceGiven, Note
from workbench.model.hypothesis import Problem
from workbench.model.ids import BASE32
from workbench.store.eventlines import GREATEST_SEQ, check_actor, decode, encode
from workbench.store.eventorder import in_order
from workbench.store.jsonl import BadLine, LineWriter, mend
from workbench.store.layout import LOG_FILE, WORK, log_folder
from workbench.store.loglock import LOCK_FILE, LogLock
from workbench.store.logtail import LogTail
from workbench.store.mentions import renumbered
from workbench.store.runs import Writing

_PATIENCE = 1.0  # seconds that a reader waits for the writer of an unfinished last line
_TRIES = 3  # a merge replaces the log once
_TORN = "it is left out, and the next append moves it aside to events.torn"


@dataclass(frozen=True, kw_only=True, slots=True)
class Log:
    """The log as it reads.

    Attributes:
        events: In their order: none before one that it follows, then by time, then by id; renumbering
            applied.
        heads: Digests of the events that no other follows, sorted.
        problems: What is wrong, by line.
    """

    events: tuple[Event, ...] = ()
    heads: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


class EventLog:
    """The log of one campaign.

    An object that lives on reads only what was added since, and everything again when the file was
    replaced, as git does in a merge.

    Args:
        root: The campaign's folder.
        writing: How to write.
        wait: Seconds that `append` waits for other writers.
        clock: Gives the time, aware.
    """

    def __init__(
        self,
        root: Path,
        writing: Writing | None = None,
        *,
        wait: float = 30.0,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.root = root
        self._path = root / LOG_FILE
        self._tail = LogTail(self._path, LOG_FILE)
        self._mutex = threading.RLock()  # of this object's state; the lock is the campaign's
        self._patience = min(wait, _PATIENCE)
        self._state: object = None
        self._log = Log()
        self._writing = writing or Writing()
        self._clock = clock
        self._lock = LogLock(root, wait=wait, disk=self._writing.disk)

    # --- reading ------------------------------------------------------------------------------------

    def read(self) -> Log:
        """Give the log as it stands; whatever is wrong with it is among its problems."""
        with self._mutex:
            problem, settled = self._tail.catch_up(), True
            if self._tail.tail and (self.root / WORK / LOCK_FILE).exists():
                # A line without its end may be one that is being written: its writer holds the lock.
                settled = False
                with suppress(StoreError), self._lock(wait=self._patience):
                    problem, settled = self._tail.catch_up(), True
            problems = [problem] if problem else []
            if self._tail.tail:
                problems += self._last_line(settled)
            state = (self._tail.state, tuple(problems))
            if state != self._state:
                self._state, self._log = state, self._ordered(problems)
            return self._log

    def _last_line(self, settled: bool) -> Iterator[Problem]:
        tail = self._tail
        if not settled:
            yield tail.tail_problem("the last line is not finished", "somebody is writing; look again")
        elif tail.whole:
            tail.take_tail()
        else:
            yield tail.tail_problem("the last line is torn", _TORN)

    def _ordered(self, problems: list[Problem]) -> Log:
        chain = self._tail.chain
        return Log(
            events=renumbered(in_order(chain.events.values())),
            heads=tuple(sorted(chain.heads)),
            problems=(*chain.problems(), *problems),
        )

    # --- writing ------------------------------------------------------------------------------------

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the log's lock, for what must happen together with an append; entered only if that can.

        Raises:
            LockHeld: Other processes had it all the time.
            VersionTooNew: A newer workbench has written to the log: it is for reading only.
            StoreError: The log cannot be written.
        """
        with self._mutex, self._lock():
            log_folder(self.root, disk=self._writing.disk)
            self._prepare()
            yield

    def append(self, body: Body, by: Actor) -> Event:
        """Put an event on record; when this returns, it is on the disk.

        Args:
            body: What happened; secrets are taken out on the way.
            by: Who says so.

        Returns:
            The event as it stands in the log.

        Raises:
            LockHeld: Other processes wrote all the time.
            VersionTooNew: A newer workbench has written to the log: it is for reading only.
            StorageFull: The disk refused; the log is as it was.
            UsageError: The body is not one that a line can hold.
            StoreError: The log cannot be written.
        """
        check_actor(by)
        gate = self._writing.gate()
        clean = gate.campaign_event(body)
        signed = Actor(name=gate.prose(by.name), agent=by.agent)
        with self.locked():
            for _ in range(_TRIES):
                line = encode(self._event(clean, signed))
                event = _read_back(line)
                self._write(line)
                # Read back by name: git may have put another file there while we wrote to the old one.
                if self._tail.catch_up() is None and event.digest in self._tail.chain.events:
                    return event
                self._prepare()
        raise StoreError(
            f"{self._path}: was replaced while it was written to", hint="is git at work? then try again"
        )

    def _event(self, body: Body, by: Actor) -> Event:
        chain = self._tail.chain
        kind = {EvidenceGiven: "E-", Note: "N-"}.get(type(body), "")
        while (id := kind + _letters(4 if kind else 8)) in chain.ids:
            pass
        return Event(
            id=id,
            prev=tuple(sorted(chain.heads)),
            seq=min(chain.seq + 1, GREATEST_SEQ),
            at=self._clock().astimezone(UTC),
            by=by,
            body=body,
            digest="",
        )

    def _prepare(self) -> None:
        """Read what others added, refuse what is not ours to write to, and mend the last line."""
        problem = self._tail.catch_up()
        if problem:
            raise StoreError(f"{self._path}: {problem.what}", hint=problem.hint)
        if self._tail.whole:
            self._tail.take_tail()
        newer = self._tail.chain.newer
        if newer:
            raise VersionTooNew(
                f"{self._path}: has format {newer}, which this workbench can only read",
                hint="upgrade the workbench to append to this log",
            )
        if self._tail.tail and not self._tail.whole:
            mend(self._path, disk=self._writing.disk)
            self._tail.catch_up()

    def _write(self, line: bytes) -> None:
        writer = LineWriter(self._path, sync_every=0, disk=self._writing.disk)
        try:
            writer.append(b"\n" + line if self._tail.tail else line)
        finally:
            writer.abandon()


def _read_back(line: bytes) -> Event:
    """Give the event as readers will see it; what they would refuse is not written."""
    try:
        return decode(line[:-1]).event
    except BadLine as error:
        raise UsageError(f"this event cannot be stored: {error}") from error


def _letters(count: int) -> str:
    return "".join(secrets.choice(BASE32) for _ in range(count))
