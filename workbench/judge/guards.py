"""What makes a run invalid whatever its counts say (RULES 4); guards never read labels.

Each guard compares facts that were read back. A run with a guard has no word on its hypothesis: it
tested something other than what was asked.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.model.run import Fingerprint
from workbench.model.verdict import Guard


def changed(before: Fingerprint, now: Fingerprint) -> tuple[Guard, ...]:
    """Name what changed under one arm while its run was under way."""
    found = [
        Guard(name="changed-while-running", detail=f"{now.arm}: {what}")
        for what in (
            *_differences("file", before.files, now.files),
            *_differences("setting", before.config, now.config),
        )
    ]
    return tuple(found)


def same_config(control: Fingerprint, treatment: Fingerprint) -> tuple[Guard, ...]:
    """Refuse to test a hypothesis on two arms that run the same thing.

    Two equal arms asked for as such, an A/A, are never sent here.
    """
    if control.config == treatment.config and control.files == treatment.files:
        detail = f"{control.arm} and {treatment.arm} have the same effective configuration"
        return (Guard(name="same-config", detail=detail),)
    return ()


def _differences(kind: str, before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    return [
        f"{kind} {name} changed from {_short(before, name)} to {_short(now, name)}"
        for name in sorted(before.keys() | now.keys())
        if before.get(name) != now.get(name)
    ]


def _short(values: Mapping[str, str], name: str) -> str:
    return values.get(name, "absent")[:16]
