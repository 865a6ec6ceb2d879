"""The commits that a campaign links, with what git says of each: the report of `commits`.

`commitrecords` has the same as JSON values.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from workbench.model.commits import (
    CommitStanding,
    FileStanding,
    History,
    Match,
    Presence,
    RevertKind,
    Undoing,
)
from workbench.model.intervention import Effect, LinkRole, is_setting
from workbench.model.registry import Registry
from workbench.report.changes import SHORT, Change, changes, state_of
from workbench.report.suspects import Suspect, roster
from workbench.report.text import count, inert, percent, printed, sentence_of, wrapped

_LISTED = 5  # commits of a list that are named unless all are asked for
_NO_TARGET = {
    RevertKind.UNKNOWN: "it takes something back",
    RevertKind.NOT_A_REVERT: "it is no revert",
}
_Lines = Iterator[tuple[int, str]]  # how far a line is indented, in steps of two columns, and its text


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A commit with all the hypotheses that it is linked to in one way.

    Attributes:
        change: As that one of them has it for which most was noted; dead only if it is dead for each.
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
                if is_setting(change.commit):
                    continue
                key = (change.sha or change.commit, change.kind)
                found.setdefault(key, []).append((change, suspect))
    return tuple(_row(pairs) for pairs in found.values())


def _row(pairs: list[tuple[Change, Suspect]]) -> Row:
    found = [change for change, _ in pairs]
    alive = [change for change in found if not (change.dead or change.was_dead)]
    told = max(
        alive or found, key=lambda change: (change.effect != Effect.UNMEASURED, change.noted != "")
    )
    return Row(change=told, suspects=tuple(each for _, each in pairs))


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


def details(
    change: Change, history: History, *, indent: int = 0, clues: bool = False, files: bool = False
) -> Iterator[str]:
    """Yield what git says of a change, indented under its first line.

    Args:
        change: The change.
        history: Where it is from.
        indent: Columns that its first line is indented by.
        clues: Every clue to who took it back, and every later commit.
        files: Every file.
    """
    if change.standing is not None:
        for level, text in _details(change, change.standing, history, clues, files):
            yield from wrapped(text, indent=indent + 2 * level, hanging=2)


def _details(
    change: Change, standing: CommitStanding, history: History, clues: bool, files: bool
) -> _Lines:
    if standing.commit is not None:
        yield 1, inert(standing.commit.subject) or "(no subject)"
    if change.disputed:
        because = f": {inert(change.because)}" if change.because else ""
        yield 1, f"last noted as {inert(change.noted)}{because}"
    if standing.problem:
        unknown = standing.presence in (Presence.UNKNOWN, Presence.ABSENT)
        words = "cannot be told" if unknown else "in part cannot be told"
        yield 1, f"{words}: {inert(standing.problem)}"
    if standing.picked:
        yield 1, f"the same change is in this history as {_named(standing.picked, history)}"
    yield from _undoes(standing.undoing, history)
    for match in standing.reverted_by:
        yield from _match("reverted by", match, history, clues)
    for match in standing.remade_by:
        yield from _match("made again by", match, history, clues)
    yield from _losing(standing, history, clues)
    if change.kind != LinkRole.REVERT:  # nobody means to take that back
        yield from _safely(standing)
    if files:
        yield from map(_file, standing.files)
    if standing.link:
        yield 1, inert(standing.link)


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
    yield from _dead([row.change for row in found if row.change.dead and row.change.seen])


def _dead(changes: Sequence[Change]) -> Iterator[str]:
    if not changes:
        return
    yield ""
    named = sentence_of(change.sha[:SHORT] for change in changes)
    lost = any(each.standing and each.standing.checkout_would_lose for each in changes)
    alone = "; a checkout of its files would take other work with it" if lost else ""
    yield from wrapped(
        f"dead, and still in the tree: {named}. Take each back by itself{alone}.", indent=0
    )


def _match(title: str, match: Match, history: History, every: bool) -> _Lines:
    yield 1, f"{title} {_named(match.commit, history)}"
    covered = f"; covers {percent(match.coverage)} of the change" if match.coverage is not None else ""
    yield 2, f"known by its {match.how}{covered}"
    if every:
        for clue in match.clues:
            yield 2, f"{clue.how}: {inert(clue.detail)}"
        if match.purity is not None:
            yield 2, f"{percent(match.purity)} of what {inert(match.commit)[:SHORT]} changes does that"


def _undoes(undoing: Undoing | None, history: History) -> _Lines:
    if undoing is None:
        return
    if undoing.kind in _NO_TARGET:
        yield 1, f"{_NO_TARGET[undoing.kind]}: {inert(undoing.because)}"
    verb = "makes again" if undoing.kind is RevertKind.RELAND else "takes back"
    for match in undoing.matches:
        yield 1, f"{verb} {_named(match.commit, history)} ({undoing.kind})"


def _losing(standing: CommitStanding, history: History, every: bool) -> _Lines:
    lost = standing.checkout_would_lose
    if not lost:
        return
    reverted = standing.presence is Presence.REVERTED
    verb = "its revert has lost" if reverted else "a checkout of its files would lose"
    yield 1, f"{verb} {count(len(lost), 'later commit')}:"
    shown = lost if every else lost[:_LISTED]
    for sha in shown:
        yield 2, _named(sha, history)
    if len(lost) > len(shown):
        yield 2, f"and {len(lost) - len(shown)} more"


def _safely(standing: CommitStanding) -> _Lines:
    if standing.presence.in_tree and standing.taken_back_safely is not None:
        tried = "tried, without conflict" if standing.taken_back_safely else "tried, with conflicts"
        yield 1, f"to take it back alone ({tried}):"
        yield 2, command(standing)


def command(standing: CommitStanding) -> str:
    """Give the command that takes back this one change and nothing else; empty if it is not there."""
    sha = standing.picked or (standing.commit.sha if standing.commit else "")
    if not sha or not standing.presence.in_tree:
        return ""
    merge = standing.commit is not None and len(standing.commit.parents) > 1 and not standing.picked
    return f"git revert --no-commit {'-m 1 ' if merge else ''}{inert(sha)}"


def _file(file: FileStanding) -> tuple[int, str]:
    kept = f", {percent(file.kept)} kept" if 0 < file.kept < 1 else ""
    restored = ", as it was before" if file.restored else ""
    later = f", touched by {count(len(file.later), 'later commit')}" if file.later else ""
    problem = f": {inert(file.problem)}" if file.problem else ""
    return 1, f"{inert(file.path)}: {file.presence}{kept}{restored}{later}{problem}"


def _named(sha: str, history: History) -> str:
    """Name a commit by the start of its id and its subject."""
    subject = history.subjects.get(sha, "")
    return f"{inert(sha)[:SHORT]}  {inert(subject)}" if subject else inert(sha)
