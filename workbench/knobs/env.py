"""Knob kind `env`: a variable of the environment, set to a text or taken out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from workbench.ports import Launch


@dataclass(frozen=True, kw_only=True)
class EnvKnobOptions:
    """Options of the knob.

    Attributes:
        name: Name of the variable.
    """

    name: str

    def __post_init__(self) -> None:
        wrong = next((what for what in _NEVER if what in self.name), None)
        if wrong is not None:
            raise ValueError(f"a variable's name cannot hold {_NEVER[wrong]}: {self.name!r}")
        if not self.name:
            raise ValueError("name is empty; write the variable's name")


_NEVER = {"=": "'='", "\0": "a NUL byte", "\n": "a newline"}


class EnvKnob:
    """Sets one variable: a text or a number is its value, null takes it out."""

    Options = EnvKnobOptions

    def __init__(self, options: EnvKnobOptions) -> None:
        self._name = options.name

    def apply(self, value: Any, launch: Launch) -> Launch:
        """Lay the variable over the environment of the launch."""
        return replace(launch, env={**launch.env, self._name: self._text(value)})

    def _text(self, value: Any) -> str | None:
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ValueError(
                f"{self._name} cannot be set to {value!r}: a variable is a text; quote it, such as"
                ' "1", or write null for a variable that is not set'
            )
        if "\0" in (text := str(value)):
            raise ValueError(f"{self._name} cannot be set to {text!r}: it holds a NUL byte")
        return text
