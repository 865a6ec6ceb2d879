"""Plots: what all of them share. Each has a title, units and n, and says in grey what it says in colour.

    plotsrun        of one run: evidence over its blocks, rates of its arms by block
    plotscampaign   of a campaign: rates over load, timeline, falsification tree

These modules alone know matplotlib, which comes with the extra `notebook`. They make figures of their
own and touch no global state, so that nothing is shown or kept behind a caller's back. Texts from
outside are made inert, and a `$` in them begins no formula.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from workbench.report.text import inert

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLACK, DARK, MIDDLE, LIGHT = "#000000", "#444444", "#7a7a7a", "#bdbdbd"
STYLES: Sequence[dict[str, object]] = (
    {"color": "#0b4f8a", "marker": "o", "linestyle": "-"},
    {"color": "#c4601a", "marker": "s", "linestyle": "--"},
    {"color": "#3d7a3d", "marker": "^", "linestyle": "-."},
    {"color": "#7a3d7a", "marker": "D", "linestyle": ":"},
    {"color": "#555555", "marker": "v", "linestyle": (0, (5, 1, 1, 1))},
)
"""A colour, a mark and a line each: two of them differ in grey, too."""
_WIDTH, _HEIGHT = 7.5, 4.2  # inches


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


def style(place: int) -> dict[str, object]:
    """Give the colour, mark and line of the n-th series."""
    return dict(STYLES[place % len(STYLES)])


def legend(axes: Axes) -> None:
    """Explain the series under the plot, where nothing can lie beneath."""
    axes.legend(loc="upper left", bbox_to_anchor=(0, -0.16), ncols=1, frameon=False, fontsize=8)
