"""Changes made because of a hypothesis, and what became of them: live, reverted, or dead.

A fix whose hypothesis fell is dead while it is still in the tree. Whether it still is, git says where
it was asked (`History`), and else the log as far as somebody has noted it.
"""

from __future__ import annotations

from dataclasses import dataclass

from workbench.judge.interventions import judged, linked
from workbench.model.commits import CommitStanding, History, Presence
from workbench.model.intervention import LinkRole
from workbench.report.suspects import Suspect
from workbench.report.text import inert, sentence_of

SHORT = 12  # digits of an id where it is to be read and not copied
_WHOLE = (40, 64)  # digits of one
_DIGITS = frozenset("0123456789abcdef")


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """A commit that belongs to a hypothesis.

    Attributes:
        commit: As the file or the log names it.
        kind: fix, mitigation, instrument, revert, or cause.
        state: planned, live, reverted or dead; empty when nobody knows.
        effect: fixed, reduced, guarded, none or unmeasured.
        because: What was noted with it.
        noted: State that was noted last; empty if none was.
        dead: Its hypothesis fell, and nothing says that it was reverted or never made.
        was_dead: It is reverted, and its hypothesis had fallen.
        seen: Git sees it so; else it was noted, or follows from what was.
        disputed: What was noted is not what git sees.
        standing: What git says of it, None where it was not asked.
    """

    commit: str
    kind: str
    state: str = ""
    effect: str = "unmeasured"
    because: str = ""
    noted: str = ""
    dead: bool = False
    was_dead: bool = False
    seen: bool = False
    disputed: bool = False
    standing: CommitStanding | None = None

    def __str__(self) -> str:
        because = f" ({self.because})" if self.because else ""
        if self.kind == LinkRole.CAUSE and not self.seen:
            return f"{self.kind} {self.commit}{because}"
        effect = "" if self.kind == LinkRole.CAUSE else f", effect {self.effect}"
        return f"{self.kind} {self.commit}: {state_of(self)}{effect}{because}"

    @property
    def sha(self) -> str:
        """Its whole id; empty if neither git nor its name tells."""
        if self.standing is not None and self.standing.commit is not None:
            return self.standing.commit.sha
        whole = len(self.commit) in _WHOLE and _DIGITS.issuperset(self.commit)
        return self.commit if whole else ""

    @property
    def subject(self) -> str:
        """First line of its message; empty if git was not asked, or does not have it."""
        found = self.standing.commit if self.standing is not None else None
        return found.subject if found is not None else ""


def changes(suspect: Suspect, history: History | None = None) -> tuple[Change, ...]:
    """Give the changes of a suspect: those of its file, then those that only the log knows."""
    standings = history.commits if history is not None else {}
    stated = suspect.hypothesis.interventions if suspect.hypothesis else ()
    shas = {name: each.commit.sha for name, each in standings.items() if each.commit is not None}
    found = []
    for each in linked(stated, suspect.noted, shas):
        standing = standings.get(each.commit)
        where = judged(each, fallen=suspect.fallen, standing=standing)
        found.append(
            Change(
                commit=each.commit,
                kind=each.role,
                state=where.state,
                effect=each.effect,
                because=each.because,
                noted=each.state,
                dead=where.state == "dead",
                was_dead=where.was_dead,
                seen=where.seen,
                disputed=where.disputed,
                standing=standing,
            )
        )
    return tuple(found)


def state_of(change: Change) -> str:
    """Say in words where a change stands, and who took it back."""
    standing = change.standing
    presence = standing.presence if standing is not None and change.seen else None
    if change.state == "reverted":
        by = (
            sentence_of((each.commit[:SHORT] for each in standing.reverted_by), most=3)
            if standing
            else ""
        )
        taken_back = f"reverted by {by}" if by else "reverted"
        return f"dead {inert(change.kind)}, {taken_back}" if change.was_dead else taken_back
    if presence is Presence.ABSENT:
        return "not in this history"
    part = " in part" if presence is Presence.PARTLY else ""
    return f"{inert(change.state)}{part}" if change.state else "state not noted"
