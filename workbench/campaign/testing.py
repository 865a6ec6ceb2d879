"""Tests of hypotheses: begun, gone on with, judged anew and verified, under `runs/` of a campaign.

Runs of one test are one process (RULES 6). So its arms are read back before it gets a folder: the
digest of what it really tests says which runs it goes on from, and whether anything is left to do.
Nothing here touches the event log; a verdict is handed to the caller, who puts it on record.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from workbench import plugins
from workbench.campaign import running
from workbench.campaign.holding import Leave, held
from workbench.conduct.circumstances import circumstances
from workbench.conduct.earlier import Past, serves_with
from workbench.conduct.experiment import read_back
from workbench.conduct.findings import differences, finding
from workbench.conduct.interrupt import run_interruptible
from workbench.conduct.pinning import moved
from workbench.errors import AlreadyDecided, Interrupted, ResumeRefused, StoreError, UsageError
from workbench.judge import fold
from workbench.judge.continuation import Beginning, digest_of_test
from workbench.judge.jury import Jury
from workbench.model.event import VerdictGiven
from workbench.model.plan import Part, Plan
from workbench.model.progress import Snapshot
from workbench.model.run import Fingerprint, Manifest, RunState, Served
from workbench.model.verdict import Judgement
from workbench.ports import Observer
from workbench.store import RunFolder, RunView, Writing, find_run
from workbench.store.journal import BLOBS_FOLDER
from workbench.store.layout import RUNS, work_folder
from workbench.store.lock import one_at_a_time

VERB = "test"
LOCK = "begin.lock"  # from the look at earlier runs until the new one is on record
MAY_CHANGE = ("max_blocks", "budget", "keep_texts")  # what a resume may ask for
_LEAVE = Leave()
Result = tuple[Snapshot, tuple[VerdictGiven, ...]]


def start(
    root: Path, plan: Plan, serves: Sequence[Served], observer: Observer, leave: Leave = _LEAVE
) -> Result:
    """Run a test, from the complete blocks of all earlier runs of it on.

    Args:
        root: The campaign's folder, absolute.
        plan: From `conduct.tests.plan_tests`.
        serves: The hypotheses, one a comparison and in that order, with their files as they are now.
            Digests and earlier runs are filled in here, and secrets are taken out of the texts.
        observer: Watches; `started` tells it the id of the run.
        leave: Who runs it, and whether it waits for others.

    Returns:
        How the run looks at its end, and its verdicts; none for a run that is not finished.

    Raises:
        AlreadyDecided: Earlier runs have said the word for every hypothesis; nothing was run.
        LockHeld: A run of the same test is under way.
        EngineBusy: Another run has the engine, or a file that is to be changed.
        WorkbenchError: See the tree in `errors`.
    """
    there = placed(plan, root)
    with held(root, there, *running.build(there, root), leave) as holding:
        with one_at_a_time(work_folder(root) / LOCK):
            folder, executed, beginning = _begin(root, plan, serves, leave)
        holding.say(folder.manifest.id)
        snapshot = running.conduct(executed, folder, observer, beginning, root)
    return snapshot, _verdicts(RunView.read(folder.path), Past(folder.path.parent))


def resume(
    root: Path, run: str, asked: Mapping[str, Any], observer: Observer, leave: Leave = _LEAVE
) -> Result:
    """Go on with a run from what it has on record, with the same beginning.

    Args:
        root: The campaign's folder, absolute.
        run: A folder, an id, or the start of an id.
        asked: `max_blocks`, `budget` or `keep_texts`, where they are to have another value.
        observer: Watches.
        leave: Who runs it, and whether it waits for others.

    Raises:
        EngineBusy: Another run has the engine, or a file that is to be changed.
        ResumeRefused: Something else would be tested now, the run is invalid, or there is a newer run
            of the same test.
        WorkbenchError: See the tree in `errors`.
    """
    unknown = sorted(asked.keys() - set(MAY_CHANGE))
    if unknown:
        raise UsageError(
            f"a resumed run cannot get another {unknown[0]}", hint=f"only {', '.join(MAY_CHANGE)}"
        )
    path = find_run(run, root / RUNS)
    there = placed(RunView.read(path).manifest.plan, root)
    for line in moved(there, root):
        leave.tell(line)
    with held(root, there, *running.build(there, root), leave) as holding:
        holding.say(path.name)
        return _resume(root, path, asked, observer)


def _resume(root: Path, path: Path, asked: Mapping[str, Any], observer: Observer) -> Result:
    view = RunView.read(path)
    past = Past(path.parent)
    later = past.newer_run(view.manifest)
    if later:
        raise ResumeRefused(
            f"run {view.manifest.id} is not the newest of its test: {later} is",
            hint=f"resume {later}, or begin the test anew: it starts from the blocks of both",
        )
    beginning = past.beginning(view.manifest.plan, view.manifest.serves)
    folder, plan = running.reopen(path, lambda then: _plan_to_resume(then, asked))
    snapshot = running.conduct(placed(plan, root), folder, observer, beginning, root)
    return snapshot, _verdicts(RunView.read(folder.path), Past(folder.path.parent))


def verdicts(root: Path, run: str) -> tuple[VerdictGiven, ...]:
    """Judge a run anew from `runs/` alone.

    Args:
        root: The campaign's folder, absolute.
        run: A folder, an id, or the start of an id.

    Returns:
        A verdict for each hypothesis that it serves; none while the run is not finished.

    Raises:
        StoreError: The run, or an earlier one that it goes on from, is missing or damaged.
    """
    view = RunView.read(find_run(run, root / RUNS))
    return _verdicts(view, Past(view.path.parent))


def verify(root: Path, run: str, recorded: Sequence[VerdictGiven]) -> tuple[str, ...]:
    """Name what of a run's verdicts on record does not follow from what lies under `runs/`.

    Args:
        root: The campaign's folder, absolute.
        run: A folder, an id, or the start of an id.
        recorded: The verdicts of this run on record, the last one for each hypothesis.

    Returns:
        A line for each difference: in counts, e-values, intervals, words, digests, and in the files of
        this run and of those that it goes on from. Replies that are kept in blobs may be missing.
    """
    try:
        view = RunView.read(find_run(run, root / RUNS))
    except (StoreError, UsageError) as error:
        return (str(error),)
    past = Past(view.path.parent)
    found = list(_wrong_in_files(view))
    for id in dict.fromkeys(each.run for served in view.manifest.serves for each in served.earlier):
        try:
            found += [f"{id}: {line}" for line in _wrong_in_files(RunView.read(view.path.parent / id))]
        except StoreError as error:
            found.append(f"earlier run {id}: {error.what}")
    try:
        recomputed = {each.hypothesis: each for each in _verdicts(view, past)}
    except StoreError as error:
        return (*found, str(error))
    return (*found, *_wrong_in_verdicts(view.manifest, recorded, recomputed))


def placed(plan: Plan, root: Path) -> Plan:
    """Give a plan to be executed: folders of its plug-ins are those of the campaign.

    On record they stay as the campaign states them, so that one which has moved is still the same.
    """
    return replace(
        plan,
        engine=_placed(plugins.Group.ENGINE, plan.engine, root),
        workload=_placed(plugins.Group.WORKLOAD, plan.workload, root),
    )


def _placed(group: plugins.Group, part: Part, root: Path) -> Part:
    if "cwd" not in {field.name for field in fields(plugins.options_type(group, part.kind))}:
        return part
    return replace(part, options={**part.options, "cwd": str(root / (part.options.get("cwd") or ""))})


def _begin(
    root: Path, plan: Plan, serves: Sequence[Served], leave: Leave
) -> tuple[RunFolder, Plan, Beginning]:
    """Read back what would be tested, look up what it goes on from, and put the run on record."""
    past = Past(root / RUNS)
    manifest = running.planned(VERB, plan, serves, arms_of(root, plan, leave.tell))
    recorded = Writing().gate().knowing(plan).manifest(manifest)
    found = dict(recorded.fingerprints)
    digests = [
        digest_of_test(recorded.plan, each, found, _fresh(manifest.id, served))
        for each, served in zip(recorded.plan.comparisons, serves, strict=True)
    ]
    earlier = {digest: past.of_test(digest) for digest in digests}
    serves = serves_with(serves, digests, earlier)
    first = max(past.first_block(each.earlier) for each in serves)
    plan = replace(plan, first_block=first)
    beginning = past.beginning(plan, serves)
    jury = Jury(plan, beginning)
    if jury.decided:
        raise _already_decided(plan, serves, past, jury.judgements)
    manifest = replace(running.planned(VERB, plan, serves, found), id=manifest.id)
    return running.begin(manifest, root / RUNS), placed(plan, root), beginning


def _fresh(run: str, served: Served) -> str:
    """Give what sets a run apart from all others: none goes on from one that puts a cause back."""
    return run if served.put_back else ""


def arms_of(
    root: Path, plan: Plan, tell: Callable[[str], None] = _LEAVE.tell
) -> Mapping[str, Fingerprint]:
    """Read back what the arms of a plan run, before anything is begun; their code is checked out.

    Args:
        root: The campaign's folder, absolute.
        plan: The plan.
        tell: Told, in a line, of what takes long.

    Raises:
        ArmCouldNotStart: One of them cannot run at all.
        Interrupted: By the user.
        PluginError: A plug-in is unknown or refuses its options.
    """
    there = placed(plan, root)
    parts, _ = running.build(there, root, tell=tell)
    try:
        return run_interruptible(read_back(there, parts))
    except asyncio.CancelledError:
        raise Interrupted("interrupted; nothing had been begun") from None


def _already_decided(
    plan: Plan, serves: Sequence[Served], past: Past, decided: Sequence[Judgement]
) -> AlreadyDecided:
    """Say which runs brought the words; judged again, a run of them at a time."""
    by = {}
    for at, (served, judgement) in enumerate(zip(serves, decided, strict=True)):
        for length in range(1, len(served.earlier) + 1):
            so_far = [replace(each, earlier=each.earlier[:length]) for each in serves]
            jury = Jury(plan, past.beginning(plan, so_far))
            if jury.judgements[at].verdict is not None:
                by[served.hypothesis] = (served.earlier[length - 1].run, str(judgement.verdict))
                break
    return AlreadyDecided(by)


def _plan_to_resume(manifest: Manifest, asked: Mapping[str, Any]) -> Plan:
    """Lay what is asked now over what was planned; refuse what cannot be executed from its record."""
    if manifest.command != VERB:
        raise UsageError(
            f"run {manifest.id} is of `workbench {manifest.command}`",
            hint=f"workbench {manifest.command} --resume",
        )
    if running.digest(manifest.plan) != manifest.plan_digest:
        raise ResumeRefused(
            "the settings hold a secret that was kept off the disk",
            hint="begin the test anew: it starts from the complete blocks of this run",
        )
    plan = manifest.plan
    rules = replace(plan.rules, max_blocks=asked.get("max_blocks", plan.rules.max_blocks))
    if rules.max_blocks < 1:
        raise UsageError(f"max_blocks must be a number from 1 on, not {rules.max_blocks}")
    return replace(
        plan,
        rules=rules,
        budget=asked.get("budget"),  # it is for one opening; an earlier one has used up its own
        keep_texts=asked.get("keep_texts", plan.keep_texts),
    )


def _verdicts(view: RunView, past: Past) -> tuple[VerdictGiven, ...]:
    manifest = view.manifest
    if manifest.state is not RunState.FINISHED:
        return ()
    docket, _ = running.judged(view, past)
    return tuple(
        finding(manifest, served, judgement, circumstances(view, served, judgement.comparison, past))
        for served, judgement in zip(manifest.serves, docket.judgements, strict=True)
    )


def _wrong_in_files(view: RunView) -> Iterator[str]:
    """Name what of a run's files is not what was written, or does not follow from the rest."""
    manifest, damage = view.manifest, view.damage()
    damage.files = {
        file: why
        for file, why in damage.files.items()
        if not file.startswith(f"{BLOBS_FOLDER}/") or (view.path / file).exists()
    }
    yield from view.altered()
    yield from damage
    for sample in view.samples():
        key, exchange = sample.exchange.key, sample.exchange
        if fold.exchange_status(exchange, sample.label, manifest.plan.symptom) != sample.status:
            yield f"{key}: {sample.label.word} does not make it {sample.status}"
        for other in manifest.plan.also:
            seen, name = sample.seen(other.symptom.name), other.symptom.name
            if fold.exchange_status(exchange, seen.label, other.symptom) != seen.status:
                yield f"{key}: {seen.label.word} does not make it {seen.status} for {name}"
    for served, comparison in zip(manifest.serves, manifest.plan.comparisons, strict=False):
        fresh = _fresh(manifest.id, served)
        if served.digest != digest_of_test(manifest.plan, comparison, manifest.fingerprints, fresh):
            yield f"{served.hypothesis}: the test digest is not that of the plan and the fingerprints"


def _wrong_in_verdicts(
    manifest: Manifest, recorded: Sequence[VerdictGiven], recomputed: Mapping[str, VerdictGiven]
) -> Iterator[str]:
    on_record = {each.hypothesis: each for each in recorded}
    if on_record and not recomputed:
        yield f"the run is {manifest.state}: it gives no verdict, and one is on record"
        return
    for id in dict.fromkeys((*on_record, *recomputed)):
        if id not in on_record:
            yield f"{id}: no verdict of this run is on record"
        elif id not in recomputed:
            yield f"{id}: a verdict is on record, and the run does not serve it"
        else:
            yield from differences(on_record[id], recomputed[id])
