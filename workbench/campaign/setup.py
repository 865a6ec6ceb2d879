"""A campaign's beginning, and the health of the place that it lives in."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from workbench._version import __version__
from workbench.campaign import checks
from workbench.campaign.actors import actor
from workbench.campaign.registry import Campaign
from workbench.errors import UsageError, WorkbenchError
from workbench.model.event import Proposed
from workbench.model.plan import Cluster
from workbench.model.run import RunState
from workbench.store import putback
from workbench.store.find import has_begun
from workbench.store.layout import CAMPAIGN_FILE, RUNS, WORK
from workbench.store.putback import Restored
from workbench.store.scaffold import scaffold

__all__ = ["Finding", "Restored", "doctor", "init", "restore"]

_LITTLE_ROOM = 200 * 2**20  # bytes; what some 10,000 sessions with their replies take


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing that the doctor looked at.

    Attributes:
        about: What was looked at.
        ok: It is as it should be.
        what: What was found.
        fix: What to do about it; empty when there is nothing to do.
    """

    about: str
    ok: bool
    what: str
    fix: str = ""


def init(folder: Path, template: str, by: str | None = None) -> list[str]:
    """Make a campaign of a folder and give the files written; what is there stays as it is.

    Args:
        folder: The folder; made when it is not there.
        template: What to begin with.
        by: Who proposes the suspects that come with it.

    Raises:
        UsageError: There is no such template, or the folder is a campaign already.
        StoreError: The folder cannot be written.
    """
    if (folder / CAMPAIGN_FILE).exists():
        raise UsageError(f"{folder} is a campaign already", hint="workbench status")
    written = scaffold(folder, template)
    campaign = Campaign(folder.absolute())
    for file in campaign.files.files:
        if file.path in written and file.hypothesis is not None:
            proposed = Proposed(hypothesis=file.id, file=file.path, title=file.hypothesis.title)
            campaign.journal.append(proposed, actor(by, folder))
    return written


def doctor(start: Path) -> Iterator[Finding]:
    """Look at what a campaign needs: the place, then files, log, runs, and what would be tested."""
    yield Finding(
        about="workbench",
        ok=True,
        what=f"{__version__}, Python {platform.python_version()}, {sys.prefix}",
    )
    yield _git()
    try:
        campaign = Campaign.find(start)
    except UsageError as error:
        yield Finding(about="campaign", ok=False, what=error.what, fix=error.hint)
        return
    yield Finding(about="campaign", ok=True, what=str(campaign.root))
    yield _room(campaign.root)
    yield from _records(campaign)
    yield from _runs(campaign)
    yield from _changed(campaign.root)
    yield from _worktrees(campaign.root)
    yield from _arms(campaign)


def restore(root: Path, run: str = "") -> list[Restored]:
    """Put back the files that dead runs left changed, and say what became of each.

    Args:
        root: The campaign's folder.
        run: Only those of this run; empty for all.
    """

    def meant(each: putback.Kept) -> bool:
        return each.left and (not run or (each.record is not None and each.record.run == run))

    return putback.restore(root, meant)


def _git() -> Finding:
    found = shutil.which("git")
    if found is None:
        fix = "install git, to keep a campaign and to share it"
        return Finding(about="git", ok=False, what="not found", fix=fix)
    return Finding(about="git", ok=True, what=found)


def _room(root: Path) -> Finding:
    if not os.access(root, os.W_OK):
        return Finding(about="disk", ok=False, what="the folder is read-only", fix=f"chmod u+w {root}")
    free = shutil.disk_usage(root).free
    enough = free >= _LITTLE_ROOM
    fix = "" if enough else "make room before a run"
    return Finding(about="disk", ok=enough, what=f"{free / 2**30:.1f} GB free", fix=fix)


def _records(campaign: Campaign) -> Iterator[Finding]:
    problems = checks.check(campaign)
    many = len(campaign.registry.hypotheses)
    if problems:
        what = f"mistakes: {len(problems)}, the first: {problems[0]}"
        yield Finding(about="files", ok=False, what=what, fix="workbench check")
    else:
        events = len(campaign.log.events)
        what = f"hypotheses: {many}, events: {events}"
        yield Finding(about="files", ok=True, what=what)
    heads = len(campaign.log.heads)
    if heads > 1:
        what = f"{heads} branches were merged; the next event joins them"
        yield Finding(about="log", ok=True, what=what)


def _runs(campaign: Campaign) -> Iterator[Finding]:
    lines = campaign.run_lines
    yield Finding(about="runs", ok=True, what=f"{len(lines)} in {RUNS}/")
    for line in lines:
        if line.problem:
            begun = has_begun(campaign.root / line.path)
            fix = "restore it from git or a copy" if begun else f"rm -r {line.path}"
            yield Finding(about="runs", ok=False, what=line.problem, fix=fix)
        elif line.state is RunState.CRASHED:
            fix = f"workbench test --resume {line.id}"
            yield Finding(about="runs", ok=False, what=f"{line.id} crashed", fix=fix)


def _changed(root: Path) -> Iterator[Finding]:
    """Say which files of the system under test are changed, and whether anybody will put them back."""
    for each in putback.kept(root):
        if each.record is None:
            what, fix = f"{each.file} cannot be read", f"look at {each.original}, the file as it was"
            yield Finding(about="put back", ok=False, what=what, fix=fix)
        elif not each.left:
            where = "under way" if each.live else f"on {each.record.owner.host}, another host"
            what = f"{each.record.path} is changed for run {each.record.run}, which is {where}"
            yield Finding(about="put back", ok=True, what=what)
        else:
            what = f"{each.record.path} was left changed by run {each.record.run}, which has died"
            fix = "workbench doctor --restore"
            yield Finding(about="put back", ok=False, what=what, fix=fix)


def _worktrees(root: Path) -> Iterator[Finding]:
    """Say what is checked out for arms, and how much room it takes."""
    from workbench.vcs.checkouts import WORKTREES, kept

    found = list(kept(root / WORK))
    if found:
        size = sum(size for _, size in found)
        what = (
            f"{len(found)} in {WORK}/{WORKTREES}/, {size / 2**20:.0f} MB; one that is gone is made anew"
        )
        yield Finding(about="checkouts", ok=True, what=what)


def _arms(campaign: Campaign) -> Iterator[Finding]:
    """Say of each test whether it could be run now; nothing is started for that."""
    from workbench.campaign import testing, verdicts
    from workbench.conduct.pinning import checks_out

    for hypothesis in campaign.registry.hypotheses:
        if hypothesis.missing:
            continue
        try:
            plan = verdicts.plan(campaign, [hypothesis.id], {})
            # what else an engine runs shows once it is started, and what is not checked out yet, then
            if plan.rules.cluster is Cluster.TRIAL and not checks_out(plan):
                testing.arms_of(campaign.root, plan)
        except WorkbenchError as error:
            yield Finding(about=hypothesis.id, ok=False, what=error.what, fix=error.hint)
        else:
            yield Finding(about=hypothesis.id, ok=True, what="can be run")
