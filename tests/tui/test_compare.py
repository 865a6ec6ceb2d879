"""Two runs side by side on a screen: what sets them apart comes first, and nothing in it is obeyed."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests import simulated
from tests.report.hostile import HOSTILE
from tests.tui.pilots import app_of, opened, screen, until
from workbench.model.compared import Compared, Difference, Kinship, Side
from workbench.model.run import RunState
from workbench.report.compare import compare as said
from workbench.report.text import inert
from workbench.tui.viewmodel.compared import compared
from workbench.tui.viewmodel.page import Kind
from workbench.tui.views.compare import CompareView

SIDE = Side(
    run="r",
    command="test",
    state=RunState.FINISHED,
    created=datetime(2026, 11, 28, tzinfo=UTC),
    seconds=1.0,
    arms={},
    rates={},
    words=(),
)
ALIKE = Compared(
    first=SIDE,
    second=replace(SIDE, run="s"),
    equal=("workload",),
    differs=(),
    found=(),
    read_back=("control",),
    kinship=Kinship.NO_DIGEST,
)


def shown(pilot: Pilot[None]) -> str:
    return "\n".join(screen(pilot))


def difference(what: str) -> Difference:
    return Difference(what=what, first="a", second="b")


def two(root: Path) -> tuple[str, str]:
    simulated.run(simulated.plan(0.5, 0.0, "0.5:0", in_flight=2), root / "one")
    simulated.run(simulated.plan(0.5, 0.0, "0.5:0", in_flight=4), root / "other")
    return str(root / "one"), str(root / "other")


def test_runs_that_differ_in_nothing_are_shown_as_the_report_shows_them() -> None:
    assert [line.text for line in compared(ALIKE)] == list(said(ALIKE))


def test_what_sets_runs_apart_comes_first_and_once() -> None:
    found = replace(ALIKE, differs=(difference("engine"),) * 2, found=(difference("build"),))
    lines = compared(found)
    assert lines[0].text == "WARNING: the runs differ in 2 things: engine, build"
    assert lines[0].kind is Kind.WARNING
    assert [line.text for line in lines[2:]] == list(said(found))


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_in_the_name_of_a_difference_is_obeyed(text: str) -> None:
    first = compared(replace(ALIKE, differs=(difference(text),)))[0].text
    assert first == f"WARNING: the runs differ in 1 thing: {inert(text)}"


def test_two_runs_are_compared_searched_and_left(tmp_path: Path) -> None:
    one, other = two(tmp_path)

    async def drive() -> None:
        async with opened(tmp_path) as pilot:
            app = app_of(pilot)
            before = app.screen
            app.push_screen(CompareView(one, other))
            await until(pilot, lambda: "planned otherwise" in shown(pilot))
            assert "WARNING: the runs differ in 1 thing: in flight" in shown(pilot)
            assert "in flight: 2 | 4" in shown(pilot)
            await pilot.press("slash", *"flight", "enter")
            await until(pilot, lambda: "'flight': 2 lines, at 1" in shown(pilot))
            await pilot.press("n")
            await until(pilot, lambda: "at 2" in shown(pilot))
            await pilot.press("escape", "escape")
            await until(pilot, lambda: app.screen is before)

    asyncio.run(drive())


def test_a_run_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    async def drive() -> None:
        async with opened(tmp_path) as pilot:
            app_of(pilot).push_screen(CompareView("[red]none[/]", "other"))
            await until(pilot, lambda: "error: " in shown(pilot))
            assert "workbench compare '[red]none[/]' other" in shown(pilot)

    asyncio.run(drive())
