"""Plots of one run: evidence over its blocks with the thresholds, rates of its arms by block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.errors import UsageError
from workbench.model.course import Course
from workbench.model.outcome import Counts
from workbench.model.verdict import Evidence, Judgement
from workbench.report.plots import BLACK, MIDDLE, Look, legend, look, rates_at, sheet, text
from workbench.report.text import blocks, number, percent
from workbench.stats import rate_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_AGAINST = {
    "no_effect": "against `no effect`",
    "margin": "against `at least the margin`",
    "control_low": "against `the control hardly fails`",
    "treatment_clean": "against `the treatment is clean`",
}
_LEAST, _MOST = 1e-6, 1e12  # what is drawn of evidence; beyond that, more says no more
_SPREAD = 0.12  # blocks between two arms, so that their intervals lie side by side


def evidence(course: Course) -> Figure:
    """Draw the evidence of each comparison over the blocks, with the thresholds of the rules.

    Args:
        course: Of the run.

    Raises:
        UsageError: It has no complete block.
    """
    stages = {block: judged for block, judged in course.judgements.items() if block}
    if not stages:
        raise UsageError(f"run {course.run} has no complete block yet: there is no evidence to draw")
    needed = 1 / course.plan.rules.alpha
    figure, axes = sheet(f"Evidence over blocks, run {text(course.run)}\n{_said(stages)}")
    place = 0
    for at, comparison in enumerate(course.plan.comparisons):
        about = comparison.hypothesis or f"{comparison.control} against {comparison.treatment}"
        for name, against in _AGAINST.items():
            drawn = _values(stages, at, name)
            if drawn:
                of, label = look(place), f"{text(about)}: {against}"
                places, values = zip(*drawn, strict=True)
                axes.plot(
                    places, values, color=of.color, marker=of.marker, linestyle=of.line, label=label
                )
                place += 1
    axes.set_yscale("log")
    axes.axhline(needed, color=BLACK, linewidth=1.2, label=f"{number(needed)}: enough for a word")
    axes.axhline(1, color=MIDDLE, linewidth=0.8, label="1: says nothing")
    axes.set_xlabel(f"complete blocks ({course.plan.rules.block_size} sessions an arm each)")
    axes.set_ylabel("e-value (factor, log scale)")
    _whole_blocks(axes, sorted(stages))
    legend(axes)
    return figure


def rates(course: Course) -> Figure:
    """Draw the rate of each arm in each block, with the interval of these sessions alone.

    Args:
        course: Of the run.

    Raises:
        UsageError: Nothing was decided in it yet.
    """
    arms = [arm.name for arm in course.plan.arms]
    alpha = course.plan.rules.alpha
    figure, axes = sheet(
        f"Rate of {text(course.plan.symptom.name)} by arm and block\n{text(course.run)}"
    )
    found: set[int] = set()
    for place, arm in enumerate(arms):
        cells = {
            block: counts
            for (block, name), counts in sorted(course.counts.items())
            if name == arm and counts.decided
        }
        if cells:
            _arm(axes, arm, cells, place - (len(arms) - 1) / 2, alpha, look(place))
            found |= cells.keys()
    if not found:
        raise UsageError(f"run {course.run} has decided no session yet: there is no rate to draw")
    axes.set_xlabel("block (0: sampled before the first)" if 0 in found else "block")
    axes.set_ylabel("share of decided sessions that show it (%)")
    _whole_blocks(axes, sorted(found))
    legend(axes)
    return figure


def _arm(
    axes: Axes, arm: str, cells: Mapping[int, Counts], offset: float, alpha: float, of: Look
) -> None:
    """Draw the blocks of one arm, and a line at its rate over all of them."""
    total = sum(cells.values(), Counts(0, 0))
    share = total.hit / total.decided
    found = [
        (each.hit / each.decided, rate_interval(each.hit, each.decided, alpha=alpha))
        for each in cells.values()
    ]
    said = f"{text(arm)}: {total.hit}/{total.decided} ({percent(share)}), n = {_sizes(cells)} a block"
    places = [block + _SPREAD * offset for block in cells]
    rates_at(axes, places, found, of, f"{said}; {percent(1 - alpha)} interval of each block")
    axes.axhline(100 * share, color=of.color, linestyle=of.line, linewidth=1)


def _sizes(cells: Mapping[int, Counts]) -> str:
    sizes = [each.decided for block, each in cells.items()]
    return str(sizes[0]) if len(set(sizes)) == 1 else f"{min(sizes)} to {max(sizes)}"


def _values(stages: Mapping[int, Sequence[Judgement]], at: int, name: str) -> list[tuple[int, float]]:
    found = []
    for block, judged in sorted(stages.items()):
        value = getattr(_evidence(judged, at), name)
        if value is not None:
            found.append((block, min(max(value, _LEAST), _MOST)))
    return found


def _evidence(judged: Sequence[Judgement], at: int) -> Evidence:
    return judged[at].evidence


def _said(stages: Mapping[int, Sequence[Judgement]]) -> str:
    """Say what the last block had for a word, and of how many sessions."""
    last = stages[max(stages)]
    return "; ".join(_word(judgement) for judgement in last)


def _word(judgement: Judgement) -> str:
    sessions = ", ".join(
        f"{text(arm)} {each.hit}/{each.decided}" for arm, each in judgement.arms.items()
    )
    word = judgement.verdict or "undecided"
    return f"{word} after {blocks(judgement.blocks)}: {sessions}"


def _whole_blocks(axes: Axes, found: Sequence[int]) -> None:
    """Mark whole blocks, not so many that they cannot be read."""
    step = max(1, (found[-1] - found[0]) // 12)
    axes.set_xticks(range(found[0], found[-1] + 1, step))
    axes.set_xlim(found[0] - 0.5, found[-1] + 0.5)
