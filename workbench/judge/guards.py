"""What makes a run invalid whatever its counts say (RULES 4); guards never read labels.

Each guard compares facts that were read back. A run with a guard has no word on its hypothesis: it
tested something other than what was asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.model.commits import Code
from workbench.model.run import Fingerprint
from workbench.model.verdict import Guard


def changed(before: Fingerprint, now: Fingerprint) -> tuple[Guard, ...]:
    """Name what changed under one arm while its run was under way."""
    found = [
        Guard(name="changed-while-running", detail=f"{now.arm}: {what}")
        for what in (
            *_differences("file", before.files, now.files),
            *_differences("setting", before.config, now.config),
            *_code(before.code, now.code),
        )
    ]
    return tuple(found)


def same_config(control: Fingerprint, treatment: Fingerprint) -> tuple[Guard, ...]:
    """Refuse to test a hypothesis on two arms that run the same thing.

    Two equal arms asked for as such, an A/A, are never sent here.
    """
    same_code = not list(_code(control.code, treatment.code))
    if control.config == treatment.config and control.files == treatment.files and same_code:
        detail = f"{control.arm} and {treatment.arm} have the same effective configuration"
        return (Guard(name="same-config", detail=detail),)
    return ()


def _code(before: Code | None, now: Code | None) -> Iterator[str]:
    """Say how one code differs from another; where only one of them is known, nobody can."""
    if before is None or now is None or before.identity == now.identity:
        return
    was, commit = ((each.commit or "none")[:12] for each in (before, now))
    if was != commit:
        yield f"code changed from commit {was} to {commit}"
    elif before.patches != now.patches:
        yield f"code changed: patches {_laid(before)} became {_laid(now)}"
    else:
        yield f"code changed: tracked files differ from commit {commit} in another way"


def _laid(code: Code) -> str:
    return ", ".join(f"{name} ({sha[:12]})" for name, sha in code.patches.items()) or "none"


def _differences(kind: str, before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    return [
        f"{kind} {name} changed from {_short(before, name)} to {_short(now, name)}"
        for name in sorted(before.keys() | now.keys())
        if before.get(name) != now.get(name)
    ]


def _short(values: Mapping[str, str], name: str) -> str:
    return values.get(name, "absent")[:16]
