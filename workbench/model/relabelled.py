"""A run whose stored replies were labelled again: what it would count; never a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from workbench.model.outcome import Counts, Label, Status


class Origin(StrEnum):
    """Where the classifier and the symptom are from that a run is labelled by again."""

    PLAN = "plan"  # as the run was planned
    CAMPAIGN = "campaign"  # as the campaign states the run's own symptom now
    SYMPTOM = "symptom"  # another symptom, by name
    CLASSIFIER = "classifier"  # another classifier, by its kind


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """How many exchanges had one label and have another, or the same, now."""

    before: str
    now: str
    times: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """An exchange with another label or another status than it had.

    Attributes:
        key: Its place in the run.
        before: The label on record.
        now: The label that it gets now.
        was: Its status on record, None where the run did not watch the symptom.
        status: The status that the label now gives it.
        text: The reply as it is kept.
    """

    key: str
    before: Label
    now: Label
    was: Status | None
    status: Status
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Shift:
    """Sessions of an arm before and now.

    Attributes:
        arm: Its name.
        sampled: They were sampled before the first block.
        before: Counts on record, None where the run did not watch the symptom.
        now: Counts by the labels now.
        moved: How many sessions went from one status to another, such as `clean -> hit`.
    """

    arm: str
    sampled: bool
    before: Counts | None
    now: Counts
    moved: Mapping[str, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Relabelled:
    """A run labelled again.

    Attributes:
        run: Its id.
        command: The verb that planned it.
        hypotheses: Those that it serves.
        symptom: What it was judged for.
        classifier: What labelled it, by its kind.
        origin: Where these two are from.
        as_recorded: Both are stated as they were when the run was planned.
        watched: The run watched the symptom, so that there is a status before.
        labels: Labels before and now, of the exchanges that could be labelled again.
        relabelled: How many these are.
        not_kept: Exchanges whose reply was not kept: their label stays.
        altered: Of those labelled again, how many replies are kept cut or masked.
        changed: How many have another label or status now.
        arms: Sessions by arm.
        examples: Some of what changed, where the status changed first.
        problems: What of the run's record is damaged or altered, one line each.
    """

    run: str
    command: str
    hypotheses: tuple[str, ...]
    symptom: str
    classifier: str
    origin: Origin
    as_recorded: bool
    watched: bool
    labels: tuple[Pair, ...]
    relabelled: int
    not_kept: int
    altered: int
    changed: int
    arms: tuple[Shift, ...]
    examples: tuple[Change, ...]
    problems: tuple[str, ...] = ()
