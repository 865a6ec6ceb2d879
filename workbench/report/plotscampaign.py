"""Plots of a campaign: rates over load, its timeline with commits, the falsification tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from matplotlib.dates import ConciseDateFormatter, date2num

from workbench.errors import UsageError
from workbench.model.commits import History
from workbench.model.event import ArmResult, Event, EvidenceGiven, Proposed, Ruling, VerdictGiven
from workbench.model.registry import Registry
from workbench.report.changes import SHORT
from workbench.report.commits import rows
from workbench.report.plots import BLACK, DARK, LIGHT, MIDDLE, legend, look, rates_at, sheet, text
from workbench.report.registry import state_words
from workbench.report.suspects import roster
from workbench.report.text import count, cut, moment
from workbench.report.tree import Branch, branches

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROW = 0.24  # inches of a line of the tree
_TITLE = 60  # columns of a title in a plot
_NODES = 80  # lines of the tree that are drawn
_SERIES = 5  # kinds of arms over load
_LANES = ("proposed", "words", "verdicts", "rulings", "commits")


@dataclass(frozen=True, slots=True)
class _Dose:
    """An arm of a run at one load."""

    run: str
    load: int
    arm: ArmResult


def load(registry: Registry) -> Figure:
    """Draw how often arms show their symptom over the number of sessions in flight.

    Args:
        registry: The campaign.

    Raises:
        UsageError: No verdict on record says what its arms were driven with.
    """
    series = _doses(registry)
    if not series:
        raise UsageError("no verdict on record says at what load it was counted: nothing to draw")
    ranked = sorted(series.items(), key=lambda each: _weight(each[1]), reverse=True)
    left = len(ranked) - _SERIES
    others = f"; {count(left, 'other kind')} of arms not drawn" if left > 0 else ""
    drawn = dict(ranked[:_SERIES])
    many = f"n = {sum(map(_n, drawn.values())):,} decided sessions{others}"
    figure, axes = sheet(f"Rate over load: {text(registry.spec.title)}\n{many}")
    for place, (name, doses) in enumerate(drawn.items()):
        _series(axes, name, doses, place)
    loads = sorted({dose.load for doses in drawn.values() for dose in doses})
    axes.set_xscale("log")
    axes.set_xticks(loads, labels=list(map(str, loads)))
    axes.minorticks_off()
    axes.set_xlim(min(loads) / 2, max(loads) * 2)
    axes.set_xlabel("sessions in flight (log scale)")
    axes.set_ylabel("sessions that show it (%)")
    legend(figure, axes)
    return figure


def timeline(registry: Registry, history: History) -> Figure:
    """Draw what was put on record when, and when the linked commits were made.

    Args:
        registry: The campaign.
        history: What git says of its commits; those without a time are named below.

    Raises:
        UsageError: Nothing is on record yet.
    """
    if not registry.events:
        raise UsageError("nothing is on record yet: there is no time to draw")
    first, last = registry.events[0].at, max(event.at for event in registry.events)
    many = f"{count(len(registry.events), 'event')} on record, {moment(first)} to {moment(last)}"
    title = f"{text(registry.spec.title)}\n{many}"
    figure, axes = sheet(title, height=3.6)
    for place, lane in enumerate(_LANES[:-1]):
        times = [_days(event.at) for event in registry.events if _lane(event) == lane]
        of = look(place)
        axes.plot(times, [place] * len(times), color=of.color, marker=of.marker, linestyle="none")
    axes.xaxis_date()
    ticks = axes.xaxis.get_major_locator()
    axes.xaxis.set_major_formatter(ConciseDateFormatter(ticks))  # type: ignore[no-untyped-call]
    _commits(axes, registry, history)
    names = [f"{lane} ({_many(registry, lane)})" for lane in _LANES[:-1]]
    axes.set_yticks(range(len(_LANES)), labels=[*names, "commits"])
    axes.set_ylim(len(_LANES) - 0.5, -0.5)
    axes.set_xlabel("time (UTC)")
    return figure


def tree(registry: Registry) -> Figure:
    """Draw the falsification tree: what stands and what fell, with state and grade in words.

    Args:
        registry: The campaign.

    Raises:
        UsageError: There are no symptoms and no hypotheses yet.
    """
    suspects = roster(registry)
    found = list(branches(suspects))
    if not found:
        raise UsageError("no symptoms and no hypotheses yet: there is no tree to draw")
    shown = found[:_NODES]
    many = count(len(suspects.suspects), "hypothesis", "hypotheses")
    states = ", ".join(f"{number} {state}" for state, number in suspects.counts.items())
    title = f"{text(registry.spec.title)}\n{many}: {states}"
    figure, axes = sheet(title, height=1.0 + _ROW * (len(shown) + (len(found) > len(shown))), width=9)
    axes.set_axis_off()
    above: dict[int, int] = {}
    for row, branch in enumerate(shown):
        above[branch.depth] = row
        if branch.depth:
            _edge(axes, branch, above[branch.depth - 1], row)
        _node(axes, branch, row)
    if len(found) > len(shown):
        axes.text(0, len(shown), f"and {len(found) - len(shown)} more, not drawn", color=MIDDLE)
    axes.set_xlim(-0.5, 14)
    axes.set_ylim(len(shown) + 0.5, -0.8)
    return figure


def _doses(registry: Registry) -> dict[str, list[_Dose]]:
    """Gather arms by what they were set to, knobs of the load left out; each arm of a run once."""
    loads = {name for name, knob in registry.spec.knobs.items() if knob.kind == "load"}
    found: dict[str, dict[tuple[str, int], _Dose]] = {}
    for event in registry.events:
        verdict = event.body
        if not isinstance(verdict, VerdictGiven):
            continue
        for arm in verdict.arms.values():
            load = arm.load.get("in_flight")
            if load and arm.counts.decided:
                knobs = sorted(arm.settings.items())
                settings = ", ".join(f"{knob} {level}" for knob, level in knobs if knob not in loads)
                name = f"{verdict.symptom}, {verdict.workload}: {settings}"
                found.setdefault(name, {})[verdict.run, load] = _Dose(verdict.run, load, arm)
    return {name: list(doses.values()) for name, doses in found.items()}


def _weight(doses: list[_Dose]) -> tuple[int, int]:
    """Say how much a kind of arms tells of load: first by how many loads, then by how many sessions."""
    return len({dose.load for dose in doses}), _n(doses)


def _n(doses: list[_Dose]) -> int:
    return sum(dose.arm.counts.decided for dose in doses)


def _series(axes: Axes, name: str, doses: list[_Dose], place: int) -> None:
    found = [(dose.arm.counts.hit / dose.arm.counts.decided, dose.arm.interval) for dose in doses]
    aside = 1 + 0.03 * (place - (_SERIES - 1) / 2)  # so that equal loads lie side by side
    label = text(cut(f"n = {_n(doses):,}, {count(len(doses), 'arm')}; {name}", 110))
    rates_at(axes, [dose.load * aside for dose in doses], found, look(place), label)


def _days(at: datetime) -> float:
    """Give a moment as matplotlib counts time."""
    return float(date2num(at))  # type: ignore[no-untyped-call]


def _lane(event: Event) -> str:
    match event.body:
        case Proposed():
            return "proposed"
        case EvidenceGiven():
            return "words"
        case VerdictGiven():
            return "verdicts"
        case Ruling():
            return "rulings"
    return ""


def _many(registry: Registry, lane: str) -> int:
    return sum(_lane(event) == lane for event in registry.events)


def _commits(axes: Axes, registry: Registry, history: History) -> None:
    """Mark commits that have a time, each with a line through all lanes; name the others."""
    place, nameless = len(_LANES) - 1, []
    for commit, at, label in _dated(registry, history):
        if at is None:
            nameless.append(commit)
            continue
        when = _days(at)
        axes.axvline(when, color=LIGHT, linewidth=0.8, zorder=0)
        axes.plot([when], [place], marker="D", color=BLACK, linestyle="none")
        axes.annotate(label, (when, place), xytext=(4, 4), textcoords="offset points", fontsize=7)
    if nameless:
        said = text(cut(f"without a time here: {', '.join(nameless)}", 90))
        axes.annotate(
            said,
            (0.01, place),
            xycoords=("axes fraction", "data"),
            fontsize=7,
            color=DARK,
            va="center",
        )


def _dated(registry: Registry, history: History) -> Iterator[tuple[str, datetime | None, str]]:
    for row in rows(registry, history):
        change = row.change
        commit = change.standing.commit if change.standing is not None else None
        ids = " ".join(suspect.id for suspect in row.suspects)
        named = (change.sha or change.commit)[:SHORT]
        label = text(f"{named} {change.kind} of {ids}, {change.state or 'state not noted'}")
        yield f"{named} ({change.kind} of {ids})", commit.at if commit else None, label


def _edge(axes: Axes, branch: Branch, above: int, row: int) -> None:
    x = branch.depth - 1 + 0.15
    line = ":" if branch.void else "-"
    axes.plot([x, x, x + 0.6], [above + 0.35, row, row], color=MIDDLE, linewidth=0.9, linestyle=line)


def _node(axes: Axes, branch: Branch, row: int) -> None:
    suspect = branch.suspect
    if suspect is None:
        name = f"{branch.symptom or 'no symptom named'}: {branch.text}"
        axes.text(branch.depth, row, text(cut(name, 100)), va="center", fontsize=8, weight="bold")
        return
    grade = f", {suspect.standing.grade}" if suspect.standing.grade else ""
    title = cut(suspect.title, _TITLE)
    axes.text(
        branch.depth - 0.2,
        row,
        text(f"{suspect.id}  {state_words(suspect)}{grade}:  {title}"),
        va="center",
        fontsize=8,
        color=MIDDLE if suspect.fallen else BLACK,
    )
