"""Commits put on record: which belongs to which hypothesis, as what, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.campaign.registry import Campaign
from workbench.errors import UsageError
from workbench.judge.interventions import known, linked, named
from workbench.model.event import Actor, Body, Event, InterventionNoted, Link
from workbench.model.intervention import (
    Effect,
    InterventionState,
    Linked,
    LinkRole,
    is_setting,
    setting_name,
)
from workbench.store.known import Known
from workbench.store.references import check_settings


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkDraft:
    """A commit that belongs to a hypothesis.

    Attributes:
        hypothesis: Its id.
        commit: An id, the start of one, a branch or a tag; or a change of settings, `KNOB=LEVEL`.
        role: What it is to the hypothesis; None where an earlier link says it.
        state: Where it stands; None to leave that to git, and what was noted.
        effect: What it did to the symptom.
        because: Why, or how that was found.
    """

    hypothesis: str = ""
    commit: str = ""
    role: LinkRole | None = None
    state: InterventionState | None = None
    effect: Effect | None = None
    because: str = ""


def link(campaign: Campaign, said: LinkDraft, by: Actor) -> tuple[Event, ...]:
    """Append that a commit belongs to a hypothesis, by its whole id, and what became of it.

    Raises:
        UsageError: Something is missing or unknown, or nothing would be new.
        GitError: There is no such commit.
    """
    from workbench.campaign.history import commit_id, ids_of

    if not said.hypothesis or not said.commit:
        raise UsageError(
            "a link needs a hypothesis and a commit", hint="workbench link H5 1a2b3c4 --as fix"
        )
    hypothesis = campaign.known(said.hypothesis)
    sha = _setting(campaign, said.commit) or commit_id(campaign, said.commit)
    ids = ids_of(campaign, named(campaign.registry, [hypothesis]))
    bodies = _bodies(said, hypothesis, sha, _known(campaign, hypothesis, sha, ids))
    return tuple(campaign.journal.append(body, by) for body in bodies)


def _setting(campaign: Campaign, name: str) -> str:
    """Give a change of settings by its name; empty for what names a commit.

    Raises:
        UsageError: There is no such knob, or no such level.
    """
    if not is_setting(name):
        return ""
    setting = dict(each.partition("=")[::2] for each in name.split())
    known = Known(knobs={name: tuple(knob.levels) for name, knob in campaign.spec.knobs.items()})
    for wrong in check_settings((), setting, known):
        raise UsageError(wrong.what, hint=wrong.hint)
    return setting_name(setting)


def _known(campaign: Campaign, hypothesis: str, sha: str, ids: Mapping[str, str]) -> Linked | None:
    """Give what the campaign knows of a commit already."""
    file = campaign.registry.hypothesis(hypothesis)
    stated = file.interventions if file is not None else ()
    events = [
        event
        for event in campaign.log.events
        if isinstance(event.body, Link | InterventionNoted) and event.body.hypothesis == hypothesis
    ]
    return known(linked(stated, events, ids), sha, ids)


def _bodies(said: LinkDraft, hypothesis: str, sha: str, before: Linked | None) -> list[Body]:
    if said.role is None and before is None:
        raise UsageError(
            f"what is that commit to {hypothesis}?", hint=f"--as {'|'.join(map(str, LinkRole))}"
        )
    role = said.role or (before.role if before else "")
    if role == LinkRole.CAUSE and (said.state or said.effect):
        raise UsageError("a cause is no intervention: it has neither state nor effect")
    bodies: list[Body] = []
    if before is None or before.role != role:
        bodies.append(Link(hypothesis=hypothesis, commit=sha, role=str(role), because=said.because))
    noted = _noted(said, hypothesis, sha, before)
    if noted is not None:
        bodies.append(noted)
    if not bodies:
        raise UsageError(
            f"{hypothesis} has that commit as {role} already",
            hint="say what became of it: --state live, --effect none",
        )
    return bodies


def _noted(
    said: LinkDraft, hypothesis: str, sha: str, before: Linked | None
) -> InterventionNoted | None:
    """Give what is to be noted beside the link; what is not said stays as it was noted last."""
    if said.state is None and said.effect is None:
        return None
    return InterventionNoted(
        hypothesis=hypothesis,
        commit=sha,
        state=str(said.state or ""),
        effect=str(said.effect or (before.effect if before else Effect.UNMEASURED)),
        because=said.because,
    )
