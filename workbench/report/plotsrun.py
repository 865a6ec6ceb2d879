"""Plots of one run: evidence over its blocks with the thresholds, rates of its arms by block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.errors import UsageError
from workbench.model.course import Course
from workbench.model.outcome import Counts
from workbench.model.plan import Rules
from workbench.model.verdict import Judgement
from workbench.report.plots import BLACK, MIDDLE, Look, legend, look, rates_at, sheet, sheets, text
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
        UsageError: It compares nothing, or has no complete block.
    """
    stages = {block: judged for block, judged in course.judgements.items() if block}
    if not stages or not course.plan.comparisons:
        raise UsageError(f"run {course.run} has compared nothing yet: there is no evidence to draw")
    title = f"Evidence over blocks, run {text(course.run)}"
    figure, panels = sheets(title, len(course.plan.comparisons))
    for at, axes in enumerate(panels):
        _panel(axes, [(block, judged[at]) for block, judged in stages.items()], course.plan.rules)
    panels[-1].set_xlabel(f"complete blocks ({course.plan.rules.block_size} sessions an arm each)")
    _whole_blocks(panels[-1], sorted(stages))
    legend(figure, panels[0])
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
    axes.set_ylabel("sessions that show it (%)")
    _whole_blocks(axes, sorted(found))
    legend(figure, axes)
    return figure


def _arm(
    axes: Axes, arm: str, cells: Mapping[int, Counts], aside: float, alpha: float, of: Look
) -> None:
    """Draw the blocks of one arm, and a line at its rate over all of them."""
    total = sum(cells.values(), Counts(0, 0))
    share = total.hit / total.decided
    found = [
        (each.hit / each.decided, rate_interval(each.hit, each.decided, alpha=alpha))
        for each in cells.values()
    ]
    said = f"{text(arm)}: {total.hit}/{total.decided}, n = {_sizes(cells)} a block"
    places = [block + _SPREAD * aside for block in cells]
    rates_at(axes, places, found, of, f"{said}; {percent(1 - alpha)} interval of each block")
    axes.axhline(100 * share, color=of.color, linestyle=of.line, linewidth=1)


def _sizes(cells: Mapping[int, Counts]) -> str:
    sizes = [each.decided for block, each in cells.items()]
    return str(sizes[0]) if len(set(sizes)) == 1 else f"{min(sizes)} to {max(sizes)}"


def _panel(axes: Axes, stages: Sequence[tuple[int, Judgement]], rules: Rules) -> None:
    """Draw the evidence of one comparison, and say what came of it."""
    for place, (name, against) in enumerate(_AGAINST.items()):
        found = [(block, getattr(judgement.evidence, name)) for block, judgement in stages]
        drawn = [(block, min(max(value, _LEAST), _MOST)) for block, value in found if value is not None]
        if drawn:
            of = look(place)
            blocks_, values = zip(*drawn, strict=True)
            axes.plot(
                blocks_, values, color=of.color, marker=of.marker, linestyle=of.line, label=against
            )
    needed = 1 / rules.alpha
    axes.axhline(needed, color=BLACK, linewidth=1.4, label=f"{number(needed)}: enough for a word")
    axes.axhline(1, color=MIDDLE, linewidth=0.8, label="1: says nothing")
    axes.set_yscale("log")
    axes.set_ylabel("e-value (factor)")
    axes.set_title(_word(stages[-1][1]), loc="left", fontsize=9)


def _word(judgement: Judgement) -> str:
    pair = judgement.comparison
    about = pair.hypothesis or f"{pair.control} against {pair.treatment}"
    arms = ", ".join(f"{text(arm)} {each.hit}/{each.decided}" for arm, each in judgement.arms.items())
    word = judgement.verdict or "undecided"
    return f"{text(about)} {word} after {blocks(judgement.blocks)}: {arms}"


def _whole_blocks(axes: Axes, found: Sequence[int]) -> None:
    """Mark whole blocks, not so many that they cannot be read."""
    step = max(1, (found[-1] - found[0]) // 12)
    axes.set_xticks(range(found[0], found[-1] + 1, step))
    axes.set_xlim(found[0] - 0.5, found[-1] + 0.5)
