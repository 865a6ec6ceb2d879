"""Lists as rows of text: the commits that hypotheses link, filtered by words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workbench.model.commits import History
from workbench.model.intervention import LinkRole
from workbench.model.registry import Registry
from workbench.report.changes import SHORT, Change, state_of
from workbench.report.commits import Row as CommitRow
from workbench.report.commits import command, details, rows
from workbench.report.text import cut, inert, sentence_of, wrapped


@dataclass(frozen=True, kw_only=True, slots=True)
class Listed:
    """A commit in a list.

    Attributes:
        key: Its whole id, or the name that it is linked by.
        text: A line on where it stands, and a line with its subject.
        row: All that is known of it.
    """

    key: str
    text: str
    row: CommitRow


def commits(registry: Registry, history: History | None, words: str, width: int) -> tuple[Listed, ...]:
    """Give the commits of a campaign as rows.

    Args:
        registry: The campaign.
        history: What git says; None while it is being asked, or has nothing to say.
        words: What is sought, every one of the words, in whatever case.
        width: Columns of a row.
    """
    found = [
        Listed(key=_key(row.change), text="\n".join(_lines(row, width)), row=row)
        for row in rows(registry, history)
    ]
    sought = words.casefold().split()
    return tuple(each for each in found if all(word in each.text.casefold() for word in sought))


def commit_page(listed: Listed, history: History) -> Iterator[str]:
    """Yield all that git says of a commit, and how to take it back alone."""
    change = listed.row.change
    yield f"{change.sha or inert(change.commit)}"
    for suspect in listed.row.suspects:
        yield from wrapped(
            f"{inert(change.kind)} of {suspect.id} ({suspect.state}): {suspect.title}", 2, 2
        )
    if change.because:
        yield from wrapped(f"noted: {change.because}", 2, 2)
    yield from details(change, history, clues=True, files=True)


def take_back(listed: Listed) -> str:
    """Give the command that takes back this one change and nothing else; empty if it is not there."""
    standing = listed.row.change.standing
    return command(standing) if standing is not None else ""


def said(found: Sequence[Listed], history: History | None, of: int, words: str) -> str:
    """Say what the list holds, for the line below it."""
    if history is None:
        return "asking git"
    if words:
        return f"filter '{inert(words)}': {len(found)} of {of}; esc shows all"
    if history.problem:
        return f"as noted; git cannot be asked: {inert(history.problem)}"
    dead = sum(each.row.change.dead for each in found)
    live = sum(each.row.change.state == "live" for each in found)
    return f"{len(found)} linked: {live} live, {dead} dead and still in the tree"


def _key(change: Change) -> str:
    return f"{change.kind} {change.sha or change.commit}"


def _lines(row: CommitRow, width: int) -> Iterator[str]:
    change = row.change
    named = change.sha[:SHORT] or inert(change.commit)
    effect = "" if change.kind == LinkRole.CAUSE else f", effect {inert(change.effect)}"
    state = state_of(change).upper() if change.dead else state_of(change)
    ids = sentence_of(suspect.id for suspect in row.suspects)
    yield cut(f"{named}  {inert(change.kind)} of {ids}: {state}{effect}", width)
    yield cut(f"    {change.subject or change.because or '(git has not said what it is)'}", width)
