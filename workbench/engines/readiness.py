"""Waiting for components to be ready: until all are, or one has ended, or time is up."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from workbench.engines.kept import Kept
from workbench.errors import ArmCouldNotStart
from workbench.ports import Place

_PAUSE, _LONGEST_PAUSE = 0.05, 0.5  # seconds between two questions


@dataclass(frozen=True, kw_only=True)
class Up:
    """A component that was started.

    Attributes:
        kept: Its process.
        url: Where it answers; empty if it does not, or nobody knows.
        health: Path that answers 200 once it is ready; empty to ask as the dialect does.
        log: Its log.
        log_from: Byte of the log at which this start begins.
        files: Files that it runs.
        place: Where the code lies that it runs; None if nobody knows of any.
    """

    kept: Kept
    url: str
    health: str
    log: str
    log_from: int
    files: tuple[Path, ...]
    place: Place | None = None


Ask = Callable[[Up], Awaitable[bool]]


async def all_ready(arm: str, components: Mapping[str, Up], ask: Ask, *, within: float) -> None:
    """Wait until all components of an arm are ready.

    Args:
        arm: The arm.
        components: By name.
        ask: Says whether one is ready; never raises.
        within: Seconds.

    Raises:
        ArmCouldNotStart: One has ended before, or is not ready in time; with what it said last.
    """
    try:
        async with asyncio.timeout(within), asyncio.TaskGroup() as group:
            waits = {
                name: group.create_task(_ready(arm, name, up, ask)) for name, up in components.items()
            }
    except* ArmCouldNotStart as raised:
        raise raised.exceptions[0] from None
    except* TimeoutError:
        late = next(name for name, wait in waits.items() if wait.cancelled())
        what = f"component {late} was not ready within {within:g} s"
        raise ArmCouldNotStart(arm, what, hint=_last_said(components[late].kept)) from None


async def _ready(arm: str, name: str, up: Up, ask: Ask) -> None:
    pause = _PAUSE
    while up.kept.ending or not await ask(up):  # once it has ended, another may answer at its port
        if await up.kept.ended(pause):
            what = f"component {name} ended with {up.kept.ending} before it was ready"
            raise ArmCouldNotStart(arm, what, hint=_last_said(up.kept))
        pause = min(2 * pause, _LONGEST_PAUSE)


def _last_said(kept: Kept) -> str:
    lines = kept.last_lines(3)
    return f"it said last: {' | '.join(lines)}" if lines else f"it said nothing; its log is {kept.log}"
