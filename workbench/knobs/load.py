"""Knob kind `load`: how hard the engine is driven: sessions in flight, or an option of the workload."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from workbench.knobs.values import check_field, check_json
from workbench.ports import Launch

IN_FLIGHT, SESSIONS = "in_flight", "sessions"


@dataclass(frozen=True, kw_only=True)
class LoadKnobOptions:
    """Options of the knob.

    Attributes:
        field: `in_flight`, or an option of the workload, such as `turns`.
    """

    field: str

    def __post_init__(self) -> None:
        check_field(self.field, "in_flight")
        if self.field == SESSIONS:
            raise ValueError(
                "the number of sessions a block is the same for all arms, or their counts could not be"
                " compared; vary in_flight instead, or run two tests"
            )


class LoadKnob:
    """Gives an arm another load than the plan's."""

    Options = LoadKnobOptions

    def __init__(self, options: LoadKnobOptions) -> None:
        self._field = options.field

    def apply(self, value: Any, launch: Launch) -> Launch:
        """Lay the value over the load of the launch."""
        check_json(self._field, value)
        if self._field == IN_FLIGHT and (type(value) is not int or value < 1):
            raise ValueError(f"in_flight is a whole number from 1 on, not {value!r}")
        return replace(launch, load={**launch.load, self._field: value})
