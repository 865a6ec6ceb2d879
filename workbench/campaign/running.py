"""What every run goes through, whatever it is for: put on record, opened, carried out, judged anew."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import msgspec

from workbench import plugins
from workbench._version import __version__
from workbench.conduct.books import Books, Place
from workbench.conduct.clock import SystemClock
from workbench.conduct.earlier import Past
from workbench.conduct.experiment import Experiment, Parts
from workbench.conduct.interrupt import run_interruptible
from workbench.conduct.knobs import Knobs
from workbench.conduct.plans import same_test
from workbench.conduct.settings import Ground, Settings
from workbench.conduct.sources import Sources
from workbench.errors import Interrupted, ResumeRefused, UsageError
from workbench.judge.continuation import NOTHING, Beginning
from workbench.judge.docket import Docket, replay
from workbench.model.plan import Plan
from workbench.model.progress import Phase, Snapshot
from workbench.model.run import Fingerprint, Manifest, RunState, Served
from workbench.ports import Observer, silent
from workbench.store import RunFolder, RunView, Writing, current_owner, holds_run, new_run_id


def planned(
    verb: str,
    plan: Plan,
    serves: Sequence[Served] = (),
    fingerprints: Mapping[str, Fingerprint] | None = None,
) -> Manifest:
    """Give the manifest of a new run, which is not on record yet.

    Args:
        verb: The verb that planned it.
        plan: What it will do.
        serves: Hypotheses that it serves.
        fingerprints: What was read back of its arms, if that has been done.
    """
    now = SystemClock().now()
    return Manifest(
        id=new_run_id(now),
        command=verb,
        state=RunState.PLANNED,
        plan=plan,
        plan_digest=digest(plan),
        created=now,
        owner=current_owner(),
        versions={"workbench": __version__, "numpy": version("numpy"), "scipy": version("scipy")},
        serves=tuple(serves),
        fingerprints=dict(fingerprints or {}),
    )


def begin(manifest: Manifest, parent: Path, output: Path | None = None) -> RunFolder:
    """Make the folder of a new run and put its plan on record, before anything is sent.

    Args:
        manifest: From `planned`.
        parent: Where run folders live.
        output: The folder itself, instead.
    """
    if output is None:
        return RunFolder.create(parent, manifest)
    if holds_run(output):
        raise UsageError(
            f"{output}: holds a run already", hint="go on with it by --resume, or name another folder"
        )
    return RunFolder.create_at(output, manifest)


def reopen(path: Path, plan_of: Callable[[Manifest], Plan]) -> tuple[RunFolder, Plan]:
    """Become the owner of a run that stands still, to go on with it under a plan of the same test.

    Args:
        path: Its folder.
        plan_of: Gives the plan to go on with, or refuses.
    """
    folder = RunFolder.resume(path)
    try:
        if folder.manifest.guards:  # it recorded no one thing, whatever its files are again by now
            raise ResumeRefused(
                f"run {folder.manifest.id} is invalid: {folder.manifest.guards[0].detail}",
                hint="start a new run",
            )
        plan = plan_of(folder.manifest)
        folder.replace_manifest(plan=plan)
    except BaseException:
        folder.abandon()
        raise
    return folder, plan


def conduct(
    plan: Plan,
    folder: RunFolder,
    observer: Observer,
    beginning: Beginning = NOTHING,
    root: Path | None = None,
) -> Snapshot:
    """Run a plan in a folder that is open for writing, and leave the folder closed.

    Args:
        plan: The plan as executed, unredacted.
        folder: The run's folder.
        observer: Watches.
        beginning: What the run begins with.
        root: The campaign's folder, None outside of one: no file can be changed there.
    """
    parts, _ = build(plan, root, folder.manifest.id)
    experiment = Experiment(plan, folder, parts, SystemClock(), observer, beginning)
    try:
        with folder:
            return run_interruptible(experiment.run())
    except Interrupted as error:
        raise Interrupted(error.what, hint=f"go on with --resume {folder.path}") from error


def build(
    plan: Plan, root: Path | None = None, run: str = "", tell: Callable[[str], None] = silent
) -> tuple[Parts, Settings]:
    """Import and build the plug-ins that a plan names, and give the files that its arms need changed.

    Args:
        plan: The plan, placed.
        root: The campaign's folder, None outside of one.
        run: For which run.
        tell: Told, in a line, of code that is checked out.
    """
    here = root or Path.cwd()
    base = here / str(plan.engine.options.get("cwd") or "")
    secrets = Writing().gate().knowing(plan).secrets
    sources = Sources(Knobs(plan.knobs), here, plan.repo, tell, secrets, base)
    knobs = Knobs(plan.knobs, sources.settle)
    settings = Settings(knobs, Ground(root=here, base=base), run, sources)
    parts = Parts(
        engine=plugins.build_engine(plan.engine),
        workload=plugins.build(plugins.Group.WORKLOAD, plan.workload),
        classifier=plugins.build(plugins.Group.CLASSIFIER, plan.classifier),
        knobs=knobs,
        files=settings.of,
        edited=settings.edited,
        sources=sources,
    )
    return parts, settings


def judged(view: RunView, past: Past | None = None) -> tuple[Docket, Books]:
    """Judge a run anew from what it recorded, and from the earlier runs that it began with.

    Args:
        view: The run.
        past: The runs beside it, if some have been read already.

    Raises:
        StoreError: An earlier run that it goes on from is missing.
    """
    manifest = view.manifest
    past = past or Past(view.path.parent)
    books = Books(manifest.plan)
    books.recall(view.samples())
    beginning = past.beginning(manifest.plan, manifest.serves)
    docket = replay(manifest.plan, books.tally, beginning, books.others)
    docket.jury.trip(manifest.guards)
    if manifest.state is RunState.FINISHED:
        docket.jury.close()
    return docket, books


def look(view: RunView) -> Snapshot:
    """Give how a run looks, judged anew, with what of its record is damaged or altered."""
    docket, books = judged(view)
    manifest = view.manifest
    place = Place(
        run=manifest.id, folder=str(view.path), phase=Phase.COMPARING, seconds=manifest.seconds
    )
    problems = (*view.altered(), *view.damage())
    starts = tuple(each.start for each in view.fingerprints() if each.start is not None)
    return replace(books.snapshot(docket, place), problems=problems, starts=starts)


def digest(plan: Plan) -> str:
    """Digest what a plan tests, budget left out; equal digests are one and the same test."""
    return hashlib.sha256(msgspec.json.encode(same_test(plan), order="deterministic")).hexdigest()
