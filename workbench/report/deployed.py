"""Whether anything was run since the last change went live, or was taken back.

A service that answers its health check after a change shows that it is up. That the change did what it
was made for only a run can show, at the load at which it failed.
"""

from __future__ import annotations

from workbench.model.event import InterventionNoted, VerdictGiven
from workbench.model.intervention import InterventionState, is_setting
from workbench.model.registry import Registry
from workbench.report.text import inert, moment

_DEPLOYED = (InterventionState.LIVE, InterventionState.REVERTED)


def untested(registry: Registry) -> str:
    """Say that nothing was run since the last change; empty where something was, or none is noted."""
    deployed = [
        (event.at, event.body)
        for event in registry.events
        if isinstance(event.body, InterventionNoted) and event.body.state in _DEPLOYED
    ]
    if not deployed:
        return ""
    at, change = max(deployed, key=lambda each: each[0])
    begun = (run.created for run in registry.runs if run.created is not None)
    said = (event.at for event in registry.events if isinstance(event.body, VerdictGiven))
    if any(when > at for when in (*begun, *said)):
        return ""
    what = "went live" if change.state == InterventionState.LIVE else "was taken back"
    kind = "setting " if is_setting(change.commit) else ""
    named = f"{kind}{inert(change.commit)} for {inert(change.hypothesis)}"
    return f"no run since the last change {what}: {named}, {moment(at)}"
