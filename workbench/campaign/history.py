"""What git says of the commits that a campaign links: its repository is opened, and each is looked up.

The repository is `repo` of campaign.yaml, from the campaign's folder; without one, the one that the
campaign lies in. Whatever git cannot say of one commit is said beside that commit and hides no other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from workbench.campaign.registry import Campaign
from workbench.errors import GitError, UsageError
from workbench.judge.interventions import linked, named
from workbench.model.commits import CommitStanding, History, LeftOvers
from workbench.model.event import Event, InterventionNoted, Link
from workbench.model.intervention import LinkRole
from workbench.store.layout import own_files, work_folder
from workbench.vcs import history as commits
from workbench.vcs import showing
from workbench.vcs.git import empty_tree, is_sha
from workbench.vcs.index import Index
from workbench.vcs.probes import left_over
from workbench.vcs.repository import Repository
from workbench.vcs.reverts import Reverts
from workbench.vcs.standing import standing

HEAD = "HEAD"
_CACHE = "git"  # in the campaign's folder of caches


def repository(campaign: Campaign) -> Repository:
    """Open the repository that a campaign is about.

    Raises:
        GitError: There is none, or it cannot be read.
    """
    repo = campaign.files.spec.repo
    if repo:
        return Repository(campaign.root / Path(repo).expanduser())
    try:
        return Repository(campaign.root)
    except GitError as error:
        raise GitError(
            "the campaign names no repository, and lies in none",
            hint="say `repo: PATH` in campaign.yaml, from the campaign's folder",
        ) from error


def history(campaign: Campaign, ids: Collection[str] = (), *, at: str | None = None) -> History:
    """Say where the commits of a campaign stand.

    Args:
        campaign: The campaign.
        ids: Hypotheses whose commits are looked up; all, if there are none.
        at: Revision whose tree counts; None for what is checked out.

    Returns:
        The standing of each; nothing was asked of git where nothing is linked.

    Raises:
        GitError: There is no repository, or no such revision in it.
    """
    names = named(campaign.registry, ids)
    if not names:
        return History(at="", name="")
    here = repository(campaign)
    tip = here.resolve(at or HEAD)
    index = Index.open(here, work_folder(campaign.root) / _CACHE)
    reverts = Reverts(here, index)
    found = {name: standing(here, reverts, name, tip) for name in names}
    index.save()
    mentioned = {sha for each in found.values() for sha in _mentioned(each)}
    known = commits.many(here, sorted(mentioned))
    facts = (("bare", here.bare), ("shallow", here.shallow), ("partial", here.partial))
    return History(
        at=tip,
        name=at or HEAD,
        commits=found,
        facts=tuple(name for name, holds in facts if holds),
        subjects={sha: commit.subject for sha, commit in known.items()},
    )


def history_or_problem(campaign: Campaign, ids: Collection[str] = ()) -> History:
    """Say the same for who can do with what was noted: it is told, and no error, if git is no help."""
    try:
        return history(campaign, ids)
    except GitError as error:
        return History(at="", name="", problem=str(error))


def commit_id(campaign: Campaign, name: str) -> str:
    """Give the whole id of a commit that somebody names; without a repository, only whole ids are one.

    Raises:
        GitError: There is no such commit.
        UsageError: There is no repository to look it up in.
    """
    try:
        here = repository(campaign)
    except GitError as error:
        if is_sha(name):
            return name
        raise UsageError(
            f"{name[:70]!r} cannot be looked up: {error.what}",
            hint="give the whole id of the commit, or `repo: PATH` in campaign.yaml",
        ) from error
    return here.resolve(name)


def shown(campaign: Campaign, sha: str) -> tuple[str, ...]:
    """Give a commit as lines that a person reads: message, files, patch.

    Raises:
        GitError: There is no repository, or no such commit in it.
    """
    return showing.shown(repository(campaign), sha)


def ids_of(campaign: Campaign, names: Iterable[str]) -> Mapping[str, str]:
    """Give the whole ids of commits by their names; those that git does not know are left out."""
    try:
        return _resolved(repository(campaign), names)
    except GitError:
        return {}


def left_overs(campaign: Campaign, *, at: str | None = None, since: str | None = None) -> LeftOvers:
    """List what the campaign has left in the code.

    Args:
        campaign: The campaign.
        at: Revision that is looked through; None for what is checked out, with what is not committed.
        since: Revision after which lines count as added; None for where the first linked commit began.

    Raises:
        GitError: There is no repository, or no such revision in it.
    """
    here = repository(campaign)
    tip = here.resolve(at or HEAD)
    shas = _resolved(here, named(campaign.registry))
    begun = here.resolve(since) if since is not None else _before(here, set(shas.values()), tip)
    return left_over(
        here,
        tip,
        since=begun,
        hypotheses=[file.id for file in campaign.files.files],
        instruments=_instruments(campaign, shas),
        leave_out=own_files(campaign.root.resolve(), here.top.resolve()) if here.top else (),
    )


def _mentioned(found: CommitStanding) -> Iterator[str]:
    yield from found.checkout_would_lose
    yield from (match.commit for match in (*found.reverted_by, *found.remade_by))
    if found.picked:
        yield found.picked
    if found.undoing is not None:
        yield from (match.commit for match in found.undoing.matches)


def _resolved(here: Repository, names: Iterable[str]) -> Mapping[str, str]:
    """Give the ids of commits by their names; those that are not there are left out."""
    found = {}
    for name in names:
        try:
            found[name] = here.resolve(name)
        except GitError:  # `commits` says so of each
            continue
    return found


def _before(here: Repository, shas: Collection[str], tip: str) -> str:
    """Give the newest commit that all linked ones come after; empty if none is in this history."""
    there = commits.many(here, [sha for sha in sorted(shas) if commits.is_ancestor(here, sha, tip)])
    if not there:
        return ""
    parents = sorted({commit.parents[0] for commit in there.values() if commit.parents})
    if not parents or any(not commit.parents for commit in there.values()):
        return empty_tree(here.objects)
    return here.objects.run("merge-base", "--octopus", *parents, fine=(0, 1)).decode().strip()


def _instruments(campaign: Campaign, shas: Mapping[str, str]) -> Mapping[str, str]:
    """Give the hypothesis that each commit is an instrument of."""
    registry = campaign.registry
    said: dict[str, list[Event]] = {id: [] for id in registry.standings}
    for event in registry.events:
        if isinstance(event.body, Link | InterventionNoted):
            said.setdefault(event.body.hypothesis, []).append(event)
    stated = {each.id: each.interventions for each in registry.hypotheses}
    return {
        shas[change.commit]: id
        for id, events in said.items()
        for change in linked(stated.get(id, ()), events, shas)
        if change.role == LinkRole.INSTRUMENT and change.commit in shas
    }
