"""Changes made because of a hypothesis, and what became of them: live, reverted, or dead.

A fix whose hypothesis fell is dead while it is still in the tree. Whether it still is, the log says as
far as somebody has noted it; nothing here looks into a repository.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from workbench.model.event import InterventionNoted, Link
from workbench.report.suspects import Suspect

_SETTLED = ("planned", "reverted", "dead")
_CAUSE = "cause"
_LEAST_DIGITS = 7  # a shorter abbreviation of a commit says too little to match by


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """A commit that belongs to a hypothesis.

    Attributes:
        commit: As the file or the log names it.
        kind: fix, mitigation, instrument, revert, or cause.
        state: planned, live, reverted or dead; empty when nobody has noted one.
        effect: fixed, reduced, guarded, none or unmeasured.
        because: What was noted with it.
        dead: Its hypothesis fell, and nobody has noted that it was reverted or never made.
    """

    commit: str
    kind: str
    state: str = ""
    effect: str = "unmeasured"
    because: str = ""
    dead: bool = False

    def __str__(self) -> str:
        if self.kind == _CAUSE:
            return f"{self.kind} {self.commit}"
        state = "dead" if self.dead else self.state or "state not noted"
        because = f" ({self.because})" if self.because else ""
        return f"{self.kind} {self.commit}: {state}, effect {self.effect}{because}"


def changes(suspect: Suspect) -> tuple[Change, ...]:
    """Give the changes of a suspect: those of its file, then those that only the log knows."""
    stated = suspect.hypothesis.interventions if suspect.hypothesis else ()
    found = [Change(commit=each.commit, kind=each.kind) for each in stated]
    for event in suspect.noted:
        match event.body:
            case Link(commit=commit, role=role):
                place = _place(found, commit)
                found[place : place + 1] = [Change(commit=commit, kind=role)]
            case InterventionNoted(commit=commit) as noted:
                place = _place(found, commit)
                known = found[place] if place < len(found) else Change(commit=commit, kind="change")
                said = replace(known, state=noted.state, effect=noted.effect, because=noted.because)
                found[place : place + 1] = [said]
    return tuple(_judged(found, suspect))


def _place(found: list[Change], commit: str) -> int:
    """Find a commit among changes, also by an abbreviation; else give the place after the last."""
    for place, change in enumerate(found):
        short, long = sorted((change.commit, commit), key=len)
        if short == long or (len(short) >= _LEAST_DIGITS and long.startswith(short)):
            return place
    return len(found)


def _judged(found: list[Change], suspect: Suspect) -> Iterator[Change]:
    for change in found:
        dead = change.state == "dead" or (
            suspect.fallen and change.kind not in (_CAUSE, "revert") and change.state not in _SETTLED
        )
        yield replace(change, dead=dead)
