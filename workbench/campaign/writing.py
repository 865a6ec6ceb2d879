"""What people and agents add to a campaign: suspects, notes, evidence, rulings. Checked, then appended.

Each kind has a draft: what a command line, or YAML on standard input, may say of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from workbench.campaign.registry import Campaign
from workbench.errors import UsageError
from workbench.model.event import (
    WORDS,
    Actor,
    Bearing,
    Event,
    EvidenceGiven,
    Grade,
    Note,
    Renumbered,
    Reopened,
    Role,
    Ruling,
    Source,
)
from workbench.model.hypothesis import Problem
from workbench.store.allocate import add_hypothesis
from workbench.store.renumber import naming
from workbench.store.renumber import renumber as renumber_file

_PLACE = re.compile(r"(?P<commit>[0-9a-fA-F]{7,64}):(?P<path>[^:\0]+)(?::(?P<line>[1-9][0-9]*))?")
_Draft = TypeVar("_Draft")


@dataclass(frozen=True, kw_only=True, slots=True)
class NoteDraft:
    """Something worth remembering; about hypotheses or runs, or the campaign as a whole."""

    text: str = ""
    about: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceDraft:
    """An item of evidence.

    Attributes:
        bears: Hypothesis to how it bears on it.
        text: What it says, in words.
        source: Where it is from, in words.
        code: `COMMIT:PATH:LINE`, for what was read in code.
        run: The run that it was observed in.
        grade: How it was obtained; None to let the source say: a run is `observed`, a place in code
            `read`, words alone `argued`.
    """

    bears: Mapping[str, Bearing] = field(default_factory=dict)
    text: str = ""
    source: str = ""
    code: str = ""
    run: str = ""
    grade: Grade | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RulingDraft:
    """A decision on a hypothesis: strikes evidence, sets its role, or names what replaces it."""

    hypothesis: str
    because: str = ""
    strike: tuple[str, ...] = ()
    role: Role | None = None
    replaced_by: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReopeningDraft:
    """A wish to have a hypothesis looked at again."""

    hypothesis: str
    because: str = ""


def fields_of(origin: tuple[bytes, str] | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """Give the fields of a draft: those of a YAML text, with what was given in words laid over them.

    Args:
        origin: The text and where it is from, or None.
        given: Fields from a command line; those left empty there are left to the text.
    """
    fields: dict[str, Any] = {}
    if origin:
        from workbench.store.drafts import read_draft  # loads YAML, which words alone do not need

        fields = dict(read_draft(*origin))
    return fields | {name: value for name, value in given.items() if value not in (None, (), "", {})}


def draft(kind: type[_Draft], fields: Mapping[str, Any]) -> _Draft:
    """Make a draft of its fields. Raises UsageError when one is unknown or of the wrong kind."""
    known = kind.__dataclass_fields__  # type: ignore[attr-defined]
    for name in fields:
        if name not in known:
            raise UsageError(f"there is no field {name!r}", hint=f"known: {', '.join(known)}")
    try:
        return msgspec.convert(dict(fields), kind)
    except msgspec.ValidationError as error:
        raise UsageError(str(error)) from error


def new(campaign: Campaign, fields: Mapping[str, Any], by: Actor) -> tuple[str, str]:
    """Add a hypothesis and give its id and its file.

    Args:
        campaign: Where.
        fields: Fields of the file but for schema and id; `title` is due.
        by: Who proposes it.

    Whether it fits with the campaign's other files, with its knobs and levels, `check` tells.

    Raises:
        UsageError: There is no title, or a field is wrong; nothing was written.
    """
    from workbench.store.drafts import render_hypothesis, slug

    title = str(fields.get("title") or "").strip()
    if not title:
        raise UsageError("a hypothesis needs a title", hint="workbench new 'The cache is stale'")

    def render(id: str) -> tuple[str, str]:
        return slug(title), render_hypothesis(id, fields)

    return add_hypothesis(campaign.root, render, by, title=title)


def note(campaign: Campaign, said: NoteDraft, by: Actor) -> Event:
    """Append a note. Raises UsageError when it says nothing or is about something unknown."""
    about = tuple(campaign.named(each) for each in said.about)
    return campaign.journal.append(Note(text=_words("a note", said.text), about=about), by)


def evidence(campaign: Campaign, said: EvidenceDraft, by: Actor) -> Event:
    """Append an item of evidence.

    Raises:
        UsageError: A hypothesis or run is unknown, or the source does not carry the grade.
    """
    if not said.bears:
        raise UsageError("evidence bears on a hypothesis", hint="workbench evidence H5 --against ...")
    ids = [campaign.known(id) for id in said.bears]
    place = _place(said.code) if said.code else Source()
    source = Source(
        run=campaign.run_folder(said.run).name if said.run else "",
        commit=place.commit,
        path=place.path,
        line=place.line,
        text=said.source,
    )
    if source == Source() and not said.text:
        raise UsageError(
            "evidence needs a source",
            hint="say it with -m TEXT, or give --code COMMIT:PATH:LINE or --run RUN",
        )
    by_source = Grade.OBSERVED if said.run else Grade.READ if said.code else Grade.ARGUED
    grade = said.grade or by_source
    _require_source(grade, source)
    bears = dict(zip(ids, said.bears.values(), strict=True))
    body = EvidenceGiven(grade=grade, bears=bears, text=said.text, source=source)
    return campaign.journal.append(body, by)


def rule(campaign: Campaign, said: RulingDraft, by: Actor) -> Event:
    """Append a ruling. Raises UsageError when it rules nothing, or on something unknown."""
    hypothesis = campaign.known(said.hypothesis)
    if not (said.strike or said.role or said.replaced_by):
        raise UsageError(
            "nothing is ruled", hint="give --strike E-xxxx, --role ROLE or --replaced-by ID"
        )
    replaced_by = campaign.known(said.replaced_by) if said.replaced_by else ""
    if replaced_by == hypothesis:
        raise UsageError(f"{hypothesis} cannot be replaced by itself")
    items = {item.id for item in campaign.registry.standings[hypothesis].items}
    for id in said.strike:
        if id not in items:
            raise UsageError(
                f"there is no evidence {id!r} on {hypothesis}",
                hint=f"`workbench show {hypothesis}` lists what there is",
            )
    body = Ruling(
        hypothesis=hypothesis,
        because=_words("a ruling", said.because),
        strikes=said.strike,
        role=said.role,
        replaced_by=replaced_by,
    )
    return campaign.journal.append(body, by)


def reopen(campaign: Campaign, said: ReopeningDraft, by: Actor) -> Event:
    """Append that a hypothesis is to be looked at again; its evidence and state stay."""
    body = Reopened(
        hypothesis=campaign.known(said.hypothesis), because=_words("a reason", said.because)
    )
    return campaign.journal.append(body, by)


def renumber(
    campaign: Campaign, id: str, file: str, by: Actor
) -> tuple[Renumbered, tuple[Problem, ...]]:
    """Give one of two files with the same id another one, and take its events and runs along.

    Gives what was done, and the places in other files that name the old id: each may mean either, and
    only a person can tell.

    Args:
        campaign: Where.
        id: The id that clashed.
        file: The file that is to change, relative to the current folder or to the campaign's.
        by: Who does it.

    Raises:
        UsageError: There is no such file in the campaign, or it has another id.
    """
    here = Path(file).resolve()
    inside = here.exists() and here.is_relative_to(campaign.root)
    relative = str(here.relative_to(campaign.root)) if inside else file
    done = renumber_file(campaign.root, id.upper(), relative, by)
    return done, naming(campaign.root, done.was)


def _words(what: str, text: str) -> str:
    if not text.strip():
        raise UsageError(f"{what} needs words", hint="for whoever asks half a year later")
    return text.strip()


def _place(code: str) -> Source:
    found = _PLACE.fullmatch(code)
    if found is None:
        raise UsageError(
            f"{code!r} is no place in code",
            hint="write COMMIT:PATH:LINE, such as 1a2b3c4:src/pool.py:920",
        )
    line = int(found["line"]) if found["line"] else None
    return Source(commit=found["commit"].lower(), path=found["path"], line=line)


def _require_source(grade: Grade, source: Source) -> None:
    """Refuse a grade that nothing given stands behind."""
    if grade is Grade.INTERVENED:
        raise UsageError(
            "`intervened` is earned by runs: the cause removed, and put back",
            hint="an A/B that somebody else did is `compared`",
        )
    if grade is Grade.READ and not source.commit:
        raise UsageError("what was read stands somewhere", hint="give --code COMMIT:PATH:LINE")
    if grade not in WORDS and not (source.run or source.text):
        raise UsageError(
            f"`{grade}` was seen somewhere", hint="give --run RUN, or --source TEXT for elsewhere"
        )
