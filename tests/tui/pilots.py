"""An application over a campaign, driven as a person would, and what it shows as lines of text."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot

from workbench.campaign.registry import Campaign
from workbench.model.event import Actor
from workbench.tui.app import WorkbenchApp

ANA = Actor(name="ana")
_TURNS = 400  # of the loop, each long enough for a thread to hand something over


@asynccontextmanager
async def opened(
    root: Path, size: tuple[int, int] = (80, 24), *, follow: bool = False
) -> AsyncIterator[Pilot[None]]:
    """Open a campaign on a terminal of some size."""
    app = WorkbenchApp(Campaign(root).registry, ANA, follow=follow)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield pilot


def app_of(pilot: Pilot[None]) -> WorkbenchApp:
    """Give the application that a pilot drives."""
    assert isinstance(pilot.app, WorkbenchApp)
    return pilot.app


def screen(pilot: Pilot[None]) -> list[str]:
    """Give what is on the screen, line by line, without colours."""
    strips = pilot.app.screen._compositor.render_strips()
    return ["".join(segment.text for segment in strip).rstrip() for strip in strips]


async def until(pilot: Pilot[None], holds: Callable[[], bool]) -> None:
    """Let the application work until something holds; fail with what it shows if it never does."""
    for _ in range(_TURNS):
        if holds():
            return
        await pilot.pause(0.05)
    raise AssertionError("it never came:\n" + "\n".join(screen(pilot)))
