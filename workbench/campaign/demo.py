"""The worked example, run: a copy of its campaign, its engine built, and its deciding tests one by one.

    steps       what is run and why, in order; `full` ones come after those that decide
    prepare     a copy in a folder, or one that was begun there before
    build       the repository of the engine that is tested, made on the spot
    outcome     one step, run to its end, or what is known of it already

A demo that was ended goes on where it stood: what has been decided is not run again.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from workbench.campaign import measuring, verdicts
from workbench.campaign.holding import Leave
from workbench.campaign.registry import Campaign
from workbench.errors import AlreadyDecided, UsageError, WorkbenchError
from workbench.judge.confirming import proof
from workbench.model.event import Actor
from workbench.model.progress import Snapshot
from workbench.ports import Observer
from workbench.store import example
from workbench.store.layout import CAMPAIGN_FILE
from workbench.store.scaffold import lay_out

ENGINE = "workbench.local_engine.history.build"  # a program of its own: it is executed, not imported
_PATIENCE = 120.0  # seconds for what takes two


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One run of the demo.

    Attributes:
        why: What it is to tell, one line.
        ids: The suspects whose test is run; none for a measurement.
        put_back: Their causes are put back into the fixed system.
        settings: Of a measurement, knob to level.
        sessions: Of a measurement.
    """

    why: str
    ids: tuple[str, ...] = ()
    put_back: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)
    sessions: int = 60


FOUND = {"build": "found", "index_k": "bf16", "hicache": "on"}
DECIDING = (
    Step(why="How often does it fail, as it was found?", settings=FOUND),
    Step(why="bf16 against fp8 keys; HiCache on against off", ids=("H3", "H4")),
    Step(why="The gate is missing, and put in", ids=("H5",)),
    Step(why="The gate is in, and taken out again", ids=("H5",), put_back=True),
    Step(why="All requests at once, and one at a time", ids=("H7",)),
)
FULL = (
    Step(why="fp8 keys and HiCache are put back to what they were", ids=("H3", "H4"), put_back=True),
    Step(why="Is it all pages that come back from the host?", ids=("H6",)),
    Step(why="The fix that was deployed: before it, and with it", ids=("H9",)),
    Step(why="Pools sized for fp8, and for what they hold", ids=("H17",)),
    Step(why="Replies decoded together, and one by one", ids=("H1",)),
    Step(why="Scheduling with overlap, and without", ids=("H10",)),
    Step(why="topk-v2, and the first version", ids=("H11",)),
    Step(why="Captured batches of up to 64, and of up to 256", ids=("H12",)),
    Step(why="Long contexts without HiCache: bf16 against fp8 keys", ids=("H21",)),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What came of a step.

    Attributes:
        runs: The run; of what was decided before, those that decided it.
        before: Nothing was run.
    """

    runs: tuple[Snapshot, ...] = ()
    before: bool = False


def steps(*, full: bool) -> tuple[Step, ...]:
    """Give what is run, in order."""
    return (*DECIDING, *FULL) if full else DECIDING


def prepare(folder: Path) -> tuple[Campaign, bool]:
    """Copy the example into a folder, or go on with a demo that is there; say which.

    Raises:
        UsageError: Something else is there.
        StoreError: The example did not come along, or the folder cannot be written.
    """
    there = folder / CAMPAIGN_FILE
    contents = example.contents()
    if there.exists():
        if there.read_bytes() != contents[CAMPAIGN_FILE]:
            raise UsageError(
                f"{folder} is another campaign, or a demo of another version",
                hint="name a folder that is not there yet: workbench demo DIR",
            )
        return Campaign(folder.absolute()), True
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(
            f"{folder} is not empty", hint="name a folder that is not there yet: workbench demo DIR"
        )
    lay_out(folder, contents)
    return Campaign(folder.absolute()), False


def build(campaign: Campaign) -> None:
    """Make the repository of the engine, if it is not there.

    Raises:
        WorkbenchError: It cannot be made; what its builder said last is told.
    """
    repo = campaign.root / campaign.spec.repo
    if repo.exists():
        return
    repo.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", ENGINE, str(repo)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise WorkbenchError(f"the engine's repository cannot be built: {error}") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise WorkbenchError(
            f"the engine's repository cannot be built: {said or f'exit code {done.returncode}'}",
            hint=f"python -m {ENGINE} {repo}",
        )


def outcome(campaign: Campaign, step: Step, by: Actor, observer: Observer, leave: Leave) -> Outcome:
    """Run a step, unless what it would tell is known.

    Args:
        campaign: From `prepare`; read anew, since each step adds to it.
        step: Which.
        by: Who runs it.
        observer: Watches.
        leave: Tells of what takes long.

    Raises:
        Interrupted: By the user; the same command goes on.
        WorkbenchError: See the tree in `errors`.
    """
    now = Campaign(campaign.root)
    if not step.ids:
        if any(line.command == measuring.VERB for line in now.run_lines):
            return Outcome(before=True)
        asked = {"trials": step.sessions, "symptom": "garbled", "workload": "agents"}
        return Outcome(runs=(measuring.measure(now, step.settings, asked, by, observer, leave),))
    if step.put_back and all(proof(now.registry.standings[id].items).intervened for id in step.ids):
        return Outcome(before=True)
    try:
        run = verdicts.test(now, step.ids, {}, by, observer, leave, put_back=step.put_back)
    except AlreadyDecided as error:
        known = tuple(verdicts.decided(now, run, id) for id, (run, _) in error.by.items())
        return Outcome(runs=known, before=True)
    return Outcome(runs=(run,))
