"""Knob kind `request`: a field of the body of every request, set to a value or taken out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from workbench.knobs.values import check_field, check_json
from workbench.ports import Launch


@dataclass(frozen=True, kw_only=True)
class RequestKnobOptions:
    """Options of the knob.

    Attributes:
        field: Dotted name in the body, such as `temperature` or `chat_template_kwargs.thinking`.
    """

    field: str

    def __post_init__(self) -> None:
        check_field(self.field, "chat_template_kwargs.thinking")


class RequestKnob:
    """Sets one field of each request: any JSON value; null takes the field out."""

    Options = RequestKnobOptions

    def __init__(self, options: RequestKnobOptions) -> None:
        self._field = options.field

    def apply(self, value: Any, launch: Launch) -> Launch:
        """Lay the field over the requests of the launch."""
        check_json(self._field, value)
        return replace(launch, request={**launch.request, self._field: value})
