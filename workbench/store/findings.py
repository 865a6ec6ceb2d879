"""What pydantic and our shapes find fault with, as problems of a file: places, words, hints."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import Any

from workbench.errors import nearest
from workbench.store.scalars import quoted
from workbench.store.schema.fields import REFUSAL, AnyShape, field_names
from workbench.store.yamltext import MOST, Document, Keys

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


def tell(
    document: Document, shape: type[AnyShape], findings: list[Any], taken: set[tuple[int, int]]
) -> None:
    """Make problems of findings, but none where the file has a doubtful value."""
    for finding in findings[:MOST]:
        keys, at_key, what, hint = _words(document, shape, finding)
        line, column = document.key_at(keys) if at_key else document.value_at(keys)
        if (line, column) not in taken:
            place = document.place(keys)
            document.problem(place.key if at_key else place.value, what, hint)
    if len(findings) > MOST:
        document.problem(0, f"has {len(findings) - MOST} more mistakes than are told here")
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
        at_key = at_key or (isinstance(value, dict) and not context["at"])  # it is about the whole
        return keys, at_key, f"{subject}{context['what']}", context["hint"]
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
