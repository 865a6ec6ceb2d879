"""Files judged by their shapes: every finding becomes a problem with a place, in words and with a hint.

A file is read as far as it is right. Of a campaign, an entry with a mistake is left out and its name is
kept, so that hypotheses which speak of it are not blamed too; of a hypothesis nothing is left out, for
half of a test would be another test.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from workbench.model.campaign import CAMPAIGN_SCHEMA, CampaignSpec
from workbench.model.hypothesis import HYPOTHESIS_SCHEMA, Hypothesis
from workbench.store.known import Known, nearest
from workbench.store.schema.campaign import CampaignShape
from workbench.store.schema.fields import REFUSAL, AnyShape, field_names, judge
from workbench.store.schema.hypothesis import HypothesisShape
from workbench.store.yamltext import Document, Keys, quoted, read_yaml

Fields = dict[str, Any]
Upgrades = Mapping[int, Callable[[Fields], Fields]]
S = TypeVar("S", bound=AnyShape)

# From version N to N + 1, in memory and pure; nobody's file is rewritten.
CAMPAIGN_UPGRADES: Upgrades = {}
HYPOTHESIS_UPGRADES: Upgrades = {}

_SCHEMA = re.compile(r"workbench/([a-z]+)@(0|[1-9][0-9]{0,8})")
_SECTIONS = ("symptoms", "engines", "workloads", "knobs")
_KEY = "[key]"  # what pydantic calls a key that is at fault itself
_DUE = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list, as in [a, b]",
    "dict_type": "fields, as in {name: value}",
    "model_type": "fields, as in {name: value}",
    "model_attributes_type": "fields, as in {name: value}",
}
_KINDS = {bool: "a truth value", int: "a number", float: "a number", str: "text", list: "a list"}


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
    fields, newer = _current(document, ours, upgrades)
    known = Known.of(fields)
    shape, findings = _judge(CampaignShape, fields, newer)
    _tell(document, CampaignShape, findings)
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
    wrong = bool(document.problems)
    fields, newer = _current(document, ours, upgrades)
    shape, findings = _judge(HypothesisShape, fields, newer)
    _tell(document, HypothesisShape, findings)
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
    fields, newer = _current(document, HYPOTHESIS_SCHEMA, HYPOTHESIS_UPGRADES, due=False)
    _, findings = _judge(HypothesisShape, {"id": "H1"} | fields, newer)
    _tell(document, HypothesisShape, findings)


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
) -> tuple[Fields, bool]:
    """Give the fields as the present version has them, and whether a newer version wrote them."""
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
            document.problem(document.places["schema",].value, f"has format {step}, which is unknown")
            break
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


# --- findings in words ----------------------------------------------------------------------------


def _tell(document: Document, shape: type[AnyShape], findings: list[Any]) -> None:
    """Make problems of findings, but none where the file already has one."""
    taken = {(each.line, each.column) for each in document.problems}
    for finding in findings:
        keys, at_key, what, hint = _words(document, shape, finding)
        line, column = document.key_at(keys) if at_key else document.value_at(keys)
        if (line, column) not in taken:
            place = document.place(keys)
            document.problem(place.key if at_key else place.value, what, hint)
    document.problems.sort(key=lambda each: (each.line, each.column))


def _words(document: Document, shape: type[AnyShape], finding: Any) -> tuple[Keys, bool, str, str]:
    """Give where a finding stands, whether at the key, what is wrong, and what to do."""
    keys: Keys = tuple(finding["loc"])
    at_key = keys[-1:] == (_KEY,)
    if at_key:
        keys = keys[:-1]
    kind, context, value = finding["type"], finding.get("ctx", {}), finding["input"]
    name = str(keys[-1]) if keys else "the file"
    if kind == REFUSAL:
        keys = (*keys, *context["at"])
        subject = "" if at_key else f"{_subject(keys)} "
        return keys, at_key or not keys, f"{subject}{context['what']}", context["hint"]
    if kind == "extra_forbidden":
        known = field_names(shape, keys[:-1])
        return keys, True, f"unknown field {name!r}", nearest(name, known)
    if kind == "missing":
        around = value if isinstance(value, dict) else {}
        near = difflib.get_close_matches(name, [str(each) for each in around], n=1)
        hint = f"is {near[0]!r} meant to be it?" if near else f"add `{name}: ...`"
        owner = keys[:-1]
        whose = f"{_subject(owner)} has" if owner else "has"
        return owner, True, f"{whose} no {name}", hint
    return keys, False, *_wrong_value(document, keys, kind, context, value)


def _wrong_value(
    document: Document, keys: Keys, kind: str, context: Mapping[str, Any], value: Any
) -> tuple[str, str]:
    subject = _subject(keys)
    if value is None:
        return f"{subject} is empty", "give it a value, or take the line out"
    if kind in _DUE:
        plain = document.plain(keys)
        hint = f"quote it: {quoted(plain)}" if kind == "string_type" and plain else ""
        there = _KINDS.get(type(value), "fields")
        shown = f" {plain}" if plain else ""
        return f"{subject} must be {_DUE[kind]}, not {there}{shown}", hint
    if kind == "literal_error":
        words = re.findall(r"'([^']*)'", str(context["expected"]))
        return f"{subject} cannot be {_short(value)}", nearest(str(value), words)
    limits = {
        "greater_than": "greater than {gt}",
        "greater_than_equal": "at least {ge}",
        "less_than": "less than {lt}",
        "less_than_equal": "at most {le}",
    }
    if kind in limits:
        return f"{subject} must be {limits[kind].format(**context)}, not {_short(value)}", ""
    if kind == "too_short":
        return f"{subject} holds nothing", "give it a value, or take the line out"
    return f"{subject} is not right: {kind.replace('_', ' ')}", ""


def _subject(keys: Keys) -> str:
    """Name a value by its keys, as short as it is clear."""
    if not keys:
        return ""
    *above, last = keys
    if isinstance(last, int):
        return f"item {last + 1} of {above[-1]}" if above else f"item {last + 1}"
    return str(last)


def _short(value: Any) -> str:
    shown = repr(value) if isinstance(value, str) else str(value)
    return shown if len(shown) <= 40 else f"{shown[:37]}..."
