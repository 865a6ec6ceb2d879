"""Events of a log for tests of what is derived from it: plain, complete, numbered in order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from workbench.model.event import (
    Actor,
    Bearing,
    Body,
    Event,
    EvidenceGiven,
    Grade,
    VerdictGiven,
)
from workbench.model.verdict import NO_EVIDENCE, Held, Verdict

AT = datetime(2026, 11, 29, 15, 12, tzinfo=UTC)
ANA = Actor(name="ana")


def event(body: Body, at: int = 0, by: Actor = ANA) -> Event:
    """Make one event; its id says its place."""
    prefix = "E-" if isinstance(body, EvidenceGiven) else "n"
    return Event(
        id=f"{prefix}{at:04}",
        prev=(),
        seq=at,
        at=AT + timedelta(minutes=at),
        by=by,
        body=body,
        digest=f"{at:064}",
    )


def log(bodies: Iterable[Body]) -> list[Event]:
    """Make a log of bodies in their order."""
    return [event(body, at) for at, body in enumerate(bodies)]


def verdict(word: Verdict, hypothesis: str = "H1", run: str = "r1", digest: str = "") -> VerdictGiven:
    """Make the verdict of a run; each run is a test of its own unless a digest says otherwise."""
    return VerdictGiven(
        run=run,
        hypothesis=hypothesis,
        verdict=word,
        prediction=Held.UNTESTED,
        predicted="0.4:0.1",
        reason=None,
        harmful=False,
        arms={},
        blocks=2,
        evidence=NO_EVIDENCE,
        interval=(-1.0, 1.0),
        estimate=None,
        design_effect=1.0,
        digest=digest or f"digest of {run}",
    )


def by_hand(grade: Grade, bearing: Bearing, hypothesis: str = "H1") -> EvidenceGiven:
    """Make an item of evidence that somebody gives."""
    return EvidenceGiven(grade=grade, bears={hypothesis: bearing}, text="seen")


def of(given: VerdictGiven, hypothesis: str) -> VerdictGiven:
    """Give the same verdict for another hypothesis."""
    return replace(given, hypothesis=hypothesis)
