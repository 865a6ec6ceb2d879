"""The falsification tree: symptoms as roots, suspects under their parents, what fell where it fell.

A record of `tree` is a node, in the order of the text: depth (0 for a symptom), symptom, id (null for a
symptom), title, state, grade, parent (the id that it hangs under, or null), remarks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.model.hypothesis import HYPOTHESIS_ID
from workbench.model.registry import Registry
from workbench.model.standing import State
from workbench.report import proofs
from workbench.report.markdown import label
from workbench.report.matrix import diagnosis
from workbench.report.registry import notes, state_words
from workbench.report.status import symptom_texts
from workbench.report.suspects import Roster, Suspect, roster
from workbench.report.text import WIDTH, columns, count, cut, inert, printed, sentence_of

NODES_DRAWN = 60
_DEEPEST_INDENT = 12
_LABEL_WIDTH = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class Branch:
    """A node of the tree.

    Attributes:
        depth: 0 for a symptom.
        symptom: The symptom at its root; empty where the campaign leaves that open.
        text: Of a symptom, how often it shows; else empty.
        suspect: The suspect, None for a symptom.
        parent: Id that it hangs under; empty under a symptom.
        void: What it hangs under has fallen.
        remarks: What must be said of its links, in words.
        margin: What is drawn before it.
        under: What is drawn before what hangs under it.
    """

    depth: int
    symptom: str
    text: str = ""
    suspect: Suspect | None = None
    parent: str = ""
    void: bool = False
    remarks: tuple[str, ...] = ()
    margin: str = ""
    under: str = ""


def tree(registry: Registry) -> Iterator[str]:
    """Yield the tree as text."""
    suspects = roster(registry)
    yield from printed(_lines(branches(suspects)))
    yield from printed(filter(None, [diagnosis(suspects)]))


def tree_records(registry: Registry) -> Iterator[dict[str, Any]]:
    """Yield a record for each node."""
    for branch in branches(roster(registry)):
        suspect = branch.suspect
        grade = suspect.standing.grade if suspect else None
        yield {
            "depth": branch.depth,
            "symptom": branch.symptom,
            "id": suspect.id if suspect else None,
            "title": suspect.title if suspect else branch.text,
            "state": str(suspect.state) if suspect else None,
            "grade": str(grade) if grade else None,
            "parent": branch.parent or None,
            "remarks": list(branch.remarks),
        }


def branches(suspects: Roster) -> Iterator[Branch]:
    """Walk the tree from the top; every suspect comes exactly once, whatever its links say."""
    parents, loops = _parents(suspects)
    children: dict[str, list[Suspect]] = {}
    tops: dict[str, list[Suspect]] = {}
    for suspect in suspects:
        parent = parents.get(suspect.id)
        if parent is None:
            tops.setdefault(suspect.symptom, []).append(suspect)
        else:
            children.setdefault(parent, []).append(suspect)
    texts = dict(symptom_texts(suspects))
    for symptom in dict.fromkeys([*texts, *sorted(tops)]):
        text = texts.get(symptom, "not in campaign.yaml" if symptom else "")
        yield Branch(depth=0, symptom=symptom, text=text)
        pending = _under(tops.get(symptom, []), Branch(depth=0, symptom=symptom), suspects, loops)
        while pending:
            branch = pending.pop()
            yield branch
            below = children.get(branch.suspect.id, []) if branch.suspect else []
            pending.extend(_under(below, branch, suspects, loops))


def _under(
    below: Sequence[Suspect], above: Branch, suspects: Roster, loops: Mapping[str, str]
) -> list[Branch]:
    """Give the branches under another, the first of them last: they are taken from the end."""
    drawn = []
    for suspect in below:
        last = suspect is below[-1]
        deep = above.depth >= _DEEPEST_INDENT
        mark = f"[depth {above.depth + 1}] " if deep else "`- " if last else "|- "
        drawn.append(
            Branch(
                depth=above.depth + 1,
                symptom=above.symptom,
                suspect=suspect,
                parent=above.suspect.id if above.suspect else "",
                void=above.suspect is not None and above.suspect.fallen,
                remarks=tuple(_remarks(suspect, above, suspects, loops)),
                margin=above.under + mark,
                under=above.under + ("" if deep else "   " if last else "|  "),
            )
        )
    return drawn[::-1]


def _remarks(
    suspect: Suspect, above: Branch, suspects: Roster, loops: Mapping[str, str]
) -> Iterator[str]:
    if above.suspect is not None and above.suspect.fallen:
        yield f"its parent {above.suspect.id} is {above.suspect.state}: the link is void"
    if suspect.state is State.SUPERSEDED and suspect.standing.replaced_by:
        yield f"replaced by {suspect.standing.replaced_by}"
    supported = suspect.state is State.SUPPORTED
    if supported and (shown := proofs.proof_of(suspect)) is not None:
        command = proofs.command(suspect, shown)
        yield proofs.in_short(shown) + (f": {command}" if command else "")
    if suspect.id in loops:
        yield f"its parents go round in a circle: {loops[suspect.id]}"
    unknown = [parent for parent in suspect.parents if parent not in suspects.by_id]
    if unknown:
        yield f"no hypothesis {sentence_of(unknown)}, which it names as a parent"
    hung = above.suspect.id if above.suspect else ""
    others = [each for each in suspect.parents if each != hung and each in suspects.by_id]
    if others and suspect.id not in loops:
        yield f"also under {sentence_of(others)}"
    if suspect.symptom != above.symptom:
        yield f"its symptom is {suspect.symptom or 'not named'}"


def _parents(suspects: Roster) -> tuple[dict[str, str], dict[str, str]]:
    """Find what each suspect hangs under, and cut each circle of parents at its lowest number."""
    parents = {}
    for suspect in suspects:
        known = [parent for parent in suspect.parents if parent in suspects.by_id]
        if known:
            parents[suspect.id] = known[0]
    loops: dict[str, str] = {}
    place = {suspect.id: position for position, suspect in enumerate(suspects)}
    done: set[str] = set()
    for suspect in suspects:
        path: dict[str, None] = {}
        id = suspect.id
        while id in parents and id not in done and id not in path:
            path[id] = None
            id = parents[id]
        if id in path:
            walked = list(path)
            circle = walked[walked.index(id) :]
            first = min(circle, key=place.__getitem__)
            start = circle.index(first)
            loops[first] = sentence_of([*circle[start:], *circle[:start], first], most=6)
            del parents[first]
        done.update(path)
    return parents, loops


def _lines(found: Iterator[Branch]) -> Iterator[str]:
    empty = True
    for branch in found:
        empty = False
        if branch.suspect is None:
            name = inert(branch.symptom) or "no symptom named"
            yield f"{name}: {branch.text}" if branch.text else name
            continue
        head = f"{branch.margin}{_head(branch.suspect)}  "
        yield head + cut(notes(branch.suspect) + branch.suspect.title, max(WIDTH - columns(head), 20))
        for remark in branch.remarks:
            yield f"{branch.under}     ({inert(remark)})"
    if empty:
        yield "no symptoms and no hypotheses yet"


def _head(suspect: Suspect) -> str:
    grade = f" ({suspect.standing.grade})" if suspect.standing.grade else ""
    return f"{inert(suspect.id)} {state_words(suspect)}{grade}"


def mermaid(registry: Registry) -> Iterator[str]:
    """Yield the tree as a Mermaid flowchart of at most 60 nodes; what is folded is counted in words.

    What fell is folded first, and what is far from the top before what is near to it.
    """
    found = list(branches(roster(registry)))
    drawn = _chosen(found)
    folded = [branch for branch in found if id(branch) not in drawn]
    names: dict[str, str] = {}
    yield "flowchart TD"
    edges = []
    root = ""
    for place, branch in enumerate(found):
        if id(branch) not in drawn:
            continue
        if branch.suspect is None:
            root = f"s{place}"
            text = f"{branch.symptom or 'no symptom named'} {branch.text}"
            yield f"  {root}[{label(cut(text, _LABEL_WIDTH))}]"
            continue
        key = branch.suspect.id
        names[key] = key.lower() if HYPOTHESIS_ID.match(key) else f"x{place}"
        title = cut(branch.suspect.title, _LABEL_WIDTH)
        grade = f", {branch.suspect.standing.grade}" if branch.suspect.standing.grade else ""
        yield f"  {names[key]}[{label(f'{key} {title} ({branch.suspect.state}{grade})')}]"
        above = names.get(branch.parent) or root
        edges.append(f"  {above} {'-.->' if branch.void else '-->'} {names[key]}")
    yield from edges
    if folded:
        yield f"  folded[{label(_folded(folded))}]"


def _chosen(found: Sequence[Branch]) -> set[int]:
    """Choose the branches to draw, by identity: symptoms, what leads to a live suspect, then the rest.

    A branch comes after the one that it hangs under, so that none is drawn without it.
    """
    if len(found) <= NODES_DRAWN:
        return {id(branch) for branch in found}
    leads: set[str] = set()
    for branch in reversed(found):
        suspect = branch.suspect
        if suspect is not None and (not suspect.fallen or suspect.id in leads):
            leads.update((suspect.id, branch.parent))

    def rank(branch: Branch) -> tuple[int, int]:
        if branch.suspect is None:
            return 0, 0
        return (1 if branch.suspect.id in leads else 2), branch.depth

    best = sorted(found, key=rank)[: NODES_DRAWN - 1]
    return {id(branch) for branch in best}


def _folded(branches_: Sequence[Branch]) -> str:
    states = [branch.suspect.state for branch in branches_ if branch.suspect is not None]
    counted = [f"{states.count(state)} {state}" for state in State if state in states]
    roots = len(branches_) - len(states)
    if roots:
        counted.append(count(roots, "symptom"))
    return f"{len(branches_)} more not drawn: {', '.join(counted)}"
