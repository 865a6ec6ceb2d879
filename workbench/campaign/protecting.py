"""Engines that others rely on: never started, stopped, restarted or edited without leave."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from workbench.campaign import running
from workbench.campaign.holding import Leave
from workbench.errors import UsageError, nearest
from workbench.model.campaign import CampaignSpec
from workbench.model.event import Actor
from workbench.model.plan import Cluster, Plan


def with_leave(
    root: Path, spec: CampaignSpec, engine: str, plan: Plan, by: Actor, leave: Leave
) -> Leave:
    """Refuse to touch a protected engine that nobody has given leave to touch.

    Args:
        root: The campaign's folder.
        spec: The campaign.
        engine: Name of the engine in it.
        plan: What would be done to it, placed.
        by: Who would do it; an agent is not asked, and needs `leave.allow`.
        leave: What is allowed.

    Returns:
        The leave in the name of who does it.

    Raises:
        UsageError: There is none, and says what would have been done; or no engine goes by a name that
            is allowed.
    """
    for name in leave.allow:
        if name not in spec.engines:
            raise UsageError(f"there is no engine {name!r} to allow", hint=nearest(name, spec.engines))
    leave = replace(leave, who=by.name)
    known = spec.engines.get(engine)
    if known is None or not known.protected or engine in leave.allow:
        return leave
    would = list(_would(root, plan))
    if not would:
        return leave
    what = f"engine {engine!r} is protected, and this would {' and '.join(would)}"
    if not by.agent and leave.ask(what):
        return leave
    raise UsageError(what, hint=f"--allow {engine}, once those who use it know; nothing was run")


def _would(root: Path, plan: Plan) -> Iterator[str]:
    """Say what a plan would do to an engine that others could notice."""
    parts, settings = running.build(plan, root)
    if parts.engine.disturbs:
        starts = len(plan.arms) * plan.rules.max_blocks
        starts *= plan.rules.block_size if plan.rules.cluster is Cluster.TRIAL else 1
        yield f"start and stop it up to {starts} times"
    paths = ", ".join(str(path) for path in settings.paths(plan.arms))
    if paths:
        yield f"change {paths} for the time of each start"
