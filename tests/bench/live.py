"""Draw `docs/figures/live.svg`: the picture of a comparison under way, as a terminal shows it.

Usage: python -m tests.bench.live
"""

from __future__ import annotations

import io
import re
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI

from tests import simulated
from workbench.cli.display import NoDisplay
from workbench.cli.live import picture
from workbench.model.progress import Snapshot

FIGURE = Path(__file__).parents[2] / "docs" / "figures" / "live.svg"
MOMENT = 3  # the block whose end is drawn


class Keeps(NoDisplay):
    """An observer that keeps what it saw after each block."""

    def __init__(self) -> None:
        self.seen: list[Snapshot] = []

    def judged(self, snapshot: Snapshot) -> None:
        self.seen.append(snapshot)


def main() -> None:
    kept = Keeps()
    with tempfile.TemporaryDirectory() as home:
        simulated.run(simulated.plan(0.17, 0.05, "0.17:0.05", seed=4), Path(home) / "run", kept)
    console = Console(record=True, width=96, file=io.StringIO(), force_terminal=True)
    console.print(picture(kept.seen[MOMENT - 1]))
    drawn = console.export_svg(title="workbench ab", theme=MONOKAI)
    # fonts would be fetched from elsewhere; the reader's own monospace font will do
    drawn = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)
    FIGURE.write_text(drawn.replace("Fira Code", "monospace"), encoding="utf-8")
    print(f"docs/figures/{FIGURE.name}")


if __name__ == "__main__":
    main()
