"""Measurements on a campaign's engine: planned from its knobs, run, and gone on with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.campaign import protecting, running
from workbench.campaign.holding import Leave, held
from workbench.campaign.registry import Campaign
from workbench.campaign.testing import placed
from workbench.conduct.measuring import plan_measurement
from workbench.conduct.pinning import moved, pinned
from workbench.conduct.site import engine_of, spoken
from workbench.errors import ResumeRefused
from workbench.model.event import Actor
from workbench.model.plan import Plan
from workbench.model.progress import Snapshot
from workbench.model.run import Manifest
from workbench.ports import Observer
from workbench.store.layout import RUNS
from workbench.store.view import RunView

VERB = "measure"
_LEAVE = Leave()


def measure(
    campaign: Campaign,
    settings: Mapping[str, str],
    asked: Mapping[str, Any],
    by: Actor,
    observer: Observer,
    leave: Leave = _LEAVE,
    *,
    twice: bool = False,
) -> Snapshot:
    """Measure how often settings fail; with `twice`, run two arms with them and compare these.

    Args:
        campaign: Whose engine and knobs.
        settings: Knob to level.
        asked: See `conduct.measuring.plan_measurement`.
        by: Who measures.
        observer: Watches.
        leave: What the run may do to what others use.
        twice: Two equal arms, an A/A.

    Raises:
        WorkbenchError: See the tree in `errors`.
    """
    plan = pinned(plan_measurement(campaign.spec, settings, asked, twice=twice), campaign.root)
    root, there = campaign.root, placed(plan, campaign.root)
    engine = engine_of(campaign.spec, "", asked).name
    leave = protecting.with_leave(root, campaign.spec, engine, there, by, leave)
    with held(root, there, *running.build(there, root), leave) as holding:
        folder = running.begin(running.planned(VERB, plan), root / RUNS)
        holding.say(folder.manifest.id)
        return running.conduct(there, folder, observer, root=root)


def of_settings(campaign: Campaign, run: str) -> bool:
    """Say whether a run measures settings of a campaign, and not a plain command."""
    return _is_ours(RunView.read(campaign.run_folder(run)).manifest)


def resume(
    campaign: Campaign, run: str, by: Actor, observer: Observer, leave: Leave = _LEAVE
) -> Snapshot:
    """Go on with a measurement of settings; raises as `measure`."""
    root, path = campaign.root, campaign.run_folder(run)
    plan = _plan_to_resume(RunView.read(path).manifest)
    there = placed(plan, root)
    for line in moved(there, root):
        leave.tell(line)
    leave = protecting.with_leave(root, campaign.spec, _engine_of(campaign, plan), there, by, leave)
    with held(root, there, *running.build(there, root), leave) as holding:
        holding.say(path.name)
        folder, plan = running.reopen(path, _plan_to_resume)
        return running.conduct(placed(plan, root), folder, observer, root=root)


def _is_ours(manifest: Manifest) -> bool:
    return manifest.command == VERB and "command" not in manifest.plan.arms[0].settings


def _engine_of(campaign: Campaign, plan: Plan) -> str:
    """Name the engine that a plan measures; it must still be what it was, or who may touch it?"""
    for name, engine in campaign.spec.engines.items():
        if spoken(engine) == plan.engine:
            return name
    raise ResumeRefused("the campaign has no such engine any more", hint="measure anew")


def _plan_to_resume(manifest: Manifest) -> Plan:
    if running.digest(manifest.plan) != manifest.plan_digest:
        raise ResumeRefused(
            "the settings hold a secret that was kept off the disk", hint="measure anew"
        )
    return manifest.plan
