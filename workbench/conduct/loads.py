"""How hard an arm is driven: the plan's load, with what the arm's knobs make of it laid over.

`in_flight` is here what a server sees: requests under way at once. Where sessions take turns that is
fewer than there are sessions under way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.conduct.executor import IN_FLIGHT, REQUESTS
from workbench.conduct.knobs import Knobs
from workbench.model.plan import Arm, Plan
from workbench.model.run import Fingerprint

_TURNED = "load "  # what a knob makes of the load stands in a fingerprint under such a name


def of_plan(plan: Plan, arm: Arm) -> dict[str, int]:
    """Give the load that an arm would be driven with. Raises ValueError as `Knobs.beside`."""
    return _laid_over(plan, Knobs(plan.knobs).beside(arm).load)


def of_run(plan: Plan, found: Fingerprint | None) -> dict[str, int]:
    """Give the load that an arm was driven with, by what was read back of it."""
    config = found.config if found is not None else {}
    turned = {
        name.removeprefix(_TURNED): int(value)
        for name, value in config.items()
        if name.startswith(_TURNED) and value.isdecimal()
    }
    return _laid_over(plan, turned)


def _laid_over(plan: Plan, turned: Mapping[str, Any]) -> dict[str, int]:
    turns = plan.workload.options.get("turns")
    stated = {IN_FLIGHT: plan.in_flight, "sessions": plan.rules.block_size, "turns": turns, **turned}
    load = {name: value for name, value in stated.items() if type(value) is int}
    if REQUESTS in load:
        load[IN_FLIGHT] = min(load[IN_FLIGHT], load[REQUESTS])
    return load
