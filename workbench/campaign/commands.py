"""A/B and measurement of plain commands: planned, run, resumed and read, no campaign needed."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from workbench.campaign import running
from workbench.conduct.plans import CompareRequest, MeasureRequest
from workbench.errors import ResumeRefused, StoreError, UsageError
from workbench.model.plan import Plan
from workbench.model.progress import Snapshot
from workbench.model.run import Manifest
from workbench.ports import Observer
from workbench.store import RunFolder, RunView, find_run, holds_run
from workbench.store.campaignfiles import find_root
from workbench.store.layout import RUNS

_Request = TypeVar("_Request", CompareRequest, MeasureRequest)


def comparison_plan(asked: Mapping[str, Any]) -> Plan:
    """Plan an A/B of two commands.

    Args:
        asked: Fields of `CompareRequest` that are not to have their default.

    Raises:
        UsageError: A command is missing.
    """
    return _request(CompareRequest, asked).plan()


def compare(
    asked: Mapping[str, Any], output: Path | None, resume: str | None, observer: Observer
) -> Snapshot:
    """Run an A/B of two commands, or go on with one.

    Args:
        asked: Fields of `CompareRequest` that are not to have their default; for a resume, those that
            are not to have the value that they had.
        output: The run's folder; None for a new one under `runs/`.
        resume: Run to go on with: a folder, an id, the start of an id, or empty for that of
            `output`, which is begun if nothing is there yet.
        observer: Watches.

    Raises:
        WorkbenchError: See the tree in `errors`.
    """
    return _run("ab", CompareRequest, asked, output, resume, observer)


def measure(
    asked: Mapping[str, Any], output: Path | None, resume: str | None, observer: Observer
) -> Snapshot:
    """Measure how often a command fails, or go on measuring; arguments as for `compare`."""
    return _run("measure", MeasureRequest, asked, output, resume, observer)


def read(run: str, *, hint: str = "") -> Snapshot:
    """Judge a run anew from what it recorded, whoever owns it.

    Args:
        run: A folder, an id, or the start of an id under `runs/`, here or in the campaign around.
        hint: What to say when there is no such run.
    """
    try:
        folder = find(run)
    except UsageError as error:
        raise UsageError(f"{run!r} is neither a word nor a run", hint=hint or error.hint) from error
    return running.look(folder)


def find(run: str) -> RunView:
    """Open a run to read by its folder, its id, or the start of one, here or in the campaign around.

    Raises:
        UsageError: Nothing, or more than one run, goes by that name.
        StoreError: Its manifest is damaged.
    """
    runs = Path(RUNS)
    with suppress(UsageError):
        runs = find_root(Path.cwd()) / RUNS
    return RunView.read(find_run(run, runs))


def begin(verb: str, plan: Plan, output: Path | None) -> RunFolder:
    """Make the folder of a new run and put its plan on record, before anything is sent."""
    return running.begin(running.planned(verb, plan), Path(RUNS), output)


def _run(
    verb: str,
    kind: type[_Request],
    asked: Mapping[str, Any],
    output: Path | None,
    resume: str | None,
    observer: Observer,
) -> Snapshot:
    path = _run_to_resume(output, resume)
    if path is None:
        plan = _request(kind, asked).plan()
        return running.conduct(plan, begin(verb, plan, output), observer)
    folder, plan = running.reopen(path, lambda then: _plan_to_resume(verb, kind, then, asked))
    return running.conduct(plan, folder, observer)


def _request(kind: type[_Request], asked: Mapping[str, Any]) -> _Request:
    missing = [name for name in kind.REQUIRED if not asked.get(name)]
    if missing:
        raise UsageError(f"missing: {' and '.join(missing)}", hint=f"example: {kind.EXAMPLE}")
    fresh = {"cwd": str(Path.cwd()), "seed": secrets.randbits(31)}
    return kind(**{**fresh, **asked})


def _run_to_resume(output: Path | None, resume: str | None) -> Path | None:
    """Find the run to go on with; None when a new one is to be begun."""
    if resume is None:
        return None
    if resume:
        return find_run(resume, Path(RUNS))
    if output is None:
        raise UsageError("--resume needs a run", hint="name it, or give its folder with -o")
    # a run that was killed before its plan was on record is begun
    return output if holds_run(output) else None


def _plan_to_resume(
    verb: str, kind: type[_Request], manifest: Manifest, asked: Mapping[str, Any]
) -> Plan:
    """Lay what is asked now over what was asked then; refuse if another test would come out."""
    if manifest.command != verb:
        raise UsageError(
            f"run {manifest.id} is of `workbench {manifest.command}`",
            hint=f"workbench {manifest.command} --resume",
        )
    try:
        plan = replace(kind.of(manifest.plan), **asked).plan()
    except (KeyError, IndexError) as error:
        raise StoreError(f"run {manifest.id}: its plan is damaged: {error!r}") from error
    if running.digest(plan) == manifest.plan_digest:
        return plan
    redacted = running.digest(manifest.plan) != manifest.plan_digest
    if redacted and not all(name in asked for name in kind.REQUIRED):
        raise ResumeRefused(
            "the commands hold a secret that was kept off the disk",
            hint="give the commands again, with --resume",
        )
    names = ", ".join(f"--{name.replace('_', '-')}" for name in asked)
    raise ResumeRefused(
        f"something else would be tested now; given: {names}",
        hint="leave out what differs, or start a new run",
    )
