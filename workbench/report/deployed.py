"""Whether anything was run since the last change went live, or was taken back.

A service that answers its health check after a change shows that it is up. That the change did what it
was made for only a run can show, at the load at which it failed.
"""

from __future__ import annotations

from workbench.model.event import Event, InterventionNoted, VerdictGiven
from workbench.model.intervention import InterventionState, is_setting
from workbench.model.registry import Registry
from workbench.report.text import inert, moment

_DEPLOYED = (InterventionState.LIVE, InterventionState.REVERTED)


def untested(registry: Registry) -> str:
    """Say that nothing was run since the last change; empty where something was, or none is noted."""
    last = _last(registry)
    if last is None or not isinstance(last.body, InterventionNoted):
        return ""
    begun = [run.created for run in registry.runs if run.created is not None]
    said = [event.at for event in registry.events if isinstance(event.body, VerdictGiven)]
    if any(at > last.at for at in (*begun, *said)):
        return ""
    what = "went live" if last.body.state == InterventionState.LIVE else "was taken back"
    kind = "setting " if is_setting(last.body.commit) else ""
    change = f"{kind}{inert(last.body.commit)} for {inert(last.body.hypothesis)}"
    return f"no run since the last change {what}: {change}, {moment(last.at)}"


def _last(registry: Registry) -> Event | None:
    """Give the event that noted the newest change of what is deployed."""
    noted = (
        event
        for event in registry.events
        if isinstance(event.body, InterventionNoted) and event.body.state in _DEPLOYED
    )
    return max(noted, key=lambda event: event.at, default=None)
