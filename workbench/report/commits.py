"""The commits that a campaign links, with what git says of each: the reports of `commits`.

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
from dataclasses import dataclass
from typing import Any

from workbench.model.commits import CommitStanding, History, Match, Presence, RevertKind, Undoing
from workbench.model.intervention import LinkRole
from workbench.model.registry import Registry
from workbench.report import values
from workbench.report.changes import SHORT, Change, changes, state_of
from workbench.report.suspects import Suspect, roster
from workbench.report.text import count, inert, percent, printed, sentence_of, wrapped

_LISTED = 5  # commits of a list that are named unless all are asked for
_IN_TREE = (Presence.LIVE, Presence.PARTLY)


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A commit with all the hypotheses that it is linked to in one way.

    Attributes:
        change: As the first of them has it, its state that of all: dead only if it is dead for each.
        suspects: They.
    """

    change: Change
    suspects: tuple[Suspect, ...]


def rows(registry: Registry, history: History | None, ids: Collection[str] = ()) -> tuple[Row, ...]:
    """Gather the commits of a campaign, or of some of its hypotheses, in the order of these."""
    found: dict[tuple[str, str], list[tuple[Change, Suspect]]] = {}
    for suspect in roster(registry):
        if not ids or suspect.id in ids:
            for change in changes(suspect, history):
                key = (change.sha or change.commit, change.kind)
                found.setdefault(key, []).append((change, suspect))
    return tuple(_row(pairs) for pairs in found.values())


def _row(pairs: list[tuple[Change, Suspect]]) -> Row:
    alive = [change for change, _ in pairs if not (change.dead or change.was_dead)]
    return Row(change=alive[0] if alive else pairs[0][0], suspects=tuple(each for _, each in pairs))


def commits(
    registry: Registry, history: History, ids: Collection[str] = (), *, verbose: bool = False
) -> Iterator[str]:
    """Yield the commits, with what became of each.

    Args:
        registry: The campaign.
        history: What git says.
        ids: Hypotheses whose commits are listed; all, if there are none.
        verbose: Every clue, file and commit.
    """
    return printed(_commits(rows(registry, history, ids), history, verbose))


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


def details(
    change: Change, history: History, *, clues: bool = False, files: bool = False
) -> Iterator[str]:
    """Yield what git says of a change, indented under its first line.

    Args:
        change: The change.
        history: Where it is from.
        clues: Every clue to who took it back, and every later commit.
        files: Every file.
    """
    standing = change.standing
    if standing is None:
        return
    if standing.commit is not None:
        yield from wrapped(standing.commit.subject or "(no subject)", indent=2)
    if change.disputed:
        because = f": {inert(change.because)}" if change.because else ""
        yield from wrapped(f"last noted as {inert(change.noted)}{because}", hanging=2)
    if standing.problem:
        unknown = standing.presence in (Presence.UNKNOWN, Presence.ABSENT)
        words = "cannot be told" if unknown else "in part cannot be told"
        yield from wrapped(f"{words}: {inert(standing.problem)}", hanging=2)
    if standing.picked:
        yield f"  the same change is in this history as {_named(standing.picked, history)}"
    yield from _undoes(standing.undoing, history)
    for title, matches in (
        ("reverted by", standing.reverted_by),
        ("made again by", standing.remade_by),
    ):
        for match in matches:
            yield from _match(title, match, history, clues)
    yield from _losing(change.kind, standing, history, clues)
    if files:
        yield from _files(standing)
    if standing.link:
        yield f"  {inert(standing.link)}"


def held_against(history: History) -> str:
    """Say which tree everything was held against, and what limits what can be told."""
    if not history.at:
        return "as noted; nothing was held against a tree"
    name = f"{inert(history.name)}, " if inert(history.name) != history.at else ""
    facts = f" (a {sentence_of(history.facts)} repository)" if history.facts else ""
    return f"held against {name}{history.at[:SHORT]}{facts}"


