"""What forms put on record, and how: each with its fields, and the function that writes them.

The campaign is opened anew for each, so that what others have written since is seen.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from typing import Any

from workbench.campaign import claiming, linking, writing
from workbench.campaign.registry import Campaign
from workbench.errors import UsageError
from workbench.model.event import Actor, Bearing, Grade, Role
from workbench.model.intervention import Effect, InterventionState, LinkRole
from workbench.model.prediction import Prediction
from workbench.tui.held import Held
from workbench.tui.viewmodel.similar import similar
from workbench.tui.views.forms import Field, Form, Values

_BEARINGS, _GRADES, _ROLES = (tuple(map(str, each)) for each in (Bearing, Grade, Role))
_LINKS, _STATES, _EFFECTS = (tuple(map(str, each)) for each in (LinkRole, InterventionState, Effect))
_HOUR = 3600.0


class Forms:
    """Makes the forms of a campaign.

    Args:
        held: The campaign.
        actor: Who writes.
        saved: Told what was written: a sentence, and the id of the suspect that it is about.
    """

    def __init__(self, held: Held, actor: Actor, saved: Callable[[str, str], None]) -> None:
        self._held = held
        self._actor = actor
        self._saved = saved

    def add(self, parent: str) -> Form:
        """Make the form for a new suspect."""
        spec = self._held.registry.spec
        fields = [
            Field(name="title", hint="what is wrong, in one sentence"),
            Field(
                name="parent",
                hint="what it refines",
                value=parent,
                words=self._ids,
            ),
            Field(name="symptom", words=tuple(spec.symptoms)),
            Field(
                name="statement",
                hint="the mechanism, for somebody else to understand",
            ),
            Field(name="component", label="component"),
            Field(
                name="predict",
                label="prediction",
                hint="C:T, C:removes or removes, such as 0.17:removes",
            ),
            Field(
                name="control",
                hint="knob=level,... as it was found, predicted to fail",
            ),
            Field(name="treatment", hint="knob=level,... without the suspect"),
            Field(name="workload", words=tuple(spec.workloads)),
            Field(name="falsified_by", label="falsified by", hint="what would speak against it"),
        ]

        def remark(values: Values) -> Sequence[str]:
            words = f"{values['title']} {values['statement']}"
            near = similar(self._held.suspects, words)
            return [*(["is it one of these?", *near] if near else []), *_differing(values)]

        return self._form("a new suspect", fields, self._add, remark)

    def evidence(self, about: str) -> Form:
        """Make the form for an item of evidence."""
        fields = [
            Field(name="about", label="on", hint="suspects: H1, H5", value=about, words=self._ids),
            Field(name="bearing", hint=f"{', '.join(_BEARINGS)}", words=_BEARINGS),
            Field(name="text", hint="what it says"),
            Field(name="code", hint="where it was read: COMMIT:PATH:LINE"),
            Field(name="run", hint="of this campaign, where it was seen"),
            Field(name="source", hint="where it is from, if from elsewhere"),
            Field(name="grade", hint="where the source tells less", words=_GRADES),
        ]
        return self._form("evidence", fields, self._evidence)

    def rule(self, about: str) -> Form:
        """Make the form for a ruling; the evidence that could be struck is named below it."""
        suspect = self._held.suspects.by_id.get(about)
        there = suspect.standing.items if suspect else ()
        items = [f"{item.id} ({item.grade}, {item.bearing})" for item in there]
        fields = [
            Field(name="hypothesis", label="suspect", value=about, words=self._ids),
            Field(name="because", hint="for whoever asks half a year later"),
            Field(name="role", hint=f"{', '.join(_ROLES)}", words=_ROLES),
            Field(name="strike", hint="evidence that no longer counts: E-xxxx, E-yyyy"),
            Field(name="replaced_by", label="replaced by", words=self._ids),
            Field(
                name="reopen",
                hint="yes: have it looked at again, and rule nothing",
                words=("yes",),
            ),
        ]
        return self._form("a ruling", fields, self._rule, lambda _: [", ".join(items)] if items else [])

    def link(self, about: str) -> Form:
        """Make the form for a commit."""
        fields = [
            Field(name="hypothesis", label="suspect", value=about, words=self._ids),
            Field(
                name="commit",
                hint="an id, a branch, a tag; or KNOB=LEVEL, a change of settings",
            ),
            Field(
                name="role",
                label="as",
                hint=f"{', '.join(_LINKS)}",
                words=_LINKS,
            ),
            Field(
                name="state",
                hint="if git is not to say it",
                words=_STATES,
            ),
            Field(name="effect", hint="on the symptom", words=_EFFECTS),
            Field(name="because", hint="for whoever asks half a year later"),
        ]
        return self._form("a commit", fields, self._link)

    def note(self, about: str) -> Form:
        """Make the form for a note."""
        fields = [
            Field(name="text", label="note", hint="worth remembering"),
            Field(name="about", hint="suspects, runs", value=about, words=self._ids),
        ]
        return self._form("a note", fields, self._note)

    def claim(self, about: str) -> Form:
        """Make the form for a claim."""
        fields = [
            Field(name="hypothesis", label="suspect", value=about, words=self._ids),
            Field(name="hours", hint="0 gives it up", value="2"),
        ]
        return self._form("a claim", fields, self._claim)

    # --- writing: in a thread, on the campaign as it is then ----------------------------------------

    def _add(self, values: Values) -> tuple[str, str]:
        arms = [name for name in ("control", "treatment") if values[name]]
        test: dict[str, Any] = {name: _settings(values[name]) for name in arms}
        if values["workload"]:
            test["workload"] = values["workload"]
        names = ("title", "parent", "symptom", "statement", "component", "falsified_by")
        fields: dict[str, Any] = {name: values[name] for name in names if values[name]}
        more = {"test": test, "prediction": _prediction(values["predict"])}
        fields |= {name: value for name, value in more.items() if value}
        id, file = writing.new(self._campaign, fields, self._actor)
        return f"{id} {file}", id

    def _evidence(self, values: Values) -> tuple[str, str]:
        ids = _several(values["about"])
        if not values["bearing"]:
            raise UsageError("how does it bear on them?", hint=f"write {', '.join(_BEARINGS)}")
        fields: dict[str, Any] = {name: values[name] for name in ("text", "code", "run", "source")}
        fields["bears"] = dict.fromkeys(ids, values["bearing"])
        if values["grade"]:
            fields["grade"] = values["grade"]
        said = writing.draft(writing.EvidenceDraft, fields)
        event = writing.evidence(self._campaign, said, self._actor)
        return f"{event.id} on {', '.join(ids)}", ids[0] if ids else ""

    def _rule(self, values: Values) -> tuple[str, str]:
        hypothesis = values["hypothesis"]
        if values["reopen"]:
            again = writing.ReopeningDraft(hypothesis=hypothesis, because=values["because"])
            event = writing.reopen(self._campaign, again, self._actor)
            return f"{event.id}: {hypothesis} is to be looked at again", hypothesis
        fields: dict[str, Any] = {name: values[name] for name in ("because", "replaced_by")}
        fields |= {"hypothesis": hypothesis, "strike": _several(values["strike"])}
        if values["role"]:
            fields["role"] = values["role"]
        event = writing.rule(self._campaign, writing.draft(writing.RulingDraft, fields), self._actor)
        return f"{event.id}: ruled on {hypothesis}", hypothesis

    def _link(self, values: Values) -> tuple[str, str]:
        fields = {name: value for name, value in values.items() if value}
        said = writing.draft(linking.LinkDraft, fields)
        found = linking.link(self._campaign, said, self._actor)
        return f"{', '.join(event.id for event in found)}: linked to {said.hypothesis}", said.hypothesis

    def _note(self, values: Values) -> tuple[str, str]:
        about = _several(values["about"])
        said = writing.NoteDraft(text=values["text"], about=tuple(about))
        event = writing.note(self._campaign, said, self._actor)
        return f"{event.id}: noted", about[0] if about else ""

    def _claim(self, values: Values) -> tuple[str, str]:
        try:
            hours = float(values["hours"])
        except ValueError as error:
            raise UsageError(f"{values['hours']!r} is no number of hours") from error
        release = hours == 0
        seconds = max(hours, 0.0) * _HOUR or claiming.USUAL
        event = claiming.claim(
            self._campaign, values["hypothesis"], self._actor, seconds, release=release
        )
        return f"{event.id}: {'given up' if release else 'claimed'}", values["hypothesis"]

    # --- what they share ----------------------------------------------------------------------------

    @property
    def _campaign(self) -> Campaign:
        return Campaign(self._held.root)

    @property
    def _ids(self) -> tuple[str, ...]:
        return tuple(self._held.suspects.by_id)

    def _form(
        self,
        title: str,
        fields: Sequence[Field],
        write: Callable[[Values], tuple[str, str]],
        remark: Callable[[Values], Sequence[str]] | None = None,
    ) -> Form:
        about: list[str] = []

        def save(values: Values) -> str:
            said, suspect = write(values)
            about.append(suspect.upper())
            return said

        return Form(title, fields, save, lambda said: self._saved(said, about[-1]), remark)


def _several(text: str) -> list[str]:
    return [each.strip() for each in text.replace(" ", ",").split(",") if each.strip()]


def _settings(text: str) -> dict[str, str]:
    """Read `knob=level,knob=level`; whether there are such knobs is for the check of the file."""
    found = {}
    for part in text.split(","):
        knob, equals, level = part.partition("=")
        if not equals or not knob.strip():
            raise UsageError(f"{part.strip()!r} is no setting", hint="write knob=level,knob=level")
        found[knob.strip()] = level.strip()
    return found


def _prediction(text: str) -> dict[str, Any]:
    if not text:
        return {}
    try:
        said = Prediction.parse(text)
    except ValueError as error:
        raise UsageError(str(error), hint="such as 0.17:removes") from error
    rates: dict[str, Any] = {} if said.control is None else {"control": said.control}
    return rates | ({"removes": True} if said.removes else {"treatment": said.treatment})


def _differing(values: Values) -> list[str]:
    """Say in which knobs the arms differ, once both can be read."""
    try:
        control, treatment = (_settings(values[name]) for name in ("control", "treatment"))
    except UsageError:
        return []
    apart = sorted(knob for knob in control | treatment if control.get(knob) != treatment.get(knob))
    if len(apart) == 1:
        return [f"the arms differ in {apart[0]}"]
    return [f"the arms differ in {len(apart)} knobs: {', '.join(apart) or 'none'}; one would tell more"]


def test_arguments(ids: Sequence[str], options: str) -> list[str]:
    """Give the words that test suspects; raises UsageError for options that cannot be read."""
    try:
        words = shlex.split(options)
    except ValueError as error:
        raise UsageError(f"the options cannot be read: {error}") from error
    taken = [word for word in ("--detach", "--display", "--wait") if word in words]
    if taken:
        raise UsageError(f"{taken[0]} is not for here: the run goes on by itself, and shows here")
    return ["test", *ids, *words, "--display", "json"]
