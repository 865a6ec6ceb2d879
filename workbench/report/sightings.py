"""Symptoms that somebody saw outside any run: told with their source, beside what runs counted."""

from __future__ import annotations

from typing import Any

from workbench.model.event import Event, Sighting
from workbench.model.registry import Registry
from workbench.report import values
from workbench.report.reasons import source
from workbench.report.text import inert


def seen(registry: Registry, symptom: str) -> str:
    """Say how a symptom was first reported, and how often it was since; empty if nobody did."""
    found = _of(registry, symptom)
    if not found:
        return ""
    first = found[0][1]
    more = f", and {len(found) - 1} more in the log" if len(found) > 1 else ""
    return f"reported: {inert(first.text)} ({source(first.source)}){more}"


def sighting_records(registry: Registry, symptom: str) -> list[dict[str, Any]]:
    """Give all reports of a symptom as JSON values, in the order of the log."""
    return [
        {
            "id": event.id,
            "at": values.utc(event.at),
            "who": event.by.name,
            "agent": event.by.agent,
            "text": body.text,
            "source": values.plain(body.source),
        }
        for event, body in _of(registry, symptom)
    ]


def _of(registry: Registry, symptom: str) -> list[tuple[Event, Sighting]]:
    return [
        (event, event.body)
        for event in registry.events
        if isinstance(event.body, Sighting) and event.body.symptom == symptom
    ]
