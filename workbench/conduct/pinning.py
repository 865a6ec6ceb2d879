"""Pins what the knobs of a plan mean by names that can come to mean something else: commits, patches.

A plan on record says exactly what is run. So each revision that an arm is set to becomes a whole id,
and what the campaign calls it is kept beside (`named`): a branch that has moved since is another test,
and that is said.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench import plugins
from workbench.conduct.knobs import LEVELS, NAMED, Knobs
from workbench.conduct.sources import read_patch
from workbench.errors import GitError, UsageError
from workbench.model.plan import Arm, Part, Plan
from workbench.store.layout import CAMPAIGN_FILE, own_files
from workbench.vcs import code
from workbench.vcs.git import is_sha
from workbench.vcs.repository import Repository

_ONTO = "onto"  # option of a knob: the commit that it means where no other knob says which
_SHOWN = 5


def pinned(plan: Plan, root: Path) -> Plan:
    """Give a plan in which every commit that an arm is run from is named by its whole id.

    Args:
        plan: The plan, as the campaign's files make it.
        root: The campaign's folder.

    Raises:
        UsageError: There is no such commit or patch, or no repository; or a patch would be laid over a
            commit from which the work tree differs.
    """
    knobs = Knobs(plan.knobs)
    arms = [arm for arm in plan.arms if knobs.of_code(arm)]
    if not arms:
        return plan
    try:
        repository = _repository(plan, root)
        parts = dict(plan.knobs)
        for arm in arms:
            for name in knobs.of_code(arm):
                parts[name] = _with_ids(name, parts[name], arm, repository)
        return replace(plan, knobs=_onto_head(parts, arms, repository, root))
    except GitError as error:
        raise UsageError(f"{CAMPAIGN_FILE}: {error.what}", hint=error.hint) from error


def checks_out(plan: Plan) -> bool:
    """Say whether an arm of a plan is run from a worktree of its own."""
    knobs = Knobs(plan.knobs)
    return any(knobs.of_code(arm) for arm in plan.arms)


def moved(plan: Plan, root: Path) -> Iterator[str]:
    """Say which revisions of a plan on record mean another commit by now."""
    for name, part in plan.knobs.items():
        for level, revision in part.options.get(NAMED, {}).items():
            then = str(part.options[LEVELS][level])
            try:
                now = _repository(plan, root).resolve(str(revision))
            except GitError:
                now = "nothing"
            if now != then:
                yield (
                    f"knob {name}: {revision} meant {then[:12]} when the run was planned, and means"
                    f" {now[:12]} now; it goes on with {then[:12]}, and a new test would be another one"
                )


def _repository(plan: Plan, root: Path) -> Repository:
    if not plan.repo:
        raise GitError(
            "a knob checks code out, and there is no repository",
            hint="write there, say, repo: ../engine",
        )
    return Repository(root / plan.repo)


def _with_ids(name: str, part: Part, arm: Arm, repository: Repository) -> Part:
    """Give a knob whose level is an id, if it is a revision that the level stands for."""
    level = arm.settings[name]
    levels = dict(part.options.get(LEVELS, {}))
    value = levels[level]
    checkout = Knobs({name: part}).checkout(arm)
    revision = checkout.commit if checkout else ""
    if not revision or revision != value or is_sha(revision):
        return part
    named: dict[str, Any] = {**part.options.get(NAMED, {}), level: value}
    levels[level] = _resolved(f"knob {name}", revision, repository)
    return Part(kind=part.kind, options={**part.options, LEVELS: levels, NAMED: named})


def _onto_head(
    parts: dict[str, Part], arms: list[Arm], repository: Repository, root: Path
) -> dict[str, Part]:
    """Pin the commit of knobs that mean what is checked out, and look whether patches are there."""
    knobs = Knobs(parts)
    for arm in arms:
        checkout = knobs.checkout(arm)
        for patch in checkout.patches if checkout else ():
            read_patch(root, patch)
        if checkout is None or is_sha(checkout.commit):
            continue
        if not checkout.commit and repository.top and (changed := _changed(repository.top, root)):
            raise GitError(
                "a patch is to be laid over the commit that is checked out, and"
                f" {repository.top} differs from it in {', '.join(changed[:_SHOWN])}",
                hint="commit that, or name the commit by `onto` or a knob of kind commit",
            )
        sha = _resolved("the patch", checkout.commit or "HEAD", repository)
        for name in knobs.of_code(arm):
            if _ONTO in plugins.option_names(plugins.Group.KNOB, parts[name].kind):
                parts[name] = replace(parts[name], options={**parts[name].options, _ONTO: sha})
    return parts


def _changed(top: Path, root: Path) -> tuple[str, ...]:
    """Name the files of a work tree that differ from its commit, but for the campaign's own."""
    real = Path(os.path.realpath(top))
    return code.changes(real, own_files(Path(os.path.realpath(root)), real))


def _resolved(what: str, revision: str, repository: Repository) -> str:
    try:
        return repository.resolve(revision)
    except GitError as error:
        raise GitError(f"{what}: {error.what}", hint=error.hint) from error
