"""JSON values of the model's nouns, for records; keys stay once published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from workbench.model.event import Renumbered, VerdictGiven
from workbench.model.outcome import Counts
from workbench.model.verdict import Evidence, Guard, Other

_LARGEST = 1e308
_IN_FILES = {(VerdictGiven, "harmful"): "reversed", (Renumbered, "was"): "from"}


def counts(of: Counts) -> dict[str, int]:
    """Give counts by status."""
    return {
        "hit": of.hit,
        "clean": of.clean,
        "errored": of.errored,
        "incomplete": of.incomplete,
    }


def evidence(of: Evidence) -> dict[str, float | None]:
    """Give e-values to four digits."""
    values = {
        "no_effect": of.no_effect,
        "margin": of.margin,
        "across_restarts": of.across_restarts,
        "control_low": of.control_low,
        "control_high": of.control_high,
        "treatment_clean": of.treatment_clean,
        "not_halved": of.not_halved,
        "no_harm": of.no_harm,
    }
    return {name: None if value is None else _finite(value) for name, value in values.items()}


def other(of: Other) -> dict[str, Any]:
    """Give what was seen of another symptom."""
    return {
        "arms": {arm: counts(each) for arm, each in of.arms.items()},
        "rates": {arm: [round(bound, 4) for bound in rate] for arm, rate in of.rates.items()},
        "blocks": of.blocks,
        "evidence": {"no_effect": _finite(of.no_effect), "no_harm": _finite(of.no_harm)},
    }


def _finite(value: float) -> float:
    return float(f"{min(value, _LARGEST):.4g}")  # JSON knows no infinity


def guard(of: Guard) -> dict[str, str]:
    """Give a guard that tripped."""
    return {"name": of.name, "detail": of.detail}


def utc(at: datetime) -> str:
    """Give a moment as files spell it, such as 2026-11-29T15:12:00Z."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def plain(value: Any) -> Any:
    """Give any noun of the model as JSON values, field by field, under the names that files use."""
    match value:
        case Counts():
            return counts(value)
        case Evidence():
            return evidence(value)
        case Other():
            return other(value)
        case StrEnum():
            return value.value
        case datetime():
            return utc(value)
        case Mapping():
            return {str(key): plain(each) for key, each in value.items()}
        case list() | tuple() | frozenset():
            return [plain(each) for each in value]
        case float():
            return round(value, 6)
    if is_dataclass(value):
        named = ((each.name, getattr(value, each.name)) for each in fields(value))
        return {_IN_FILES.get((type(value), name), name): plain(each) for name, each in named}
    return value
