"""An investigation from start to end: add a suspect, test it, watch, rule, see the tree change."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from tests.report.hostile import TERMINAL
from tests.tui.pilots import app_of, opened, screen, until
from workbench.campaign.registry import Campaign
from workbench.campaign.setup import init
from workbench.model.event import Note
from workbench.model.standing import State
from workbench.tui.views.forms import Form


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign of a script that fails, as `workbench init` makes it."""
    folder = tmp_path_factory.mktemp("made") / "campaign"
    init(folder, "command")
    return folder


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "campaign")


def shown(pilot: Pilot[None]) -> str:
    return "\n".join(screen(pilot))


def fill(pilot: Pilot[None], **values: str) -> None:
    for name, value in values.items():
        pilot.app.screen.query_one(f"#field-{name}", Input).value = value


def state(pilot: Pilot[None], id: str) -> State | None:
    found = app_of(pilot).held.suspects.by_id.get(id)
    return found.state if found else None


async def investigate(root: Path) -> None:
    async with opened(root, (100, 40), follow=True) as pilot:
        app = app_of(pilot)
        await pilot.press("a")
        await until(pilot, lambda: "ctrl+s save" in shown(pilot))
        fill(pilot, title="The cache hands out values that are stale", parent="", predict="0.3:removes")
        await until(pilot, lambda: "is it one of these?" in shown(pilot) and "H1 ?" in shown(pilot))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: state(pilot, "H2") is State.OPEN)

        app.go_to("H1")
        await until(pilot, lambda: app.suspect == "H1")
        await pilot.press("r")
        await until(pilot, lambda: "trials (present)" in shown(pilot))
        await pilot.press("enter")
        await until(pilot, lambda: "H1: present" in shown(pilot))
        assert "finished" in shown(pilot) or "running" in shown(pilot)
        await until(pilot, lambda: state(pilot, "H1") is State.SUPPORTED)

        await pilot.press("escape")
        app.go_to("H2")
        await until(pilot, lambda: app.suspect == "H2")
        await pilot.press("v")
        await until(pilot, lambda: "ctrl+s save" in shown(pilot))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "nothing is ruled" in shown(pilot))  # and the form is still there
        fill(pilot, replaced_by="H1", because="they say the same")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: state(pilot, "H2") is State.SUPERSEDED)
        await until(pilot, lambda: "H2 > superseded" in shown(pilot))


def test_from_a_suspect_to_a_ruling(root: Path) -> None:
    asyncio.run(investigate(root))


def test_a_form_asks_only_when_something_was_typed(root: Path) -> None:
    async def main() -> None:
        async with opened(root) as pilot:
            await pilot.press("t", "escape")
            await until(pilot, lambda: not isinstance(pilot.app.screen, Form))
            await pilot.press("t", *"x", "escape")
            await until(pilot, lambda: "esc again throws it away" in shown(pilot))
            await pilot.press("escape")
            await until(pilot, lambda: not isinstance(pilot.app.screen, Form))

    before = Campaign(root).log.events
    asyncio.run(main())
    assert Campaign(root).log.events == before


async def noted(pilot: Pilot[None], text: str) -> None:
    """Note something about H1, and wait until it is on record."""
    before = len(app_of(pilot).held.registry.events)
    await pilot.app.run_action("note")
    await until(pilot, lambda: "ctrl+s save" in shown(pilot))
    fill(pilot, text=text, about="H1")
    await pilot.press("ctrl+s")
    await until(pilot, lambda: len(app_of(pilot).held.registry.events) > before)


async def saved_empty(pilot: Pilot[None], kind: str) -> None:
    """Open a form, take everything out of it, and save: it says what is wrong, and is still there."""
    await pilot.app.run_action(kind)
    await until(pilot, lambda: "ctrl+s save" in shown(pilot))
    form = pilot.app.screen
    for field in form.query(Input):
        field.value = "soon" if field.id == "field-hours" else ""
    await pilot.press("ctrl+s")
    await until(pilot, lambda: bool(str(form.query_one(".wrong").render())))
    assert pilot.app.screen is form
    await pilot.press("escape", "escape")
    await until(pilot, lambda: pilot.app.screen is not form)


def test_every_form_fits_and_says_what_is_wrong(root: Path) -> None:
    async def main() -> None:
        async with opened(root) as pilot:
            app_of(pilot).go_to("H1")
            await until(pilot, lambda: app_of(pilot).suspect == "H1")
            for kind in ("add", "evidence", "rule", "link", "note", "claim"):
                await saved_empty(pilot, kind)

    asyncio.run(main())


def test_what_is_typed_is_kept_as_it_is_and_shown_inert(root: Path) -> None:
    texts = [f"noted {' '.join(text.split())} so" for text in TERMINAL]

    async def main() -> None:
        async with opened(root, (100, 40), follow=True) as pilot:
            app = app_of(pilot)
            before = len(app.held.registry.events)
            for text in texts:
                await noted(pilot, text)
            app.go_to("H1")
            await until(pilot, lambda: app.suspect == "H1")
            await pilot.press("enter", "G")
            await until(pilot, lambda: "noted" in shown(pilot))
            assert all(char.isprintable() for line in screen(pilot) for char in line)
            assert len(app.held.registry.events) == before + len(texts)

    asyncio.run(main())
    there = [event.body.text for event in Campaign(root).log.events if isinstance(event.body, Note)]
    assert there == texts
