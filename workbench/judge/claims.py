"""Who works on which suspect, so that two do not run one test: from the log alone.

The last that somebody said of a suspect stands, until the time that they gave. Branches of the log that
were merged may leave a suspect with two who work on it; both are shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from workbench.model.event import Actor, Claim, Event


@dataclass(frozen=True, kw_only=True, slots=True)
class AtWork:
    """Somebody works on a suspect until a time, UTC."""

    hypothesis: str
    by: Actor
    until: datetime


def live(events: Iterable[Event], at: datetime) -> tuple[AtWork, ...]:
    """Give the claims that stand at a time, those that end first first.

    Args:
        events: The log in its order.
        at: When, aware.
    """
    last: dict[tuple[str, Actor], AtWork] = {}
    for event in events:
        if isinstance(event.body, Claim):
            id, until = event.body.hypothesis, event.body.until
            last[id, event.by] = AtWork(hypothesis=id, by=event.by, until=until)
    standing = [each for each in last.values() if each.until > at]
    return tuple(sorted(standing, key=lambda each: (each.until, each.hypothesis, str(each.by))))
