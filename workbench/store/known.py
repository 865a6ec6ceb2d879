"""The names that a campaign has, also of entries with a mistake, and which of them may be meant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True, kw_only=True, slots=True)
class Known:
    """What hypotheses may speak of. None for what cannot be known, because the file is broken there.

    Attributes:
        symptoms: Names of symptoms.
        engines: Names of engines.
        workloads: Names of workloads.
        knobs: Knob to its levels.
        engine: The campaign names an engine that tests run on.
    """

    symptoms: tuple[str, ...] | None = None
    engines: tuple[str, ...] | None = None
    workloads: tuple[str, ...] | None = None
    knobs: Mapping[str, tuple[str, ...] | None] | None = None
    engine: bool = False

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Self:
        """Collect the names of a campaign's fields, right or not."""
        knobs = _section(fields, "knobs")
        return cls(
            symptoms=_names(_section(fields, "symptoms")),
            engines=_names(_section(fields, "engines")),
            workloads=_names(_section(fields, "workloads")),
            knobs=None if knobs is None else {name: _levels(knob) for name, knob in knobs.items()},
            engine="engine" in fields,
        )

    @property
    def whole(self) -> bool:
        """Whether every reference can be checked."""
        sections = (self.symptoms, self.engines, self.workloads, self.knobs)
        return all(each is not None for each in sections) and None not in (self.knobs or {}).values()


def _section(fields: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    found = fields.get(name, {})
    return found if isinstance(found, dict) else None


def _names(section: dict[str, Any] | None) -> tuple[str, ...] | None:
    return None if section is None else tuple(section)


def _levels(knob: Any) -> tuple[str, ...] | None:
    levels = knob.get("levels") if isinstance(knob, dict) else None
    return tuple(levels) if isinstance(levels, dict) and levels else None
