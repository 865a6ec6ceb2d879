"""The falsification tree as nodes with labels; what is drawn of a label depends on its width."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from workbench.model.event import ArmResult
from workbench.model.standing import FALLEN, State
from workbench.report.registry import notes, state_words
from workbench.report.suspects import Roster, Suspect
from workbench.report.text import columns, cut, hits_in_short, inert, padded
from workbench.report.tree import branches

TOP = "symptom:"
_ROOM_FOR_TITLE = 24  # columns below which intervals are left to the detail
_LEAST_TITLE = 12

STYLES: Mapping[State, str] = {
    State.OPEN: "bold",
    State.INCONCLUSIVE: "bold",
    State.SUPPORTED: "bold cyan",
    State.CONFIRMED: "bold green",
    State.CONTESTED: "bold yellow",
    State.FALSIFIED: "dim",
    State.OVERTURNED: "bold red",
    State.SUPERSEDED: "dim",
}
"""How a state is set apart, beside its word and symbol, never instead of them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """A symptom or a suspect.

    Attributes:
        key: `symptom:NAME`, or the id of the suspect.
        parent: Key of the node that it hangs under; empty for a symptom.
        text: Of a symptom, its name and how often it shows; of a suspect, its title.
        suspect: The suspect, None for a symptom.
        void: What it hangs under has fallen.
        matches: It is what is sought, and not only on the way there.
    """

    key: str
    parent: str
    text: str
    suspect: Suspect | None = None
    void: bool = False
    matches: bool = True

    @property
    def fallen(self) -> bool:
        """It is a suspect that is out."""
        return self.suspect is not None and self.suspect.state in FALLEN


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """A piece of a label with how it is set apart."""

    text: str
    style: str = ""


def nodes(suspects: Roster, words: str = "") -> tuple[Node, ...]:
    """Give the nodes of the tree from the top.

    Args:
        suspects: The campaign's.
        words: What is sought in id, title, state, component and statement, every one of the words, in
            whatever case; nodes on the way to one that matches stay. Nothing sought: everything.
    """
    found = list(_nodes(suspects, words.casefold().split()))
    if not words.split():
        return tuple(found)
    kept: set[str] = set()
    for node in reversed(found):  # what hangs under a node comes after it
        if node.matches or node.key in kept:
            kept.update((node.key, node.parent))
    return tuple(node for node in found if node.key in kept)


def matching(found: Sequence[Node]) -> int:
    """Count the suspects that are what is sought."""
    return sum(node.matches and node.suspect is not None for node in found)


def label(node: Node, width: int) -> tuple[Piece, ...]:
    """Draw the label of a node in a number of columns."""
    suspect = node.suspect
    if suspect is None:
        return (Piece(text=cut(node.text, max(width, _LEAST_TITLE)), style="bold"),)
    grade = f" ({suspect.standing.grade})" if suspect.standing.grade else ""
    head = f"{inert(suspect.id)} "
    state = f"{state_words(suspect)}{grade}"
    left = width - columns(head) - columns(state) - 2
    counted = _counted(suspect, left - _ROOM_FOR_TITLE)
    room = max(left - (columns(counted) + 2 if counted else 0), _LEAST_TITLE)
    title = cut(notes(suspect) + suspect.title, room)
    pieces = [
        Piece(text=head, style="" if node.matches else "dim"),
        Piece(text=state, style=STYLES[suspect.state]),
        Piece(
            text=f"  {padded(title, room) if counted else title}", style="dim" if node.fallen else ""
        ),
    ]
    if counted:
        pieces.append(Piece(text=f"  {counted}"))
    return tuple(pieces)


def _nodes(suspects: Roster, sought: Sequence[str]) -> Iterator[Node]:
    for branch in branches(suspects):
        suspect = branch.suspect
        top = f"{TOP}{branch.symptom}"
        if suspect is None:
            name = inert(branch.symptom) or "no symptom named"
            text = f"{name}: {branch.text}" if branch.text else name
            yield Node(key=top, parent="", text=text, matches=_has(text, sought))
            continue
        said = (suspect.id, suspect.title, suspect.state.value, *_written(suspect))
        yield Node(
            key=suspect.id,
            parent=branch.parent or top,
            text=inert(suspect.title),
            suspect=suspect,
            void=branch.void,
            matches=_has("\n".join(said), sought),
        )


def _written(suspect: Suspect) -> tuple[str, ...]:
    file = suspect.hypothesis
    return (file.component, file.statement) if file else ()


def _has(text: str, sought: Sequence[str]) -> bool:
    low = text.casefold()
    return all(word in low for word in sought)


def _counted(suspect: Suspect, room: int) -> str:
    """Write what control and treatment counted, with intervals where there is room for them."""
    item = suspect.deciding
    if item is None or item.verdict is None:
        return ""
    results: list[ArmResult] = list(item.verdict.arms.values())
    in_full = " : ".join(hits_in_short(each.counts, each.interval) for each in results)
    bare = " : ".join(f"{each.counts.hit}/{each.counts.decided}" for each in results)
    return next((text for text in (in_full, bare) if columns(text) <= room), "")
