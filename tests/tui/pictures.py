"""Pictures of the interface for the README, taken from the application itself over the worked example.

python -m tests.tui.pictures        writes docs/figures/tui-*.svg
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from tests.conftest import ROOT
from tests.tui.pilots import app_of, opened, until

SIZE = (150, 36)
_FONTS = re.compile(r"@font-face\s*\{[^}]*\}")  # they would be fetched from elsewhere


async def taken(folder: Path) -> None:
    """Take a picture of the tree and one of a run."""
    async with opened(ROOT, SIZE) as pilot:
        app = app_of(pilot)
        app.go_to("H5")
        await until(pilot, lambda: app.suspect == "H5")
        await pilot.pause()
        _write(folder / "tui-tree.svg", app.export_screenshot(title="workbench tui"))
        run = next(
            item.verdict.run for item in app.held.suspects.by_id["H5"].standing.items if item.verdict
        )
        app.show_run(run)
        await until(pilot, lambda: "44/120" in app.export_screenshot())
        _write(folder / "tui-run.svg", app.export_screenshot(title="workbench tui: a run"))


def _write(path: Path, svg: str) -> None:
    path.write_text(_FONTS.sub("", svg))


if __name__ == "__main__":
    asyncio.run(taken(ROOT / "docs/figures"))
