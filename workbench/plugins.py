"""Finds engines, workloads, knobs and classifiers by name, lazily: names first, code when asked for.

In-tree plug-ins register in `pyproject.toml` by entry point exactly as a stranger's would. A broken
plug-in is an error for the run that names it and for nobody else.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import msgspec

from workbench.errors import PluginError, nearest
from workbench.model.plan import Part
from workbench.ports import Engine

DIALECT = "dialect"  # beside the options of an engine: how it is spoken to


class Group(StrEnum):
    """Kinds of plug-in, named as their entry-point groups are."""

    ENGINE = "workbench.engines"
    DIALECT = "workbench.dialects"
    WORKLOAD = "workbench.workloads"
    KNOB = "workbench.knobs"
    CLASSIFIER = "workbench.classifiers"

    @property
    def noun(self) -> str:
        """What one of them is called."""
        return self.name.lower()


def names(group: Group) -> list[str]:
    """List the plug-ins of a group without importing any."""
    return sorted({entry.name for entry in _entries(group)})


def build(group: Group, part: Part) -> Any:
    """Import the plug-in that a part names and build it with the part's options.

    Raises:
        PluginError: Unknown, not importable, without an `Options` dataclass, or options it refuses.
    """
    options = _options(group, part, options_type(group, part.kind))
    return _load(group, part.kind)(options)


def build_engine(part: Part) -> Any:
    """Build an engine with the dialect that its part names beside its options, if it speaks one.

    Options that both have go to both.

    Raises:
        PluginError: As `build`; or it speaks and no dialect is named, or the other way round.
    """
    options = dict(part.options)
    named = options.pop(DIALECT, "")
    speaks = getattr(_load(Group.ENGINE, part.kind), "speaks", False)
    if bool(named) != speaks:
        known = ", ".join(names(Group.DIALECT))
        raise PluginError(
            f"engine {part.kind!r} needs a dialect"
            if speaks
            else f"engine {part.kind!r} speaks no dialect, and {named!r} is named",
            hint=f"write there, say, `dialect: openai`; known: {known}" if speaks else "take it out",
        )
    engine = Part(kind=part.kind, options=options)
    dialect = []
    if speaks:
        dialect = [build(Group.DIALECT, Part(kind=named, options=_shared(named, options)))]
    return _load(Group.ENGINE, part.kind)(
        _options(Group.ENGINE, engine, options_type(Group.ENGINE, part.kind)), *dialect
    )


def engine_type(kind: str) -> type[Engine]:
    """Give the class of an engine. Raises PluginError when it is unknown or cannot be imported."""
    found: type[Engine] = _load(Group.ENGINE, kind)
    return found


def option_names(group: Group, kind: str) -> set[str]:
    """Name the options that a plug-in takes. Raises as `options_type`."""
    return {field.name for field in dataclasses.fields(options_type(group, kind))}


def _shared(dialect: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Give the options of an engine that its dialect has too, such as where the key is."""
    both = {field.name for field in dataclasses.fields(options_type(Group.DIALECT, dialect))}
    return {name: value for name, value in options.items() if name in both}


def options_type(group: Group, kind: str) -> type[Any]:
    """Give the options dataclass of a plug-in.

    Raises:
        PluginError: Unknown, not importable, or without one.
    """
    options = getattr(_load(group, kind), "Options", None)
    if not (isinstance(options, type) and dataclasses.is_dataclass(options)):
        raise PluginError(
            f"{group.noun} {kind!r} has no Options dataclass",
            hint="a plug-in is built as cls(options), from a frozen dataclass named Options",
        )
    return options


def _load(group: Group, kind: str) -> Any:
    entry = _entry(group, kind)
    try:
        return entry.load()
    except Exception as error:
        raise PluginError(
            f"{group.noun} {kind!r} cannot be imported: {type(error).__name__}: {error}",
            hint=f"it is registered as {entry.value}",
        ) from error


@cache
def _entries(group: Group) -> tuple[EntryPoint, ...]:
    """Give what is registered in a group; what is installed is looked through once a process."""
    return tuple(entry_points(group=group.value))


def _entry(group: Group, kind: str) -> EntryPoint:
    found = [entry for entry in _entries(group) if entry.name == kind]
    if found:
        return found[0]
    hint = nearest(kind, names(group)) or "is the package installed? `pip install -e .`"
    raise PluginError(f"there is no {group.noun} {kind!r}", hint=hint)


def _options(group: Group, part: Part, options: type[Any]) -> Any:
    fields = [field.name for field in dataclasses.fields(options)]
    for name in part.options:
        if name not in fields:
            hint = nearest(name, fields) or "known: none"
            raise PluginError(f"{group.noun} {part.kind!r} has no option {name!r}", hint=hint)
    try:
        return msgspec.convert(dict(part.options), options)
    except (msgspec.ValidationError, ValueError) as error:
        raise PluginError(f"{group.noun} {part.kind!r}: {error}") from error
