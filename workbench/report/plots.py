"""Plots: what all of them share. Each has a title, units and n, and can be read in grey.

    plotsrun        of one run: evidence over its blocks, rates of its arms by block
    plotscampaign   of a campaign: rates over load, timeline, falsification tree

These modules alone know matplotlib, which comes with the extra `notebook`. They make figures of their
own and touch no global state, so that nothing is shown or kept behind a caller's back. Texts from
outside are made inert, and a `$` in them begins no formula.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from workbench.report.text import Interval, inert

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Rate = tuple[float, Interval]
BLACK, DARK, MIDDLE, LIGHT = "#000000", "#444444", "#7a7a7a", "#bdbdbd"
_WIDTH, _HEIGHT = 7.5, 4.2  # inches


@dataclass(frozen=True, kw_only=True, slots=True)
class Look:
    """How a series is drawn: two of them differ in mark and line, too, and not by colour alone."""

    color: str
    marker: str
    line: str


LOOKS: Sequence[Look] = (
    Look(color="#0b4f8a", marker="o", line="-"),
    Look(color="#c4601a", marker="s", line="--"),
    Look(color="#3d7a3d", marker="^", line="-."),
    Look(color="#7a3d7a", marker="D", line=":"),
    Look(color="#222222", marker="x", line="-"),
)


def text(words: object) -> str:
    """Make text from outside safe to draw: inert, and none of it mathematics."""
    return inert(str(words)).replace("\\", "\\\\").replace("$", r"\$")


def sheet(title: str, *, height: float = _HEIGHT, width: float = _WIDTH) -> tuple[Figure, Axes]:
    """Give a figure of one panel.

    Args:
        title: What it shows; texts from outside in it are safe to draw already.
        height: In inches.
        width: In inches.
    """
    figure = _figure(title, height, width)
    return figure, _panel(figure.add_subplot())


def sheets(title: str, panels: int) -> tuple[Figure, list[Axes]]:
    """Give a figure of several panels under one another, which share their horizontal axis."""
    figure = _figure(title, _HEIGHT * (1 + 0.6 * (panels - 1)), _WIDTH)
    found = figure.subplots(panels, 1, sharex=True, squeeze=False)
    return figure, [_panel(axes) for axes in found[:, 0]]


def _figure(title: str, height: float, width: float) -> Figure:
    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    figure.suptitle(title, x=0.01, ha="left", fontsize=10)
    return figure


def _panel(axes: Axes) -> Axes:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.grid(visible=True, color=LIGHT, linewidth=0.5)
    axes.set_axisbelow(True)
    return axes


def look(place: int) -> Look:
    """Give the look of the n-th series."""
    return LOOKS[place % len(LOOKS)]


def rates_at(axes: Axes, places: Sequence[float], found: Sequence[Rate], of: Look, label: str) -> None:
    """Draw rates in percent with their intervals.

    Args:
        axes: Where.
        places: Where along the other axis, one a rate.
        found: The rates.
        of: How they look.
        label: What they are; text from outside is safe to draw already.
    """
    axes.errorbar(
        places,
        [100 * share for share, _ in found],
        yerr=[
            [100 * max(share - low, 0) for share, (low, _) in found],
            [100 * max(high - share, 0) for share, (_, high) in found],
        ],
        color=of.color,
        marker=of.marker,
        linestyle="none",
        capsize=3,
        label=label,
    )
    axes.set_ylim(-2, 102)


def legend(figure: Figure, axes: Axes) -> None:
    """Explain the series of a panel under the figure, where nothing can lie beneath."""
    series = axes.get_legend_handles_labels()
    figure.legend(*series, loc="outside lower left", frameon=False, fontsize=8)
