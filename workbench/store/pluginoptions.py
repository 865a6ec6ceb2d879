"""Options of plug-ins in `campaign.yaml`, checked against the options dataclass that each plug-in has.

A stranger's plug-in gets the same care as ours: an unknown kind, an unknown option and a value of the
wrong type are told where they stand, and with the nearest right name.
"""

from __future__ import annotations

import dataclasses
import re
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from workbench.errors import WorkbenchError, nearest
from workbench.model.campaign import CampaignSpec
from workbench.store.references import Finding, Keys
from workbench.store.scalars import quoted
from workbench.store.yamltext import Document

_NOUNS = {
    "engines": "engine",
    "dialects": "dialect",
    "workloads": "workload",
    "knobs": "knob",
    "classifiers": "classifier",
}
_NAMED = {"engines": "lifecycle", "dialects": "dialect"}  # by what field; else it is `kind`
_FIELDS = {
    "engines": ("lifecycle", "dialect", "protected", "allow_foreign"),
    "workloads": ("kind", "sessions", "in_flight", "seed", "keep_texts"),
    "knobs": ("kind", "levels", "readback", "moves", "components", "on"),
    "classifiers": ("kind",),
}
_PART = re.compile(r"\[(\d+)\]|\.([^.\[]+)")
_PLACE = re.compile(r" - at `\$(.*)`$")


def check_options(
    spec: CampaignSpec,
    document: Document,
    options_of: Callable[[str, str], type | None],
    kinds_of: Callable[[str], Sequence[str]] | None,
) -> Iterator[Finding]:
    """Check every plug-in that a campaign names.

    Args:
        spec: The campaign.
        document: Its file.
        options_of: Group and kind to the options dataclass, None when there is no such plug-in.
        kinds_of: Group to the kinds that there are.
    """
    for keys, group, kind, options in _uses(spec):
        at = (*keys, _NAMED.get(group, "kind"))
        try:
            options_type = options_of(group, kind)
        except WorkbenchError as error:  # a broken plug-in is a problem of this place and of no other
            yield Finding(keys=at, what=error.what, hint=error.hint)
            continue
        if options_type is None:
            hint = nearest(kind, kinds_of(group)) if kinds_of else ""
            yield Finding(keys=at, what=f"there is no {_NOUNS[group]} {kind!r}", hint=hint)
        elif group in _FIELDS and dataclasses.is_dataclass(options_type):
            yield from _check(keys, group, kind, options, options_type, document)


def _uses(spec: CampaignSpec) -> Iterator[tuple[Keys, str, str, Mapping[str, Any]]]:
    """Give where a plug-in is named, its group, kind and options."""
    for name, symptom in spec.symptoms.items():
        if symptom.classifier is not None:
            part = symptom.classifier
            yield ("symptoms", name, "classifier"), "classifiers", part.kind, part.options
    for name, engine in spec.engines.items():
        yield ("engines", name), "engines", engine.lifecycle, engine.options
        if engine.dialect:  # its options stand among the engine's
            yield ("engines", name), "dialects", engine.dialect, {}
    for name, workload in spec.workloads.items():
        yield ("workloads", name), "workloads", workload.kind, workload.options
    for name, knob in spec.knobs.items():
        yield ("knobs", name), "knobs", knob.kind, knob.options
        for where, each in knob.on.items():
            options = {key: value for key, value in each.items() if key not in _FIELDS["knobs"]}
            yield ("knobs", name, "on", where), "knobs", str(each["kind"]), options


def _check(
    keys: Keys,
    group: str,
    kind: str,
    options: Mapping[str, Any],
    options_type: type,
    document: Document,
) -> Iterator[Finding]:
    fields = [field.name for field in dataclasses.fields(options_type)]
    wrong = False
    for name, value in options.items():
        if name not in fields:
            wrong = True
            hint = nearest(name, [*fields, *_FIELDS[group]])
            what = f"{_NOUNS[group]} {kind!r} has no option {name!r}"
            yield Finding(keys=(*keys, name), at_key=True, what=what, hint=hint)
        elif found := _type_error((*keys, name), value, _types(options_type).get(name, Any), document):
            wrong = True
            yield found
    if wrong:
        return
    try:
        msgspec.convert(dict(options), options_type)
    except (ValueError, TypeError) as error:
        yield Finding(keys=keys, at_key=True, what=f"{_NOUNS[group]} {kind!r}: {_first_line(error)}")


def _type_error(keys: Keys, value: Any, due: Any, document: Document) -> Finding | None:
    try:
        msgspec.convert(value, due)
    except msgspec.ValidationError as error:
        text = _first_line(error)
        place = _PLACE.search(text)
        name, way = str(keys[-1]), place[1] if place else ""
        # `[...]` stands for some key of a mapping: nobody knows which, so the place is that above it.
        for index, field in _PART.findall(way.partition("[...]")[0]):
            keys = (*keys, int(index) if index else field)
        plain = document.plain(keys)
        hint = f"quote it: {quoted(plain)}" if plain and "Expected `str`" in text else ""
        what = _PLACE.sub("", text)
        return Finding(keys=keys, what=f"{name}{way}: {what[:1].lower()}{what[1:]}", hint=hint)
    except (TypeError, ValueError):  # a type that cannot be checked alone; the whole is tried later
        return None
    return None


def _types(options_type: type) -> dict[str, Any]:
    try:
        return typing.get_type_hints(options_type, include_extras=True)
    except (NameError, TypeError):
        return {}


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
