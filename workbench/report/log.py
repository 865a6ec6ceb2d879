"""The event log as people read it, one line an event.

A record of `log`: id, at, who, agent, kind, seq, prev, digest; `about`, the hypotheses, runs and items
that it speaks of; and `body`, the event's own fields under the names that the log's file uses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from workbench.model.event import (
    AssumptionNoted,
    Claim,
    ConstraintNoted,
    Event,
    EvidenceGiven,
    InterventionNoted,
    Link,
    Note,
    OutsideChange,
    Proposed,
    Renumbered,
    Reopened,
    Ruling,
    RunNoted,
    Sighting,
    Unknown,
    VerdictGiven,
)
from workbench.model.intervention import is_setting
from workbench.report import values
from workbench.report.imported import in_short
from workbench.report.reasons import arms, source, who, word
from workbench.report.text import inert, moment, printed, sentence_of


def log(events: Iterable[Event], about: str = "") -> Iterator[str]:
    """Yield one line an event; with `about`, only events that speak of that hypothesis, run or item."""
    yield from printed(f"{event.id:<8}  {line(event)}" for event in _chosen(events, about))


def log_records(events: Iterable[Event], about: str = "") -> Iterator[dict[str, Any]]:
    """Yield a record for each event, chosen in the same way."""
    for event in _chosen(events, about):
        yield event_record(event)


def event_record(event: Event) -> dict[str, Any]:
    """Give an event as JSON values."""
    head = {"id": event.id, "at": values.utc(event.at), "who": event.by.name, "agent": event.by.agent}
    chain = {"seq": event.seq, "prev": list(event.prev), "digest": event.digest}
    known = {"kind": event.kind, "about": list(mentions(event))}
    facts = event.body.facts if isinstance(event.body, Unknown) else event.body
    return {**head, **known, **chain, "body": values.plain(facts)}


def line(event: Event) -> str:
    """Write when, who, and what happened."""
    return f"{moment(event.at)}  {who(event.by.name, event.by.agent)}: {happened(event)}"


def mentions(event: Event) -> tuple[str, ...]:
    """Name the hypotheses, runs and items of evidence that an event speaks of, itself included."""
    body = event.body
    match body:
        case EvidenceGiven():
            named = [*body.bears, body.source.run]
        case Note():
            named = [*body.about]
        case RunNoted():
            named = [body.run, *body.hypotheses]
        case VerdictGiven():
            named = [body.run, body.hypothesis]
        case Ruling():
            named = [body.hypothesis, body.replaced_by, *body.strikes]
        case Renumbered():
            named = [body.was, body.to]
        case Sighting():
            named = [body.source.run]
        case ConstraintNoted():
            named = [body.constraint]
        case OutsideChange():
            named = []
        case Unknown():
            named = [value for value in body.facts.values() if isinstance(value, str)]
        case _:
            named = [body.hypothesis]
    return tuple(dict.fromkeys(name for name in (event.id, *named) if name))


def _chosen(events: Iterable[Event], about: str) -> Iterator[Event]:
    return (event for event in events if not about or about in mentions(event))


def happened(event: Event) -> str:
    """Write what an event says, on one line."""
    body = event.body
    match body:
        case Proposed():
            return f"proposed {inert(body.hypothesis)}: {inert(body.title)}"
        case Note():
            about = f" on {sentence_of(body.about)}" if body.about else ""
            return f"note{about}: {inert(body.text)}"
        case Sighting():
            return f"saw {inert(body.symptom)}: {inert(body.text)} ({source(body.source)})"
        case EvidenceGiven():
            bears = sentence_of(f"{bearing} {id}" for id, bearing in body.bears.items())
            said = [in_short(body.counted) if body.counted else "", inert(body.text)]
            text = "; ".join(filter(None, said))
            return f"evidence, {body.grade}, {bears}: {text} ({source(body.source)})"
        case RunNoted():
            why = f" ({inert(body.why)})" if body.why else ""
            return f"run {inert(body.run)} of {sentence_of(body.hypotheses)} {inert(body.state)}{why}"
        case VerdictGiven():
            return f"{inert(body.run)} says of {inert(body.hypothesis)} {word(body)}: {arms(body)}"
        case Ruling():
            return f"ruled on {inert(body.hypothesis)}: {ruled(body)}"
        case Reopened():
            return f"reopened {inert(body.hypothesis)}: {inert(body.because)}"
        case Claim() if body.until <= event.at:
            return f"no longer works on {inert(body.hypothesis)}"
        case Claim():
            return f"works on {inert(body.hypothesis)} until {moment(body.until)}"
        case _:
            return _happened_around(event)


def _change(name: str) -> str:
    return f"setting {inert(name)}" if is_setting(name) else f"commit {inert(name)}"


def _happened_around(event: Event) -> str:
    body = event.body
    match body:
        case Link():
            because = f": {inert(body.because)}" if body.because else ""
            change, hypothesis = _change(body.commit), inert(body.hypothesis)
            return f"linked {change} to {hypothesis} as {inert(body.role)}{because}"
        case AssumptionNoted():
            found = {True: "holds", False: "does not hold", None: "is unverified"}[body.holds]
            because = f": {inert(body.because)}" if body.because else ""
            return f"assumption {inert(body.assumption)} of {inert(body.hypothesis)} {found}{because}"
        case InterventionNoted():
            change = f"{_change(body.commit)} for {inert(body.hypothesis)}"
            because = f": {inert(body.because)}" if body.because else ""
            effect = f"effect {inert(body.effect)}"
            return (
                f"{change} is {inert(body.state)}, {effect}{because}"
                if body.state
                else (f"{change}: {effect}{because}")
            )
        case ConstraintNoted():
            because = f" ({inert(body.because)})" if body.because else ""
            return f"constraint {inert(body.constraint)}: {inert(body.text)}{because}"
        case OutsideChange():
            where = f" on {inert(body.engine)}" if body.engine else ""
            return f"changed from outside{where}: {inert(body.text)}"
        case Renumbered():
            return f"renumbered {inert(body.file)} from {inert(body.was)} to {inert(body.to)}"
        case _:
            return f"{inert(event.kind)}: an event of a kind that this workbench does not know"


def ruled(ruling: Ruling) -> str:
    """Write what was ruled and why."""
    parts = []
    if ruling.strikes:
        parts.append(f"strikes {sentence_of(ruling.strikes)}")
    if ruling.role is not None:
        parts.append(f"role {ruling.role}")
    if ruling.replaced_by:
        parts.append(f"{inert(ruling.replaced_by)} replaces it")
    return f"{', '.join(parts) or 'nothing changes'}, because {inert(ruling.because)}"
