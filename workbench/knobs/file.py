"""Knob kind `file`: a value of a JSON or YAML file, or a line or flag of a script.

The knob only says what is to be changed. The conductor changes it before the engine is started, and
puts the file back afterwards; how bytes become others is `store/edits.py`.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, replace
from typing import Any

from workbench.knobs.values import check_field, check_json, is_json
from workbench.ports import Edit, Launch

_WITH_KEYS = (".json", ".yaml", ".yml")


@dataclass(frozen=True, kw_only=True)
class FileKnobOptions:
    """Options of the knob; one of `key` and `line`.

    Attributes:
        path: The file, from the folder that the engine's own paths are from.
        key: Dotted name of a value in a JSON or YAML file, such as `cache.dtype`.
        line: A line, or a flag of a command, that is to be there or not, such as
            `--enable-hierarchical-cache`.
    """

    path: str
    key: str = ""
    line: str = ""

    def __post_init__(self) -> None:
        if not self.path or not self.path.isprintable() or self.path.endswith("/"):
            raise ValueError(f"{self.path!r} is no path of a file")
        if bool(self.key) == bool(self.line):
            raise ValueError("a file is changed at a `key` or at a `line`: name one of the two")
        if self.key:
            check_field(self.key, "cache.dtype")
            if not self.path.endswith(_WITH_KEYS):
                raise ValueError(f"{self.path} has no keys that are known; name a `line` of it")
        else:
            _check_line(self.line)


class FileKnob:
    """Sets one value, or one line: true is there, false is not, anything else follows it."""

    Options = FileKnobOptions

    def __init__(self, options: FileKnobOptions) -> None:
        self._edit = Edit(path=posixpath.normpath(options.path), key=options.key, line=options.line)

    def apply(self, value: Any, launch: Launch) -> Launch:
        """Add the edit to those of the launch, in place of an earlier one of the same."""
        if self._edit.key:
            check_json(self._edit.key, value)
        else:
            _check_value(self._edit.line, value)
        others = tuple(each for each in launch.edits if replace(each, value=None) != self._edit)
        return replace(launch, edits=(*others, replace(self._edit, value=value)))


def _check_line(line: str) -> None:
    if not line.isprintable() or line != line.strip():
        raise ValueError(f"{line!r} is no line: leave blanks around it and control characters away")
    if line.startswith("#"):
        raise ValueError(f"{line!r} is a comment, which sets nothing")
    if line.endswith("\\"):
        raise ValueError(f"{line!r} ends with a backslash, which is put there where it is due")


def _check_value(line: str, value: Any) -> None:
    if not isinstance(value, str | int | float) or not is_json(value):
        raise ValueError(
            f"{line} cannot be followed by {value!r}; write true, false, a text or a number"
        )
    if isinstance(value, str) and any(ord(sign) < 32 or ord(sign) == 127 for sign in value):
        raise ValueError(f"{line} cannot be followed by {value!r}: it holds a control character")
