"""Knob kind `load`: how hard the engine is driven.

Sessions in flight, requests of all these sessions in flight, or an option of the workload. The first
two are not the same: with one session in flight each is done before the next begins, and what a server
keeps of it is still at hand; with one request in flight all sessions are under way and take turns, so
that a server forgets and fetches as it does under load, one thing at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from workbench.knobs.values import check_field, check_json
from workbench.ports import Launch

SESSIONS = "sessions"
WHOLE = ("in_flight", "requests")


@dataclass(frozen=True, kw_only=True)
class LoadKnobOptions:
    """Options of the knob.

    Attributes:
        field: `in_flight`, sessions under way at once; `requests`, how many of their requests are; or
            an option of the workload, such as `turns`.
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
        if self._field in WHOLE and (type(value) is not int or value < 1):
            raise ValueError(f"{self._field} is a whole number from 1 on, not {value!r}")
        return replace(launch, load={**launch.load, self._field: value})
