"""Where the changes of a hypothesis stand: what was noted, held against what git sees in the tree.

Git decides whether a change is there; the hypothesis decides whether a change that is there is alive. A
fix whose hypothesis fell is dead for as long as it is in the tree, also if only a part of it is, and
was dead once it has been taken back. Where git can say nothing, what people noted holds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.model.commits import CommitStanding, Presence
from workbench.model.event import Event, InterventionNoted, Link
from workbench.model.hypothesis import Intervention
from workbench.model.intervention import InterventionState, Linked, LinkRole, is_setting
from workbench.model.registry import Registry

_NEVER_DEAD = (LinkRole.CAUSE, LinkRole.REVERT)
_SETTLED = ("planned", "reverted", "dead")
_LEAST_DIGITS = 7  # a shorter abbreviation of a commit says too little to match by


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """Where a change stands.

    Attributes:
        state: planned, live, reverted or dead, or what was noted in other words; empty if nobody knows.
        was_dead: It is reverted, and its hypothesis had fallen: it never did what it was made for.
        seen: Git sees it so; else it was noted, or follows from what was noted.
        disputed: What was noted last is not what git sees.
    """

    state: str
    was_dead: bool = False
    seen: bool = False
    disputed: bool = False


def linked(
    stated: Iterable[Intervention], events: Iterable[Event], shas: Mapping[str, str] | None = None
) -> tuple[Linked, ...]:
    """Gather the commits of one hypothesis: those of its file, then those that only the log knows.

    Args:
        stated: Interventions of its file.
        events: The log in its order, those of this hypothesis.
        shas: Name of a commit to its id, for names that git knows; one commit may go by several.
    """
    ids = shas or {}
    found = [Linked(commit=each.commit, role=each.kind) for each in stated]
    for event in events:
        match event.body:
            case Link(commit=commit, role=role, because=because):
                place = _place(found, commit, ids)
                before = found[place] if place < len(found) else Linked(commit=commit, role=role)
                said = replace(before, role=role, because=because or before.because)
                found[place : place + 1] = [said]
            case InterventionNoted(commit=commit) as noted:
                place = _place(found, commit, ids)
                before = found[place] if place < len(found) else Linked(commit=commit, role="change")
                found[place : place + 1] = [_noted(before, noted)]
    return tuple(found)


def known(changes: Sequence[Linked], commit: str, shas: Mapping[str, str]) -> Linked | None:
    """Find a commit among changes by whatever name; None if it is not there. `shas` as for `linked`."""
    place = _place(changes, commit, shas)
    return changes[place] if place < len(changes) else None


def named(registry: Registry, ids: Collection[str] = ()) -> tuple[str, ...]:
    """Give the names of all commits that a campaign links, or some of its hypotheses, each once.

    Changes of settings are left out: git knows nothing of them.
    """
    found: dict[str, None] = {}
    for hypothesis in registry.hypotheses:
        if not ids or hypothesis.id in ids:
            found.update(dict.fromkeys(each.commit for each in hypothesis.interventions))
    for event in registry.events:
        match event.body:
            case Link(hypothesis=id, commit=commit) | InterventionNoted(hypothesis=id, commit=commit):
                if not ids or id in ids:
                    found[commit] = None
    return tuple(name for name in found if not is_setting(name))


def judged(change: Linked, *, fallen: bool, standing: CommitStanding | None = None) -> Judged:
    """Say where a change stands.

    Args:
        change: As the campaign knows it.
        fallen: Its hypothesis fell; of a change that several share, all of them.
        standing: What git says of it; None where git was not asked or cannot say.
    """
    can_die = fallen and change.role not in _NEVER_DEAD
    presence = standing.presence if standing is not None else Presence.UNKNOWN
    if presence.in_tree:
        dead = can_die or change.state == "dead"
        state = InterventionState.DEAD if dead else InterventionState.LIVE
        return Judged(state=state.value, seen=True, disputed=change.state == "reverted")
    if presence is Presence.REVERTED:
        was_dead = can_die or change.noted_dead
        disputed = change.state in ("live", "dead")
        state = InterventionState.REVERTED
        return Judged(state=state.value, was_dead=was_dead, seen=True, disputed=disputed)
    if presence is Presence.ABSENT and not change.state:
        return Judged(state=InterventionState.PLANNED.value, seen=True)
    if change.state == "dead" or (can_die and change.state not in _SETTLED):
        return Judged(state=InterventionState.DEAD.value)
    was_dead = change.state == "reverted" and (can_die or change.noted_dead)
    return Judged(state=change.state, was_dead=was_dead)


def _place(found: Sequence[Linked], commit: str, ids: Mapping[str, str]) -> int:
    """Find a commit among changes, also by an abbreviation; else give the place after the last."""
    for place, change in enumerate(found):
        here, there = ids.get(change.commit, change.commit), ids.get(commit, commit)
        short, long = sorted((here, there), key=len)
        if short == long or (len(short) >= _LEAST_DIGITS and long.startswith(short)):
            return place
    return len(found)


def _noted(before: Linked, noted: InterventionNoted) -> Linked:
    return replace(
        before,
        state=noted.state or before.state,
        effect=noted.effect,
        because=noted.because or before.because,
        noted_dead=before.noted_dead or noted.state == "dead",
    )
