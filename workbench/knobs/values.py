"""What several kinds of knobs ask of a value, and of the dotted name of what is set to it."""

from __future__ import annotations

import math
from typing import Any

_DEEPEST = 32  # collections within collections; what is deeper belongs into a file


def check_field(field: str, example: str) -> None:
    """Refuse a dotted name that names nothing; raises ValueError."""
    if not field:
        raise ValueError(f"field is empty; write a dotted name, such as {example}")
    if not field.isprintable() or any(part != part.strip() or not part for part in field.split(".")):
        raise ValueError(f"{field!r} is no dotted name such as {example}")


def check_json(what: str, value: Any) -> None:
    """Refuse a value that JSON cannot say; raises ValueError, which names `what` it was for."""
    if not is_json(value):
        raise ValueError(
            f"{what} cannot be set to {value!r}: write a text, a finite number, true, false, null, or"
            " a list or mapping of such"
        )


def is_json(value: Any, *, deepest: int = _DEEPEST) -> bool:
    """Say whether JSON in UTF-8 can hold a value."""
    if isinstance(value, str):
        return not any("\ud800" <= character <= "\udfff" for character in value)
    if isinstance(value, float):
        return math.isfinite(value)
    if value is None or isinstance(value, bool | int):
        return True
    if deepest == 0:
        return False
    if isinstance(value, list | tuple):
        return all(is_json(each, deepest=deepest - 1) for each in value)
    return isinstance(value, dict) and all(
        isinstance(name, str) and is_json(name) and is_json(each, deepest=deepest - 1)
        for name, each in value.items()
    )


def check_command(argv: tuple[str, ...], timeout: float) -> None:
    """Refuse a command that cannot be executed, or no time for it; raises ValueError."""
    if argv and (not argv[0] or any("\0" in word for word in argv)):
        raise ValueError("build must begin with a command and hold no NUL byte")
    if not timeout > 0:
        raise ValueError(f"build_timeout must be positive, not {timeout}")
