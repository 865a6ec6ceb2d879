"""Which hypotheses an event speaks of, and how it reads once one of them has another id.

No line of the log is ever altered: a `renumbered` event says which events and runs go by a new id, and
readers read them so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from workbench.model.event import Body, Event, EvidenceGiven, Proposed, Renumbered
from workbench.model.hypothesis import HYPOTHESIS_ID

_ONE = ("hypothesis", "replaced_by")  # fields that hold an id, or nothing
_MANY = ("hypotheses", "about")  # fields that hold several, and may hold other names beside them


def mentioned(body: Body) -> frozenset[str]:
    """Give the ids of all hypotheses that a body names in its fields; free words are not searched."""
    if isinstance(body, Renumbered):
        found = {body.was, body.to}
    elif isinstance(body, EvidenceGiven):
        found = set(body.bears)
    else:
        found = {getattr(body, name, "") for name in _ONE}
        for name in _MANY:
            found.update(getattr(body, name, ()))
    return frozenset(name for name in found if HYPOTHESIS_ID.fullmatch(name))


def renumbered(events: Iterable[Event]) -> tuple[Event, ...]:
    """Read events as the `renumbered` ones among them say.

    Args:
        events: The log in its order; several renumberings apply one after another.
    """
    found = list(events)
    places: dict[str, list[int]] = {}
    for change in [event.body for event in found if isinstance(event.body, Renumbered)]:
        if not places:
            places = _places(found)
        affected = {place for name in (*change.events, *change.runs) for place in places.get(name, ())}
        for place in affected:
            event = found[place]
            body = _renamed(event.body, change)
            if body is not event.body:
                found[place] = replace(event, body=body)
    return tuple(found)


def new_names(events: Iterable[Event], run: str, hypotheses: Iterable[str]) -> tuple[str, ...]:
    """Give the ids by which the hypotheses that a run served, or serves, go now.

    Args:
        events: The log in its order.
        run: Id of the run.
        hypotheses: The ids in its manifest.
    """
    names = tuple(hypotheses)
    for event in events:
        change = event.body
        if isinstance(change, Renumbered) and run in change.runs:
            names = tuple(change.to if name == change.was else name for name in names)
    return names


def _places(events: list[Event]) -> dict[str, list[int]]:
    """Event and run ids to the places of the events that bear or name them."""
    places: dict[str, list[int]] = {}
    for place, event in enumerate(events):
        places.setdefault(event.id, []).append(place)
        run = getattr(event.body, "run", "")
        if run:
            places.setdefault(run, []).append(place)
    return places


def _renamed(body: Body, change: Renumbered) -> Body:
    was, to = change.was, change.to
    if isinstance(body, Renumbered) or was not in mentioned(body):
        return body
    changes: dict[str, Any] = {}
    for name in _ONE:
        if getattr(body, name, "") == was:
            changes[name] = to
    for name in _MANY:
        if was in getattr(body, name, ()):
            changes[name] = tuple(to if item == was else item for item in getattr(body, name))
    if isinstance(body, EvidenceGiven):
        changes["bears"] = _moved(body.bears, was, to)
    if isinstance(body, Proposed):
        changes["file"] = change.file
    return replace(body, **changes)


def _moved(bears: Mapping[str, Any], was: str, to: str) -> dict[str, Any]:
    return {to if name == was else name: bearing for name, bearing in bears.items()}
