"""Thousands of hypotheses cost no more than their number: work is counted, not timed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from types import FrameType
from typing import Any

import pytest

from tests.report.campaign import build
from tests.report.test_golden import REPORTS
from workbench.model.event import Proposed
from workbench.model.registry import Registry

SMALL, LARGE = 250, 2000


def enlarged(times: int) -> Registry:
    """The rich campaign so many times over: chains of parents, events, runs and verdicts."""
    rich = build()
    hypotheses, standings, runs = [], {}, list(rich.runs)
    events = list(rich.events)
    for copy in range(times):
        for each in rich.hypotheses:
            number = int(each.id[1:]) + 10 * copy
            id, parent = f"H{number}", f"H{number - 10}" if copy else each.parent
            hypotheses.append(replace(each, id=id, parent=parent))
            standings[id] = replace(rich.standings[each.id], hypothesis=id)
            proposed = Proposed(hypothesis=id, file=each.file, title=each.title)
            events.append(replace(events[0], id=f"e{number:07d}", body=proposed))
        runs += rich.runs if copy else ()
    return replace(
        rich,
        hypotheses=tuple(hypotheses),
        standings=standings,
        events=tuple(events),
        runs=tuple(runs),
    )


def work(report: Callable[[Registry], Iterable[str]], registry: Registry) -> int:
    """How many calls and returns a report takes."""
    steps = 0

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal steps
        steps += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        for _ in report(registry):
            pass
    finally:
        sys.setprofile(before)
    return steps


@pytest.mark.parametrize(
    "name", ["list.txt", "list.jsonl", "tree.txt", "tree.mmd", "status.txt", "log.txt"]
)
def test_work_grows_with_the_campaign_and_no_faster(name: str) -> None:
    small, large = (work(REPORTS[name], enlarged(count // 8)) for count in (SMALL, LARGE))
    assert large < 1.25 * LARGE / SMALL * small


def test_two_thousand_hypotheses_take_little_work() -> None:
    registry = enlarged(LARGE // 8)
    assert len(registry.hypotheses) >= LARGE - 8
    for name in ("list.txt", "tree.txt"):
        assert work(REPORTS[name], registry) < 200 * LARGE
