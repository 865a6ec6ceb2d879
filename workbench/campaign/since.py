"""What somebody has seen of a campaign already, from what they say: a time, an event, or a run.

An event names what its writer had seen. So "since an event" is everything that is not among that, also
what was written earlier on another branch and merged later; a time cannot tell that.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from workbench.campaign.registry import Campaign
from workbench.errors import UsageError
from workbench.model.event import Event
from workbench.model.registry import Seen

_AGO = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,6})?)\s*(m|min|h|d)")
_MINUTES = {"m": 1.0, "min": 1.0, "h": 60.0, "d": 1440.0}
_HINT = "give a time such as 2026-11-29, '2026-11-29 15:12Z' or 3h, the id of an event, or a run"


def seen_by(campaign: Campaign, text: str, now: datetime | None = None) -> Seen:
    """Say what had happened by a time, an event or a run.

    Args:
        campaign: Whose log.
        text: A time (UTC unless it says otherwise), how long ago (`90m`, `3h`, `2d`), the id of an
            event, or a run.
        now: The time that "ago" is from.

    Raises:
        UsageError: It is none of these.
    """
    events = campaign.log.events
    at = _time(text, now or datetime.now(UTC))
    if at is not None:
        before = [event for event in events if event.at <= at]
        return Seen(what=f"{at:%Y-%m-%d %H:%M}Z", at=at, events=tuple(before))
    for event in events:
        if event.id == text:
            return Seen(what=text, at=event.at, events=_known_to(event, events))
    run = _run(campaign, text)
    about = [event for event in events if getattr(event.body, "run", "") == run]
    if about:
        return Seen(what=run, at=about[-1].at, events=_known_to(about[-1], events))
    created = next((line.created for line in campaign.run_lines if line.id == run), None)
    if created is None:
        raise UsageError(f"when {run} began is not on record", hint=_HINT)
    before = [event for event in events if event.at <= created]
    return Seen(what=run, at=created, events=tuple(before))


def _time(text: str, now: datetime) -> datetime | None:
    ago = _AGO.fullmatch(text)
    if ago:
        return now - timedelta(minutes=min(float(ago[1]) * _MINUTES[ago[2]], 1e8))
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    try:
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:  # the first and the last day there are, in another zone
        return None


def _run(campaign: Campaign, text: str) -> str:
    try:
        return campaign.run_folder(text).name
    except UsageError as error:
        raise UsageError(f"{text!r} is no time, no event and no run", hint=_HINT) from error


def _known_to(last: Event, events: Sequence[Event]) -> tuple[Event, ...]:
    """Give an event and all that its writer had seen, in the order of the log."""
    by_digest = {event.digest: event for event in events}
    found: set[str] = set()
    ahead = [last.digest]
    while ahead:
        digest = ahead.pop()
        if digest in by_digest and digest not in found:
            found.add(digest)
            ahead.extend(by_digest[digest].prev)
    return tuple(event for event in events if event.digest in found)
