"""What is new in a campaign for somebody who has seen some of it: states that changed, and events.

The record of `status --since`:
    since      what was said; `at`, its time
    states     hypothesis, title, was (null for a new one), is: each state, grade, role, reopened
    events     records of `log`, oldest first
    running    ids of runs
    next       what, command
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from workbench.judge.states import about, standings
from workbench.model.event import Event, Proposed
from workbench.model.registry import Registry, Seen
from workbench.model.run import RunState
from workbench.model.standing import Standing, State
from workbench.report import values
from workbench.report.log import event_record, line
from workbench.report.reasons import who
from workbench.report.registry import state_words
from workbench.report.steps import campaign_step
from workbench.report.suspects import SYMBOLS, Roster, Suspect, roster
from workbench.report.text import WIDTH, count, cut, inert, printed, sentence_of, wrapped

_EVENTS = 40


def since(registry: Registry, seen: Seen) -> Iterator[str]:
    """Yield what is new."""
    return printed(_since(registry, seen))


def since_record(registry: Registry, seen: Seen) -> dict[str, Any]:
    """Give the same as JSON values, nothing left out."""
    suspects = roster(registry)
    step, new = campaign_step(suspects), _new(registry, seen)
    return {
        "since": seen.what,
        "at": values.utc(seen.at),
        "states": [
            {
                "hypothesis": each.id,
                "title": each.title,
                "was": _where(was) if was else None,
                "is": _where(each.standing),
            }
            for each, was in _changed(suspects, seen, new)
        ],
        "events": [event_record(event) for event in new],
        "running": [run.id for run in registry.runs if run.state is RunState.RUNNING],
        "next": {"what": step.what, "command": step.command},
    }


def _new(registry: Registry, seen: Seen) -> list[Event]:
    known = {event.digest for event in seen.events}
    return [event for event in registry.events if event.digest not in known]


def _changed(
    suspects: Roster, seen: Seen, new: Sequence[Event]
) -> Iterator[tuple[Suspect, Standing | None]]:
    """Yield suspects that do not stand as they did, with where they stood; None for a new one."""
    before = standings(seen.events, ())
    touched = {id for event in new for id in about(event)}
    proposed = {event.body.hypothesis for event in new if isinstance(event.body, Proposed)}
    for suspect in suspects:
        id = suspect.id
        was = before.get(id)
        if was is None and id not in proposed:  # its file came without an event
            was = Standing(hypothesis=id, state=State.OPEN)
        if id in touched and (was is None or _where(was) != _where(suspect.standing)):
            yield suspect, was


def _where(of: Standing) -> dict[str, Any]:
    return {
        "state": str(of.state),
        "grade": str(of.grade) if of.grade else None,
        "role": str(of.role) if of.role else None,
        "reopened": of.reopened,
    }


def _since(registry: Registry, seen: Seen) -> Iterator[str]:
    suspects = roster(registry)
    new = _new(registry, seen)
    if not new:
        yield f"nothing is new since {inert(seen.what)}"
    else:
        people = sentence_of(dict.fromkeys(who(each.by.name, each.by.agent) for each in new))
        yield from wrapped(
            f"since {inert(seen.what)}: {count(len(new), 'event')} by {people}", indent=0
        )
    changed = list(_changed(suspects, seen, new))
    if changed:
        yield ""
    for suspect, was in changed:
        head = f"{inert(suspect.id)}  {_move(suspect, was)}  "
        yield head + cut(suspect.title, max(WIDTH - len(head), 20))
    if new:
        yield ""
    for event in islice(new, max(len(new) - _EVENTS, 0), None):
        yield from wrapped(line(event), indent=0, hanging=4)
    if len(new) > _EVENTS:
        yield f"and {len(new) - _EVENTS} before these: workbench log"
    step = campaign_step(suspects)
    yield ""
    yield f"next: {step.what}"
    yield f"  {step.command}"


def _move(suspect: Suspect, was: Standing | None) -> str:
    """Write where a suspect stood, where it stands, and what else of it changed."""
    now = suspect.standing
    words = state_words(suspect)
    if was is None:
        words = f"new, {words}"
    elif was.state is not now.state:
        words = f"{SYMBOLS[was.state]} {was.state} -> {words}"
    told = [str(now.grade) if now.grade and (was is None or was.grade is not now.grade) else ""]
    if was is not None and was.role is not now.role:
        told.append(f"role {now.role}" if now.role else "no role")
    if was is not None and was.reopened is not now.reopened:
        told.append("reopened" if now.reopened else "looked at again")
    said = ", ".join(filter(None, told))
    return f"{words} ({said})" if said else words
