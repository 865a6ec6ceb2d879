"""Plots by name; matplotlib is loaded when the first one is asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.campaign import looking
from workbench.errors import UsageError, nearest

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from workbench.model.commits import History
    from workbench.model.registry import Registry

RUN = ("evidence", "rates")
CAMPAIGN = ("load", "timeline", "tree")


def run_plot(path: Path, kind: str) -> Figure:
    """Draw a run.

    Args:
        path: Its folder.
        kind: One of `RUN`.

    Raises:
        UsageError: There is no such plot, nothing to draw, or matplotlib is missing.
        StoreError: The run cannot be read.
    """
    draw = _function("plotsrun", kind, RUN)
    found: Figure = draw(looking.course(path))
    return found


def campaign_plot(registry: Registry, kind: str, history: Callable[[], History]) -> Figure:
    """Draw a campaign.

    Args:
        registry: It.
        kind: One of `CAMPAIGN`.
        history: Gives what git says of its commits, should that be drawn.

    Raises:
        UsageError: There is no such plot, nothing to draw, or matplotlib is missing.
    """
    draw = _function("plotscampaign", kind, CAMPAIGN)
    found: Figure = draw(registry, history()) if kind == "timeline" else draw(registry)
    return found


def _function(module: str, kind: str, known: tuple[str, ...]) -> Any:
    if kind not in known:
        raise UsageError(f"there is no plot {kind!r}", hint=nearest(kind, known))
    import importlib

    try:
        return getattr(importlib.import_module(f"workbench.report.{module}"), kind)
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        raise UsageError(
            "plots need matplotlib", hint="pip install 'bisection-workbench[notebook]'"
        ) from error
