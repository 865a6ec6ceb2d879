"""A test in a process of its own, followed from a notebook: the very command that a terminal would run.

So it does not matter whether an event loop is running here, and the end of the notebook ends no run.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from workbench.campaign.background import Background
from workbench.errors import WorkbenchError
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What is to differ from a hypothesis's file and the campaign's defaults; None to leave it.

    Attributes:
        engine: Name of another engine.
        workload: Name of another workload.
        seed: Repeats a run's choices.
        max_blocks: Blocks that the run may add at most.
        sessions: Sessions per arm and block.
        in_flight: Sessions at the same time.
        budget: Seconds within which a block must be expected to end to be begun.
        put_back: Put the cause back into the fixed system.
        allow: Protected engines that may be started, stopped and edited.
        wait: Queue behind a run that has the engine.
        by: Who runs it.
    """

    engine: str | None = None
    workload: str | None = None
    seed: int | None = None
    max_blocks: int | None = None
    sessions: int | None = None
    in_flight: int | None = None
    budget: float | None = None
    put_back: bool = False
    allow: tuple[str, ...] = ()
    wait: bool = False
    by: str | None = None

    @property
    def settings(self) -> dict[str, object]:
        """What a plan takes of it."""
        named = ((name, getattr(self, name)) for name in _SETTINGS)
        return {name: value for name, value in named if value is not None}

    def arguments(self) -> Iterator[str]:
        """Yield it as words of a command line."""
        for name, value in self.settings.items():
            unit = "s" if name == "budget" else ""
            yield f"--{name.replace('_', '-')}={value}{unit}"
        yield from (f"--allow={engine}" for engine in self.allow)
        yield from ["--put-back"] * self.put_back
        yield from ["--wait"] * self.wait
        yield from [f"--by={self.by}"] * bool(self.by)


_SETTINGS = ("engine", "workload", "seed", "max_blocks", "sessions", "in_flight", "budget")
assert {*_SETTINGS} <= {each.name for each in fields(Asked)}


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
