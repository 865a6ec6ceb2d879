"""A test in a process of its own, followed from a notebook: the very command that a terminal would run.

So it does not matter whether an event loop is running here, and the end of the notebook ends no run.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

from workbench.campaign.background import Background
from workbench.errors import WorkbenchError
from workbench.notebook.asked import Asked
from workbench.notebook.progress import Progress

_LOOK_EVERY = 0.1  # seconds


class TestFailed(WorkbenchError):
    """A test ended without a run to show.

    Args:
        said: What it said.
        exit_code: Its exit code, as of `workbench test`.
    """

    __test__ = False

    def __init__(self, said: str, exit_code: int) -> None:
        super().__init__(said or f"the test ended with exit code {exit_code}")
        self.exit_code = exit_code


def run_test(root: Path, ids: Sequence[str], asked: Asked) -> Path:
    """Run the test of hypotheses and wait for its end.

    Args:
        root: The campaign's folder.
        ids: The hypotheses.
        asked: What is to differ.

    Returns:
        Folder of the run.

    Raises:
        TestFailed: There is none to show.
    """
    run = _begin(root, ids, asked)
    progress = Progress()
    try:
        while run.poll() is None:
            progress.show(run.events())
            time.sleep(_LOOK_EVERY)
    except KeyboardInterrupt:
        run.interrupt()
        run.wait()
        raise
    return _end(run, progress)


async def run_test_async(root: Path, ids: Sequence[str], asked: Asked) -> Path:
    """Do the same without keeping the event loop; arguments as for `run_test`."""
    run = _begin(root, ids, asked)
    progress = Progress()
    try:
        while run.poll() is None:
            progress.show(run.events())
            await asyncio.sleep(_LOOK_EVERY)
    except asyncio.CancelledError:
        run.interrupt()
        await asyncio.to_thread(run.wait)
        raise
    return _end(run, progress)


def _begin(root: Path, ids: Sequence[str], asked: Asked) -> Background:
    words = ["-C", str(root), "test", *ids, *asked.arguments(), "--json", "--display", "json"]
    return Background.begin(root, words)


def _end(run: Background, progress: Progress) -> Path:
    progress.show(run.events())
    code = run.wait()
    found = run.folder()
    if found is None or code not in _SHOWN:
        raise TestFailed(run.said(), code)
    run.forget()
    return found


_SHOWN = (0, 4, 5)  # exit codes of a run that came to its end, with or without a word
