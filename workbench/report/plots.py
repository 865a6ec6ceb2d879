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
    """Give a figure of one plot.

    Args:
        title: What it shows; its text is drawn as it is.
        height: In inches.
        width: In inches.
    """
    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    axes = figure.add_subplot()
    axes.set_title(title, loc="left", fontsize=10, wrap=True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.grid(visible=True, color=LIGHT, linewidth=0.5)
    axes.set_axisbelow(True)
    return figure, axes


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


def legend(axes: Axes) -> None:
    """Explain the series under the plot, where nothing can lie beneath."""
    axes.legend(loc="upper left", bbox_to_anchor=(0, -0.16), ncols=1, frameon=False, fontsize=8)
