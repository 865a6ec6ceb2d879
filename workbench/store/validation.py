"""Files judged by their shapes: bytes to nouns of the model, and to all that is wrong with them.

A file is read as far as it is right. Of a campaign, an entry with a mistake is left out and its name is
kept, so that hypotheses which speak of it are not blamed too; of a hypothesis nothing is left out, for
half of a test would be another test.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from workbench.model.campaign import CAMPAIGN_SCHEMA, CampaignSpec
from workbench.model.hypothesis import HYPOTHESIS_SCHEMA, Hypothesis
from workbench.store.findings import tell
from workbench.store.known import Known
from workbench.store.scalars import quoted
from workbench.store.schema.campaign import CampaignShape
from workbench.store.schema.fields import AnyShape, judge
from workbench.store.schema.hypothesis import HypothesisShape
from workbench.store.yamltext import Document, Keys, read_yaml

Fields = dict[str, Any]
Upgrades = Mapping[int, Callable[[Fields], Fields]]
S = TypeVar("S", bound=AnyShape)

# From version N to N + 1, in memory and pure; nobody's file is rewritten.
CAMPAIGN_UPGRADES: Upgrades = {}
HYPOTHESIS_UPGRADES: Upgrades = {}

_SCHEMA = re.compile(r"workbench/([a-z]+)@(0|[1-9][0-9]{0,8})")
_SECTIONS = ("symptoms", "engines", "workloads", "knobs")


@dataclass(slots=True)
class CampaignRead:
    """`campaign.yaml` as far as it is right.

    Attributes:
        document: The file with its places and problems.
        spec: What is right in it.
        known: Names that it has, those of entries with mistakes included.
    """

    document: Document
    spec: CampaignSpec
    known: Known


@dataclass(slots=True)
class HypothesisRead:
    """A hypothesis file.

    Attributes:
        document: The file with its places and problems.
        id: The id that it states, empty when it states none that can be read.
        hypothesis: The hypothesis, None unless the whole file is right.
    """

    document: Document
    id: str
    hypothesis: Hypothesis | None


def read_campaign(
    data: bytes, file: str, *, upgrades: Upgrades = CAMPAIGN_UPGRADES, ours: str = CAMPAIGN_SCHEMA
) -> CampaignRead:
    """Read the bytes of `campaign.yaml`; never raises."""
    document = read_yaml(data, file, is_field=_is_on_of_a_knob)
    if document.value is None:
        return CampaignRead(document, CampaignSpec(title=""), Known())
    _check_levels(document)
    taken = _taken(document)
    fields, newer = _current(document, ours, upgrades)
    if fields is None:
        return CampaignRead(document, CampaignSpec(title=""), Known())
    known = Known.of(fields)
    shape, findings = _judge(CampaignShape, fields, newer)
    tell(document, CampaignShape, findings, taken)
    if shape is None:
        shape = _salvage(fields, findings)
    spec = shape.noun()
    return CampaignRead(document, spec if spec.title != _UNTITLED else replace(spec, title=""), known)


def read_hypothesis(
    data: bytes, file: str, *, upgrades: Upgrades = HYPOTHESIS_UPGRADES, ours: str = HYPOTHESIS_SCHEMA
) -> HypothesisRead:
    """Read the bytes of a hypothesis file; never raises."""
    document = read_yaml(data, file)
    if document.value is None:
        return HypothesisRead(document, "", None)
    wrong, taken = bool(document.problems), _taken(document)
    fields, newer = _current(document, ours, upgrades)
    if fields is None:
        return HypothesisRead(document, "", None)
    shape, findings = _judge(HypothesisShape, fields, newer)
    tell(document, HypothesisShape, findings, taken)
    stated = fields.get("id")
    known = isinstance(stated, str) and not any(each["loc"] == ("id",) for each in findings)
    right = shape is not None and not wrong and (newer or not document.problems)
    return HypothesisRead(
        document,
        str(stated) if known else "",
        shape.noun(file) if right and shape is not None else None,
    )


def check_hypothesis_fields(document: Document) -> None:
    """Note what is wrong with the fields of a hypothesis that need not have an id yet."""
    taken = _taken(document)
    fields, newer = _current(document, HYPOTHESIS_SCHEMA, HYPOTHESIS_UPGRADES, due=False)
    if fields is None:
        return
    _, findings = _judge(HypothesisShape, {"id": "H1"} | fields, newer)
    tell(document, HypothesisShape, findings, taken)


def _is_on_of_a_knob(keys: Keys) -> bool:
    return len(keys) == 3 and keys[0] == "knobs" and keys[2] == "on"


def _check_levels(document: Document) -> None:
    """Tell values of levels that would be written out as another text, such as 1.10."""
    for keys, place in document.places.items():
        if place.plain and keys[:1] == ("knobs",) and "levels" in keys[2:-1]:
            value: Any = document.value
            for key in keys:
                value = value[key]
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if is_number and str(value) != place.plain:
                hint = f"quote it: {quoted(place.plain)}"
                document.problem(place.value, f"{place.plain} would be set as {value}", hint)


def _current(
    document: Document, ours: str, upgrades: Upgrades, *, due: bool = True
) -> tuple[Fields | None, bool]:
    """Give the fields as the present version has them, and whether a newer version wrote them.

    None for the fields of an older version that nothing is known of.
    """
    fields: Fields = dict(document.value)
    thing, _, present = ours.partition("@")
    stated = fields.pop("schema", None)
    if stated is None and "schema" not in document.value and not due:
        return fields, False
    found = _SCHEMA.fullmatch(stated) if isinstance(stated, str) else None
    if found is None or f"workbench/{found[1]}" != thing:
        offset = document.places.get(("schema",), document.places[()]).value
        what = "has no schema" if stated is None else f"has the schema {stated!r}, not {ours}"
        hint = f"its first line is `schema: {ours}`" if stated is None else f"write {ours}"
        document.problem(offset, what, hint)
        return fields, False
    version = int(found[2])
    if version > int(present):
        offset = document.places["schema",].value
        document.problem(
            offset,
            "was written by a newer workbench; read as far as understood",
            "upgrade the workbench",
        )
        return fields, True
    for step in range(version, int(present)):
        if step not in upgrades:
            what, hint = f"has format {step}, which is unknown", f"write {ours}"
            document.problem(document.places["schema",].value, what, hint)
            return None, False
        fields = upgrades[step](deepcopy(fields))
    return fields, False


def _judge(shape: type[S], fields: Fields, newer: bool) -> tuple[S | None, list[Any]]:
    found, findings = judge(shape, fields)
    if newer and any(each["type"] == "extra_forbidden" for each in findings):
        # Fields that only the newer workbench knows are no mistakes.
        return _judge(shape, _without(fields, findings, "extra_forbidden"), newer=True)
    return found, findings


def _without(fields: Fields, findings: list[Any], kind: str) -> Fields:
    fields = deepcopy(fields)
    for finding in findings:
        if finding["type"] == kind:
            *way, last = finding["loc"]
            here: Any = fields
            for part in way:
                here = here[part]
            del here[last]
    return fields


# --- what is right in a campaign that has mistakes ------------------------------------------------

_UNTITLED = "untitled"


def _salvage(fields: Fields, findings: list[Any]) -> CampaignShape:
    """Leave out the smallest entries that hold the findings."""
    fields = dict(fields)
    for finding in findings:
        top, *below = finding["loc"]
        entries = fields.get(top)
        if top in _SECTIONS and below and isinstance(entries, dict):
            fields[top] = {name: each for name, each in entries.items() if name != below[0]}
        else:
            fields.pop(top, None)
    fields.setdefault("title", _UNTITLED)
    shape, again = _judge(CampaignShape, fields, newer=False)
    if shape is None:  # what pydantic sees only when the rest is right: leave that out too
        shape = _salvage(fields, again)
    return shape


def _taken(document: Document) -> set[tuple[int, int]]:
    """Give the places of doubtful values: what their text stands for is no further mistake."""
    return {(each.line, each.column) for each in document.problems}
