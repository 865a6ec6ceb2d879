"""Commits that a campaign links as records: what git says of each, as JSON values.

A record of `commits`, one for each commit and what it is linked as:
    commit               its whole id, null if neither git nor its name tells
    hypotheses           those that it is linked to, by number
    kind                 cause, fix, mitigation, instrument, revert
    state                planned, live, reverted, dead; empty if nobody knows
    was_dead             it is reverted, and its hypothesis had fallen
    reverted_by          commit, how, coverage, purity, clues (how, detail): oldest first
    checkout_would_lose  ids of later commits that a checkout of its files would lose; for one that is
                         reverted, those that its revert lost
    effect, because      as noted last
    seen, disputed       git sees it so; what was noted is something else
    named                how the campaign calls it
    subject, at, link    of the commit; `link` is empty where its address is not known
    presence, picked     whether its lines are there; the cherry-pick that stands for it
    remade_by            as `reverted_by`: who made it again
    files                path, presence, kept, restored, later, problem
    safe                 taken_back: whether it can be, as tried, or null; command
    undoes               kind, commits (as `reverted_by`), because; null if it takes nothing back
    problem              why something cannot be told
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from workbench.model.commits import CommitStanding, History, Match
from workbench.model.registry import Registry
from workbench.report import values
from workbench.report.changes import Change
from workbench.report.commits import command, rows


def commit_records(
    registry: Registry, history: History, ids: Collection[str] = ()
) -> Iterator[dict[str, Any]]:
    """Yield a record for each."""
    for row in rows(registry, history, ids):
        change = row.change
        hypotheses = [suspect.id for suspect in row.suspects]
        yield {
            "commit": change.sha or None,
            "hypotheses": hypotheses,
            "kind": change.kind,
            "state": change.state,
            "was_dead": change.was_dead,
            **_git_record(change.standing),
            "effect": change.effect,
            "because": change.because,
            "seen": change.seen,
            "disputed": change.disputed,
            "named": change.commit,
        }


def change_record(change: Change) -> dict[str, Any]:
    """Give a change of one hypothesis as JSON values; `git` is null where git was not asked."""
    return {
        "commit": change.commit,
        "kind": change.kind,
        "state": change.state,
        "effect": change.effect,
        "because": change.because,
        "dead": change.dead,
        "was_dead": change.was_dead,
        "seen": change.seen,
        "disputed": change.disputed,
        "sha": change.sha or None,
        "git": _git_record(change.standing) if change.standing is not None else None,
    }


def history_record(history: History | None) -> dict[str, Any] | None:
    """Say as JSON values what commits were held against; None where nothing was asked."""
    if history is None:
        return None
    facts = list(history.facts)
    return {"at": history.at, "name": history.name, "facts": facts, "problem": history.problem}


def _git_record(standing: CommitStanding | None) -> dict[str, Any]:
    if standing is None:
        standing = CommitStanding(named="", commit=None)
    undoing, commit = standing.undoing, standing.commit
    undoes = None
    if undoing is not None:
        matches = list(map(_match_record, undoing.matches))
        undoes = {"kind": str(undoing.kind), "commits": matches, "because": undoing.because}
    return {
        "reverted_by": list(map(_match_record, standing.reverted_by)),
        "checkout_would_lose": list(standing.checkout_would_lose),
        "subject": commit.subject if commit is not None else None,
        "at": values.utc(commit.at) if commit is not None else None,
        "link": standing.link,
        "presence": str(standing.presence),
        "picked": standing.picked or None,
        "remade_by": list(map(_match_record, standing.remade_by)),
        "files": values.plain(standing.files),
        "safe": {"taken_back": standing.taken_back_safely, "command": command(standing)},
        "undoes": undoes,
        "problem": standing.problem,
    }


def _match_record(match: Match) -> dict[str, Any]:
    return {
        "commit": match.commit,
        "how": str(match.how),
        "coverage": values.plain(match.coverage),
        "purity": values.plain(match.purity),
        "clues": values.plain(match.clues),
    }
