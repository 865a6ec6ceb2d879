"""How far a suspect is on the way to `confirmed`, in words: removed, put back, its path still running.

The record `confirming`: `removed` and `put_back`, ids of runs or null; `exposed`; `lacks`, the first
part that is missing (`a`, `b`, `c`, or empty); `because`, why.
"""

from __future__ import annotations

from typing import Any

from workbench.judge.confirming import Proof, proof
from workbench.model.event import WORDS
from workbench.model.standing import Item, State
from workbench.report.suspects import Suspect
from workbench.report.text import inert

_UP = (State.SUPPORTED, State.CONFIRMED, State.CONTESTED)


def proof_of(suspect: Suspect) -> Proof | None:
    """Give how far it is; None for a suspect that no run speaks for."""
    if suspect.state not in _UP or suspect.standing.grade in WORDS:
        return None
    return proof(suspect.standing.items)


def in_full(found: Proof) -> str:
    """Write which of the three parts there are, and why the first that is missing is."""
    because = inert(found.because)
    if found.removed is None:
        return f"(a) not removed: {because}"
    parts = [f"(a) removed by {_run(found.removed)}"]
    if found.put_back is None:
        return "; ".join([*parts, f"(b) not put back: {because}"])
    parts.append(f"(b) put back by {_run(found.put_back)}")
    path = "(c) its path ran in both arms of both"
    if not found.exposed:
        path = f"(c) its path is not shown to have run in both arms: {because}"
    return "; ".join([*parts, path])


def in_short(found: Proof) -> str:
    """Write the same where space is short, without the runs."""
    if found.removed is None:
        return "not removed with its prediction held"
    if found.put_back is None:
        return "removed, not put back"
    if not found.exposed:
        return "removed and put back; its path is not shown to have run"
    return "removed and put back, its path running"


def command(suspect: Suspect, found: Proof) -> str:
    """Give the command that adds what is missing; empty when nothing is, or no command can."""
    file, id = suspect.hypothesis, inert(suspect.id)
    if file is None or file.test is None or found.confirmed or found.lacks == "a":
        return ""
    if found.lacks == "b" and file.test.put_back is not None:
        return f"workbench test {id} --put-back"
    return f"workbench edit {id}"


def proof_record(suspect: Suspect) -> dict[str, Any] | None:
    """Give the same as JSON values; None for a suspect that no run speaks for."""
    found = proof_of(suspect)
    if found is None:
        return None
    return {
        "removed": _run(found.removed) or None,
        "put_back": _run(found.put_back) or None,
        "exposed": found.exposed,
        "lacks": found.lacks,
        "because": found.because,
    }


def _run(item: Item | None) -> str:
    return item.verdict.run if item is not None and item.verdict is not None else ""
