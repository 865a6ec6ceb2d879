"""Two plain charts as hand-written SVG: grouped bars and lines, values as shares of trials.

Text is mid-grey and the background is left out, so that a chart reads on light and on dark pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

COLOURS = ("#d55e00", "#e69f00", "#0072b2", "#009e73")
GREY = "#7a7a7a"
WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 56, 16, 58, 46


@dataclass(frozen=True)
class Series:
    """A named row of values, one for each label of the horizontal axis."""

    name: str
    values: Sequence[float]


def _y(value: float, top: float) -> float:
    return HEIGHT - BOTTOM - value / top * (HEIGHT - TOP - BOTTOM)


def _text(x: float, y: float, text: str, anchor: str = "middle", weight: str = "normal") -> str:
    style = f'text-anchor="{anchor}" font-weight="{weight}" fill="{GREY}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(text)}</text>'


def _frame(title: str, series: Sequence[Series], top: float, ticks: Sequence[float]) -> list[str]:
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'font-family="system-ui, sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        _text(LEFT, 18, title, "start", "bold"),
    ]
    at = float(LEFT)
    for one, colour in zip(series, COLOURS, strict=False):
        parts.append(f'<rect x="{at:.1f}" y="30" width="10" height="10" fill="{colour}"/>')
        parts.append(_text(at + 15, 39, one.name, "start"))
        at += 40 + 6.4 * len(one.name)
    for tick in ticks:
        y = _y(tick, top)
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" '
            f'stroke="{GREY}" stroke-opacity="0.25"/>'
        )
        parts.append(_text(LEFT - 8, y + 4, f"{100 * tick:g} %", "end"))
    return parts


def bars(
    title: str, labels: Sequence[str], series: Sequence[Series], *, top: float, ticks: Sequence[float]
) -> str:
    """Draw grouped bars with their values on top."""
    parts = _frame(title, series, top, ticks)
    group = (WIDTH - LEFT - RIGHT) / len(labels)
    bar = 0.8 * group / len(series)
    for place, label in enumerate(labels):
        start = LEFT + place * group + 0.1 * group
        parts.append(_text(start + 0.4 * group, HEIGHT - BOTTOM + 20, label))
        for row, (one, colour) in enumerate(zip(series, COLOURS, strict=False)):
            value, x = one.values[place], start + row * bar
            y = _y(min(value, top), top)
            height = max(HEIGHT - BOTTOM - y, 1)
            parts.append(
                f'<rect x="{x:.1f}" y="{HEIGHT - BOTTOM - height:.1f}" width="{bar - 3:.1f}" '
                f'height="{height:.1f}" fill="{colour}"/>'
            )
            parts.append(_text(x + bar / 2 - 1.5, y - 4, f"{100 * value:.1f}"))
    return "\n".join([*parts, "</svg>"]) + "\n"


def lines(
    title: str,
    labels: Sequence[str],
    series: Sequence[Series],
    *,
    top: float,
    ticks: Sequence[float],
    axis: str,
) -> str:
    """Draw one line a series over equally spaced labels."""
    parts = _frame(title, series, top, ticks)
    step = (WIDTH - LEFT - RIGHT - 40) / max(len(labels) - 1, 1)
    places = [LEFT + 20 + step * place for place in range(len(labels))]
    parts += [_text(x, HEIGHT - BOTTOM + 18, label) for x, label in zip(places, labels, strict=True)]
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, axis))
    for one, colour in zip(series, COLOURS, strict=False):
        points = [(x, _y(value, top)) for x, value in zip(places, one.values, strict=True)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
    return "\n".join([*parts, "</svg>"]) + "\n"
