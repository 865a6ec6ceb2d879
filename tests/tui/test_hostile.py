"""A campaign, a command and a repository that mean no good, seen on every screen.

Nothing is lost, nothing can be clicked, and nothing but printable text is sent to the terminal.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import sys
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.conftest import ROOT
from tests.report.hostile import TERMINAL, squeezed
from tests.tui.pilots import ANA, app_of, opened, until
from tests.vcs.trees import Tree
from tests.warm.client import Warm
from workbench.campaign.linking import LinkDraft, link
from workbench.campaign.registry import Campaign
from workbench.campaign.setup import init
from workbench.campaign.writing import EvidenceDraft, NoteDraft, evidence, note
from workbench.model.event import Bearing
from workbench.model.intervention import LinkRole
from workbench.report.text import inert
from workbench.tui.widgets.listing import Listing
from workbench.tui.widgets.pages import Page

CONTROL = "".join(map(chr, [*range(1, 32), 127, *range(128, 160)])).replace("\n", "")
LINES = [" ".join(text.split("\n")) for text in (*TERMINAL, CONTROL) if "\ud800" not in text]
SHORT = LINES[:-1]  # these fit into a row
LONG = "a megabyte in a line " * 49_000
FAILS = """
import os, sys
for line in {lines!r}:
    sys.stdout.buffer.write(line.encode() + b" \\xff\\0\\n")
sys.exit(1)
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory, warm: Warm) -> Path:
    """A campaign in which all that can be said by somebody else is hostile."""
    root = tmp_path_factory.mktemp("hostile") / "campaign"
    init(root, "command")
    repository(root)
    (root / "fails.py").write_text(FAILS.format(lines=[*LINES, LONG]))
    fails = f"exec {shlex.quote(sys.executable)} fails.py"
    (root / "repro.sh").write_text(f'#!/bin/sh\n[ "$CACHE" = 0 ] || {fails}\n')
    for number, line in enumerate(LINES):
        suspect(root, number + 2, line)
    suspect(root, 40, "long " + LONG[:5000])
    campaign = Campaign(root)
    for text in (*LINES, LONG):
        note(campaign, NoteDraft(text=text, about=("H1",)), ANA)
        evidence(campaign, EvidenceDraft(bears={"H1": Bearing.FOR}, text=text, source=text[:200]), ANA)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = ["test", "H1", "--sessions", "4", "--max-blocks", "2"]
    done = warm.run(words, cwd=root, env=environment, timeout=120)
    assert "present" in done.stdout, done.stdout + done.stderr
    logs = root / ".workbench" / "logs" / "engine"
    logs.mkdir(parents=True)
    (logs / "decode.log").write_bytes(b"\0\xff".join(line.encode() + b"\n" for line in (*LINES, LONG)))
    return root


def repository(root: Path) -> None:
    """A repository beside it whose commits say such things, linked to the suspect."""
    tree = Tree(root / "engine")
    campaign = root / "campaign.yaml"
    campaign.write_text(campaign.read_text() + "\nrepo: engine\n")
    for number, line in enumerate(LINES):
        said, long = line.replace("\0", ""), "" if number else LONG
        sha = tree.commit(f"{said} fix\n\n{said}\n", **{f"f{number}__py": f"{line}\n{long}"})
        link(Campaign(root), LinkDraft(hypothesis="H1", commit=sha, role=LinkRole.FIX), ANA)


def suspect(root: Path, number: int, text: str) -> None:
    """A suspect whose file was written by hand."""
    said = json.dumps(text)
    (root / "hypotheses" / f"H{number:02}-x.yaml").write_text(
        f"schema: workbench/hypothesis@1\nid: H{number}\ntitle: {said}\nsymptom: fails\n"
        f"statement: {said}\ncomponent: {said}\nparent: H1\n"
    )


class Eyes:
    """Looks at a screen: what is drawn of it may be printed, and nothing of it may be clicked."""

    def __init__(self, pilot: Pilot[None]) -> None:
        self.pilot = pilot
        self.seen: list[str] = []

    def look(self) -> None:
        for strip in self.pilot.app.screen._compositor.render_strips():
            for segment in strip:
                assert all(char.isprintable() for char in segment.text), ascii(segment.text)
                style = segment.style
                assert style is None or not style.link, ascii(segment.text)
                assert style is None or "@click" not in style.meta, style.meta
        for each in self.pilot.app.screen.query(Page):
            self.seen += [line.text for line in each.lines]
        for listing in self.pilot.app.screen.query(Listing):
            self.seen += [row.text for row in listing.rows]

    async def after(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()
        await self.pilot.app.workers.wait_for_complete()
        await self.pilot.pause()
        self.look()

    def lacks(self, texts: list[str]) -> list[str]:
        seen = squeezed("".join(self.seen))
        return [text for text in texts if squeezed(inert(text)) not in seen]


TOURS = {
    "tree": (["enter", "G", "space", "g", "escape", "slash", *"click", "enter", "escape"], LINES),
    "runs": (["2", "enter", "tab", "enter", "G", "escape", "e", "escape", "escape"], LINES),
    "commits": (
        ["3", "enter", "G", "g", "escape", "R", "escape", "p"],
        [line for line in SHORT if "\0" not in line],
    ),
    "matrix": (["4", "G", "slash", *"click", "enter", "n", "escape"], []),
    "log": (
        ["5", "g", "enter", "escape", "G", "enter", "escape", "f", "t", "slash", *"red", "enter"],
        SHORT,
    ),
}


@pytest.mark.parametrize("view", TOURS)
def test_what_is_hostile_is_seen_whole_and_means_nothing(root: Path, view: str) -> None:
    keys, texts = TOURS[view]

    async def main() -> None:
        async with opened(root, (120, 40)) as pilot:
            eyes = Eyes(pilot)
            app_of(pilot).go_to("H1")
            await until(pilot, lambda: app_of(pilot).suspect == "H1")
            for key in keys:
                await eyes.after(key)
            assert not eyes.lacks(texts)

    asyncio.run(main())
