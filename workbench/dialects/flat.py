"""Nested settings as dotted keys: what a server tells of itself, so that two of them can be compared.

    flat({"scheduler": {"dtype": "bf16"}, "ranks": [1, None]})
    -> {"scheduler.dtype": "bf16", "ranks.0": "1", "ranks.1": "null"}

Texts stay as they are; true, false, null and numbers are written as JSON writes them, and so is what
is empty. A very long text, such as a chat template, becomes its length and digest: enough to see that
two differ, and short enough for a record.
"""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

LONGEST = 2000  # characters of a value
MOST = 20_000  # values


def flat(value: Any) -> dict[str, str]:
    """Flatten what came as JSON; an object is due, of anything else there is nothing to name.

    Raises:
        ValueError: It holds more values than any server's settings do.
    """
    told: dict[str, str] = {}
    if value and isinstance(value, dict):
        _add("", value, told)
    return told


def _add(key: str, value: Any, told: dict[str, str]) -> None:
    if len(told) > MOST:
        raise ValueError(f"more than {MOST} values")
    if isinstance(value, dict | list) and value:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for name, each in items:
            _add(f"{key}.{name}" if key else str(name), each, told)
    else:
        told[key] = _text(value)


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    if len(text) <= LONGEST:
        return text
    return f"{len(text)} characters, sha256 {hashlib.sha256(text.encode()).hexdigest()}"
