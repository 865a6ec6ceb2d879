"""A/Bs that people did by hand, or that were done elsewhere: counts put on record as evidence.

What they say is decided by the rules of a run on the counts alone, never by whoever brings them along.
They are worth a comparison at most (RULES 7): nobody read back what was really running.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from workbench.campaign.registry import Campaign
from workbench.conduct.site import engine_of, rules_of, symptom_of, workload_of
from workbench.errors import UsageError
from workbench.model.event import Actor, Counted, Event, EvidenceGiven, Per, Source
from workbench.model.hypothesis import Hypothesis, Settings, differing
from workbench.model.outcome import Counts
from workbench.model.plan import Cluster, Rules
from workbench.model.prediction import Prediction

_ROLES = ("control", "treatment")
_SHARE = re.compile(r"\s*([0-9]{1,9})\s*/\s*([0-9]{1,9})\s*")
_FIELDS = ("hit", "clean", "errored", "incomplete")
_MOST = 10**9
_MOST_PAIRS = 1000
_EXAMPLE = "write hits of sessions, control first, such as 9/60:0/60"

Count = str | dict[str, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportDraft:
    """An A/B that was done by hand.

    Attributes:
        hypothesis: The suspect that it was done for.
        counts: `K/N:K/N`, control first, or `control` and `treatment` each as `K/N` or as counts by
            status; one for each start of both arms, where starts were counted apart.
        control: Settings of the control; those of the suspect's test unless said.
        treatment: Settings of the treatment, likewise.
        per: What was counted.
        source: Where the counts are from, in words.
        text: What else is to be said.
    """

    hypothesis: str = ""
    counts: str | dict[str, Count] | tuple[str | dict[str, Count], ...] = ()
    control: Mapping[str, str] = field(default_factory=dict)
    treatment: Mapping[str, str] = field(default_factory=dict)
    per: Per = Per.SESSION
    source: str = ""
    text: str = ""


def bring_in(campaign: Campaign, said: ImportDraft, by: Actor) -> Event:
    """Judge the counts of an A/B and append them as evidence.

    Raises:
        UsageError: The suspect is unknown, counts or arms make no sense, nobody says where they are
            from, or they are on record already; nothing was written.
        InvalidFiles: A file that is needed has mistakes.
    """
    hypothesis = campaign.hypothesis(said.hypothesis)
    pairs = _pairs(said.counts)
    settings = _settings(hypothesis, said)
    if not said.source.strip():
        raise UsageError(
            "counts were made somewhere", hint="say where they are from with --source TEXT"
        )
    found = _judged(campaign, hypothesis, pairs, settings, said.per)
    body = _evidence(hypothesis.id, found, said)
    with campaign.journal.locked():
        _refuse_twice(campaign.journal.read().events, body)
        return campaign.journal.append(body, by)


def _evidence(hypothesis: str, found: Counted, said: ImportDraft) -> EvidenceGiven:
    from workbench.judge.by_hand import bearing, grade

    return EvidenceGiven(
        grade=grade(found),
        bears={hypothesis: bearing(found)},
        text=said.text.strip(),
        source=Source(text=said.source.strip()),
        counted=found,
    )


def _judged(
    campaign: Campaign,
    hypothesis: Hypothesis,
    pairs: list[tuple[Counts, Counts]],
    settings: Mapping[str, Settings],
    per: Per,
) -> Counted:
    from workbench.judge.by_hand import counted  # loads numbers, which words alone do not need

    symptom = symptom_of(campaign.spec, hypothesis.symptom)
    rules = _rules(campaign, hypothesis)
    prediction = hypothesis.prediction or Prediction()
    return counted(pairs, settings, rules, prediction, per=per, symptom=symptom.name)


def _rules(campaign: Campaign, hypothesis: Hypothesis) -> Rules:
    """Give the rules that a run of the suspect's test would have; of starts where it has none yet."""
    spec, test = campaign.spec, hypothesis.test
    symptom = symptom_of(spec, hypothesis.symptom)
    if test is None:
        defaults = spec.defaults
        return Rules(
            alpha=defaults.alpha,
            margin=defaults.margin,
            reference=symptom.reference_rate,
            cluster=Cluster.START,
        )
    engine = engine_of(spec, test.engine, {})
    workload = workload_of(spec, engine, test.workload, {})
    return rules_of(spec, engine, workload, symptom, test.margin, {})


