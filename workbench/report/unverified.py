"""What a campaign rests on and nobody has shown; the ledger lists it, and so do the faces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from workbench.model.event import WORDS
from workbench.model.standing import State
from workbench.report import proofs
from workbench.report.changes import changes
from workbench.report.deployed import untested
from workbench.report.matrix import diagnosis
from workbench.report.suspects import Roster, Suspect
from workbench.report.text import inert, printed, wrapped


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """Something that is not shown.

    Attributes:
        text: It, in words; untrusted.
        suspect: Id of the suspect that it is about; empty for the campaign as a whole.
        joint: What stands between the id and the text.
    """

    text: str
    suspect: str = ""
    joint: str = " "


def points(suspects: Roster) -> Iterator[Point]:
    """Yield what is not shown: of the campaign, of each suspect by number, of the files."""
    for text in (diagnosis(suspects), untested(suspects.registry)):
        if text:
            yield Point(text=text)
    for suspect in suspects:
        yield from _of(suspect, suspects)
    for problem in suspects.registry.problems:
        yield Point(text=f"a file is invalid: {problem}")


def unverified(suspects: Roster) -> Iterator[str]:
    """Yield the same as text."""
    found = [
        line
        for point in points(suspects)
        for line in wrapped(f"{inert(point.suspect)}{point.joint}{point.text}".strip(), 0, hanging=4)
    ]
    yield from printed(found or ["nothing known: all that was noted is verified"])


def _of(suspect: Suspect, suspects: Roster) -> Iterator[Point]:
    id = suspect.id
    for each in () if suspect.fallen else suspect.unverified:
        yield Point(suspect=id, text=f"assumes {each.assumption.id}: {each.assumption.text}")
    if suspect.state is State.SUPPORTED and suspect.standing.grade in WORDS:
        yield Point(suspect=id, text="is supported by words; no run has tested it")
    elif suspect.state is State.SUPPORTED and (shown := proofs.proof_of(suspect)):
        yield Point(suspect=id, text=f"is supported, not confirmed: {proofs.in_short(shown)}")
    for change in changes(suspect, suspects.history):
        if change.dead:
            where = "still in the tree" if change.seen else "not noted as reverted"
            yield Point(suspect=id, joint=": ", text=f"{change}, {where}")
    for run in suspect.edited:
        yield Point(suspect=id, joint=": ", text=f"prediction or test changed after {run}; see there")
    if any(one.self_ruled for one in suspect.standing.rulings):
        yield Point(suspect=id, text="was ruled on by its own author")
    if suspect.hypothesis is None:
        yield Point(suspect=id, text="has no valid file")