def _commits(found: tuple[Row, ...], history: History, verbose: bool) -> Iterator[str]:
    if not found:
        yield "no commit is linked yet; link one: workbench link ID COMMIT --as fix"
        return
    yield held_against(history)
    for row in found:
        change = row.change
        yield ""
        named = change.sha[:SHORT] or inert(change.commit)
        effect = "" if change.kind == "cause" else f", effect {inert(change.effect)}"
        ids = sentence_of(suspect.id for suspect in row.suspects)
        yield from wrapped(
            f"{named}  {inert(change.kind)} of {ids}: {state_of(change)}{effect}", indent=0, hanging=2
        )
        yield from details(change, history, clues=verbose, files=verbose)
    dead = [row for row in found if row.change.dead]
    if dead:
        yield ""
        ids = sentence_of(row.change.sha[:SHORT] or row.change.commit for row in dead)
        yield from wrapped(
            f"dead, and still in the tree: {ids}. Take each back by itself: a checkout of its files"
            " would take other work with it.",
            indent=0,
        )


def _match(title: str, match: Match, history: History, verbose: bool) -> Iterator[str]:
    yield from wrapped(f"{title} {_named(match.commit, history)}", hanging=2)
    covered = f", {percent(match.coverage)} of its lines" if match.coverage is not None else ""
    yield f"    known by its {match.how}{covered}"
    if verbose:
        for clue in match.clues:
            yield from wrapped(f"{clue.how}: {inert(clue.detail)}", indent=4, hanging=2)
        if match.purity is not None:
            yield f"    {percent(match.purity)} of what {match.commit[:SHORT]} changes does that"


def _undoes(undoing: Undoing | None, history: History) -> Iterator[str]:
    if undoing is None:
        return
    if undoing.kind in (RevertKind.UNKNOWN, RevertKind.NOT_A_REVERT):
        words = {
            RevertKind.UNKNOWN: "it takes something back",
            RevertKind.NOT_A_REVERT: "it is no revert",
        }
        yield from wrapped(f"{words[undoing.kind]}: {inert(undoing.because)}", hanging=2)
    verb = "makes again" if undoing.kind is RevertKind.RELAND else "takes back"
    for match in undoing.matches:
        yield from wrapped(f"{verb} {_named(match.commit, history)} ({undoing.kind})", hanging=2)


def _losing(kind: str, standing: CommitStanding, history: History, verbose: bool) -> Iterator[str]:
    lost = standing.checkout_would_lose
    reverted = standing.presence is Presence.REVERTED
    if lost:
        number = count(len(lost), "later commit")
        verb = "its revert has lost" if reverted else "a checkout of its files would lose"
        yield f"  {verb} {number}:"
        shown = lost if verbose else lost[:_LISTED]
        for sha in shown:
            yield from wrapped(_named(sha, history), indent=4, hanging=2)
        if len(lost) > len(shown):
            yield f"    and {len(lost) - len(shown)} more"
    if kind == LinkRole.REVERT:  # nobody means to take that back
        return
    if standing.presence in _IN_TREE and standing.taken_back_safely is not None:
        tried = "tried, without conflict" if standing.taken_back_safely else "tried, with conflicts"
        yield f"  to take it back alone ({tried}):"
        yield f"    {command(standing)}"


def command(standing: CommitStanding) -> str:
    """Give the command that takes back this one change and nothing else; empty if it is not there."""
    sha = standing.picked or (standing.commit.sha if standing.commit else "")
    if not sha or standing.presence not in _IN_TREE:
        return ""
    merge = standing.commit is not None and len(standing.commit.parents) > 1 and not standing.picked
    return f"git revert --no-commit {'-m 1 ' if merge else ''}{inert(sha)}"


def _files(standing: CommitStanding) -> Iterator[str]:
    for file in standing.files:
        restored = ", as it was before" if file.restored else ""
        later = f", touched by {count(len(file.later), 'later commit')}" if file.later else ""
        kept = (
            f"{file.presence}, {percent(file.kept)} kept" if 0 < file.kept < 1 else f"{file.presence}"
        )
        problem = f": {inert(file.problem)}" if file.problem else ""
        yield from wrapped(f"{inert(file.path)}: {kept}{restored}{later}{problem}", hanging=4)


def _named(sha: str, history: History) -> str:
    """Name a commit by the start of its id and its subject."""
    subject = history.subjects.get(sha, "")
    return f"{inert(sha)[:SHORT]}  {inert(subject)}" if subject else inert(sha)


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
