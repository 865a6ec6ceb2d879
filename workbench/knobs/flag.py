"""Knob kind `flag`: a flag on the command line, there, not there, or followed by a value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from workbench.ports import Launch


@dataclass(frozen=True, kw_only=True)
class FlagKnobOptions:
    """Options of the knob.

    Attributes:
        flag: The flag with its dashes, such as `--enable-hierarchical-cache`.
    """

    flag: str

    def __post_init__(self) -> None:
        if not self.flag.strip("-") or not self.flag.startswith("-"):
            raise ValueError(f"a flag begins with a dash and goes on after it, not {self.flag!r}")
        if "=" in self.flag or "\0" in self.flag or any(sign.isspace() for sign in self.flag):
            raise ValueError(
                f"a flag cannot hold '=', blanks, newlines or NUL bytes: {self.flag!r}; its value is"
                " what a level stands for"
            )


class FlagKnob:
    """Adds one flag: true is the flag alone, false leaves it away, anything else follows it."""

    Options = FlagKnobOptions

    def __init__(self, options: FlagKnobOptions) -> None:
        self._flag = options.flag

    def apply(self, value: Any, launch: Launch) -> Launch:
        """Add the flag to the end of the command line.

        A flag that stands there already would be on whatever the level says, so that is refused.
        """
        for word in launch.argv:
            if word == self._flag or word.startswith(f"{self._flag}="):
                raise ValueError(f"{word} stands in the command already; take it out there")
        return replace(launch, argv=(*launch.argv, *self._words(value)))

    def _words(self, value: Any) -> tuple[str, ...]:
        if isinstance(value, bool):
            return (self._flag,) if value else ()
        if not isinstance(value, str | int | float):
            raise ValueError(
                f"{self._flag} cannot be followed by {value!r}; write true, false, a text or a number"
            )
        if "\0" in (text := str(value)):
            raise ValueError(f"{self._flag} cannot be followed by {text!r}: it holds a NUL byte")
        return (self._flag, text)
