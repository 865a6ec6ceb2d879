"""Views, driven by keys as a person would: from what is asked to what is seen."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.conftest import ROOT
from tests.example.copies import copied
from tests.tui.pilots import app_of, opened, screen, until
from workbench.campaign.registry import Campaign
from workbench.tui.keys import here

Use = Callable[[Pilot[None]], Awaitable[None]]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The worked example as it is recorded, with the engine's repository beside it."""
    folder = copied(tmp_path_factory.mktemp("tui") / "demo")
    shutil.copy(ROOT / "hypotheses/events.jsonl", folder / "hypotheses/events.jsonl")
    shutil.copytree(ROOT / "runs", folder / "runs")
    return folder


def use(root: Path, what: Use, size: tuple[int, int] = (80, 24), *, follow: bool = False) -> None:
    async def main() -> None:
        async with opened(root, size, follow=follow) as pilot:
            await what(pilot)

    asyncio.run(main())


def shown(pilot: Pilot[None]) -> str:
    return "\n".join(screen(pilot))


def test_the_tree_is_filtered_with_a_count_and_the_detail_follows_the_cursor(home: Path) -> None:
    async def what(pilot: Pilot[None]) -> None:
        assert "1 confirmed" in shown(pilot)
        await pilot.press("slash", *"waiting", "enter")
        await until(pilot, lambda: "filter 'waiting':" in shown(pilot))
        assert "H5 * confirmed (intervened)" in shown(pilot)
        assert "H12 x" not in shown(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: "1 confirmed" in shown(pilot))
        app_of(pilot).go_to("H9")
        await until(pilot, lambda: "X overturned, grade compared" in shown(pilot))

    use(home, what)


def test_the_detail_stands_beside_the_tree_where_there_is_room(home: Path) -> None:
    async def what(pilot: Pilot[None]) -> None:
        await pilot.press("j", "j")
        await pilot.pause()
        assert any("H1 x falsified" in line and "│" in line for line in screen(pilot))

    use(home, what, (150, 40))


def test_a_dead_fix_is_opened_and_its_patch_read(home: Path) -> None:
    async def what(pilot: Pilot[None]) -> None:
        await pilot.press("3")
        await until(pilot, lambda: "dead fix, reverted by" in shown(pilot))
        assert "effect none" in shown(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: "diff --git" in shown(pilot))
        assert "The mirror took the class's dtype" in shown(pilot)
        await pilot.press("escape", "o")
        await until(pilot, lambda: "[1 Tree]" in shown(pilot) and "H9" in screen(pilot)[10])

    use(home, what)


def test_two_runs_are_compared_and_a_failing_reply_is_read(home: Path) -> None:
    async def what(pilot: Pilot[None]) -> None:
        await pilot.press("2", "slash", *"H5 present", "enter", "space", "j", "equals_sign")
        await until(pilot, lambda: "the runs differ in" in shown(pilot))
        await pilot.press("escape")
        await until(pilot, lambda: "[2 Runs]" in shown(pilot))
        await pilot.press("enter")
        await until(pilot, lambda: "H5: present" in shown(pilot))
        assert "44/120" in shown(pilot)
        await until(pilot, lambda: "exchanges not clean below" in shown(pilot))
        await pilot.press("tab", "enter")
        await until(pilot, lambda: "control/2/" in screen(pilot)[3] + screen(pilot)[2])

    use(home, what)


def test_the_log_is_read_from_its_end_and_filtered(home: Path) -> None:
    async def what(pilot: Pilot[None]) -> None:
        await pilot.press("5")
        await until(pilot, lambda: "says of H12" in shown(pilot))
        await pilot.press("slash", *"wait_layer", "enter")
        await until(pilot, lambda: "filter 'wait_layer':" in shown(pilot))
        await pilot.press("enter")
        await until(pilot, lambda: "messages 13244, 13245" in shown(pilot))

    use(home, what)


def test_the_matrix_is_searched(home: Path) -> None:
    async def what(pilot: Pilot[None]) -> None:
        await pilot.press("4", "slash", *"mirror", "enter")
        await until(pilot, lambda: "'mirror':" in shown(pilot))
        await pilot.press("n", "escape")
        await until(pilot, lambda: "'mirror'" not in shown(pilot))

    use(home, what)


def test_every_view_lists_its_keys_and_offers_them_by_name(home: Path) -> None:
    async def look(pilot: Pilot[None], view: str) -> None:
        await pilot.press(view)
        await pilot.pause()
        listed = list(here(pilot.app))
        assert len({keys for keys, _ in listed}) == len(listed)
        assert {"filter, with a count", "all keys"} <= {said for _, said in listed}
        offered = {each.title for each in pilot.app.get_system_commands(pilot.app.screen)}
        assert {said for _, said in listed} <= offered
        await pilot.press("question_mark")
        await until(pilot, lambda: "keys: " in shown(pilot))
        await pilot.press("escape", "q")

    async def what(pilot: Pilot[None]) -> None:
        for view in "12345":
            await look(pilot, view)

    use(home, what)


def test_an_error_is_one_line_and_enter_says_the_rest(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    shutil.copytree(home, folder, ignore=shutil.ignore_patterns(".workbench", "runs"))

    async def what(pilot: Pilot[None]) -> None:
        await pilot.press("3", "p")
        await until(pilot, lambda: "error:" in shown(pilot))
        await pilot.press("enter")
        await until(pilot, lambda: "exit code 2 on the command line" in shown(pilot))
        await pilot.press("escape", "escape")
        await until(pilot, lambda: "error:" not in shown(pilot))

    use(folder, what)


def test_what_a_colleague_appends_shows_by_itself(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    shutil.copytree(home, folder, ignore=shutil.ignore_patterns(".workbench", "runs"))

    async def what(pilot: Pilot[None]) -> None:
        from workbench.campaign.writing import new
        from workbench.model.event import Actor

        new(Campaign(folder), {"title": "Somebody else's idea", "symptom": "garbled"}, Actor(name="bo"))
        await until(pilot, lambda: "22" in {key[1:] for key in app_of(pilot).held.suspects.by_id})
        app_of(pilot).go_to("H22")
        await until(pilot, lambda: "proposed by bo" in shown(pilot))

    use(folder, what, follow=True)
