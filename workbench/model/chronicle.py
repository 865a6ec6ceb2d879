"""What happened in runs and in the engine, as it lies on the disk."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from workbench.model.outcome import Status
from workbench.model.run import RunEvent


@dataclass(frozen=True, kw_only=True, slots=True)
class Happening:
    """Something that a run noted of itself.

    Attributes:
        run: Id of the run.
        number: Its place among all that the run noted, from 0.
        event: It.
    """

    run: str
    number: int
    event: RunEvent


@dataclass(frozen=True, kw_only=True, slots=True)
class Exchanged:
    """An exchange, without most of its reply.

    Attributes:
        key: Its place in the run.
        at: When it ended, UTC.
        status: What it is for the run's symptom.
        label: The classifier's word, with the rule that fired.
        seconds: How long it took.
        begins: How its reply begins, as far as it was kept; untrusted.
    """

    key: str
    at: datetime
    status: Status
    label: str
    seconds: float
    begins: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Output:
    """A line that a component of an engine wrote.

    Attributes:
        component: Name of the component.
        place: Byte of its log at which the line begins.
        at: The time that it begins with, else that of the line before it, UTC.
        text: It; untrusted.
    """

    component: str
    place: int
    at: datetime
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Chronicle:
    """All of it, each kind in the order of its file.

    Attributes:
        run: Id of the run that the exchanges are of; empty if there is none.
        happenings: What runs noted of themselves.
        exchanges: All exchanges of the run, by time.
        output: What components wrote last.
        problems: What could not be read, or was left out.
    """

    run: str = ""
    happenings: tuple[Happening, ...] = ()
    exchanges: tuple[Exchanged, ...] = ()
    output: tuple[Output, ...] = ()
    problems: tuple[str, ...] = ()