def _settings(hypothesis: Hypothesis, said: ImportDraft) -> dict[str, Settings]:
    """Give the settings of both arms: as said, else as the test has them."""
    test = hypothesis.test
    settings: dict[str, Settings] = {
        "control": said.control or (test.control if test else {}),
        "treatment": said.treatment or (test.treatment if test else {}),
    }
    differ = sorted(differing(settings["control"], settings["treatment"]))
    if not differ:
        raise UsageError(
            "what was compared? control and treatment are the same settings",
            hint="say it with --control KNOB=LEVEL,... and --treatment KNOB=LEVEL,...",
        )
    due = sorted(differing(test.control, test.treatment)) if test else differ
    if differ != due:
        raise UsageError(
            f"the arms differ in {', '.join(differ)}, and the test of {hypothesis.id} in"
            f" {', '.join(due)}: their counts say nothing of it",
            hint="name the suspect whose test it is; what else bears on one: workbench evidence",
        )
    return settings


def _pairs(given: Any) -> list[tuple[Counts, Counts]]:
    """Read counts of both arms, for each start."""
    several = [given] if isinstance(given, str | dict) else list(given)
    if not several:
        raise UsageError("there are no counts", hint=f"give --counts or a FILE: {_EXAMPLE}")
    if len(several) > _MOST_PAIRS:
        raise UsageError(f"{len(several)} pairs of counts are more than the {_MOST_PAIRS} allowed")
    return [_pair(each) for each in several]


def _pair(given: str | dict[str, Count]) -> tuple[Counts, Counts]:
    if isinstance(given, str):
        control, colon, treatment = given.partition(":")
        if not colon:
            raise UsageError(f"{given!r} is not the counts of two arms", hint=_EXAMPLE)
        return _counts("control", control), _counts("treatment", treatment)
    if set(given) != set(_ROLES):
        raise UsageError(
            f"counts are of control and treatment, not of {', '.join(map(repr, given)) or 'nothing'}",
            hint="write counts: {control: 9/60, treatment: 0/60}",
        )
    return _counts("control", given["control"]), _counts("treatment", given["treatment"])


def _counts(arm: str, given: Count) -> Counts:
    """Read the counts of one arm: hits of sessions, or each status by its name."""
    if isinstance(given, str):
        found = _SHARE.fullmatch(given)
        hit, all_of_them = (int(found[1]), int(found[2])) if found else (1, 0)
        if hit > all_of_them or not all_of_them:
            raise UsageError(f"{given!r} are no counts of the {arm}", hint=_EXAMPLE)
        return Counts(hit, all_of_them - hit)
    for name, value in given.items():
        if name not in _FIELDS:
            raise UsageError(f"{name!r} is no status", hint=f"statuses: {', '.join(_FIELDS)}")
        if not 0 <= value <= _MOST:
            raise UsageError(f"{value} is no number of sessions of the {arm}", hint="0 or more")
    if not sum(given.values()):
        raise UsageError(f"nothing was counted of the {arm}", hint=_EXAMPLE)
    hit, clean, errored, incomplete = (given.get(name, 0) for name in _FIELDS)
    return Counts(hit, clean, errored, incomplete)


def _refuse_twice(events: tuple[Event, ...], body: EvidenceGiven) -> None:
    """Refuse what is on record already: counted twice, chance would look like proof."""
    for event in events:
        known = event.body
        if (
            isinstance(known, EvidenceGiven)
            and known.counted is not None
            and body.counted is not None
            and known.bears.keys() == body.bears.keys()
            and known.source == body.source
            and _what(known.counted) == _what(body.counted)
        ):
            raise UsageError(
                f"these counts are on record already, as {event.id}",
                hint="of another occasion? then say so in --source",
            )


def _what(of: Counted) -> object:
    settings = {name: dict(arm.settings) for name, arm in of.arms.items()}
    counts = [msgspec.to_builtins(pair) for pair in of.pairs]
    return settings, of.per, counts
