"""Plain scalars of YAML: what a word without quotes stands for, and what others might take it for."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Any

_NULL = ("", "~", "null")
_BOOLEAN = {"true": True, "false": False}
_MEANT = {
    **dict.fromkeys(("true", "yes", "on"), "true"),
    **dict.fromkeys(("false", "no", "off"), "false"),
    "null": "null",
}
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][-+]?[0-9]+)?")
_DIGITS = 18  # beyond them a number is no longer the same in every program
_LONG = 40  # characters that are shown, and remembered
_FIRST = frozenset("-+.=0123456789yYnNoOtTfF")  # of all that can be in doubt
# What readers of YAML 1.1 or 1.2 take for something else than text, and what they take it for.
_DOUBTFUL = (
    (re.compile(r"(?i:yes|no|on|off|true|false)"), "a truth value to some readers of YAML"),
    (re.compile(r"(?i:null)"), "nothing at all to some readers of YAML"),
    (re.compile(r"(?i:[-+]?\.(inf|nan))"), "not a finite number"),
    (re.compile(r"[-+]?0[0-9_]+"), "an octal number to some readers of YAML"),
    (re.compile(r"[-+]?0[xob][0-9a-fA-F_]+"), "a number in another base than ten"),
    (re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?"), "a number in base 60 to YAML"),
    (re.compile(r"[-+]?(?=[0-9]+_)[0-9_]+(\.[0-9_]*)?"), "a number to some readers of YAML"),
    (re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt \t].*)?"), "a date to some readers of YAML"),
    (re.compile(r"="), "a special value to YAML"),
)


def meaning(text: str) -> Any:
    """Give what a plain scalar that is not in doubt stands for."""
    if text in _NULL:
        return None
    if text in _BOOLEAN:
        return _BOOLEAN[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


def doubt_of(text: str) -> tuple[str, str] | None:
    """Say what a plain scalar might be taken for, and what to write instead; None when it is clear."""
    doubt = _doubt(text) if len(text) <= _LONG else _doubt.__wrapped__(text)
    if not doubt:
        return None
    if len(text) > _LONG:
        return f"{text[:_LONG]}... is {doubt}", "quote it"
    hint = f"quote it: {quoted(text)}"
    if choice := _MEANT.get(text.lower()):
        hint = f"write {choice}, or {hint}"
    elif "finite" in doubt:
        hint = f"write a finite number, or {hint}"
    return f"{text} is {doubt}", hint


def doubt_of_key(name: str) -> str:
    """Say what a plain key might be taken for; empty when it can only be text."""
    if name in _NULL:
        return "nothing to YAML"
    if name in _BOOLEAN or _INTEGER.fullmatch(name) or _FLOAT.fullmatch(name):
        return "no text to YAML"
    return _doubt(name) if len(name) <= _LONG else _doubt.__wrapped__(name)


def quoted(text: str) -> str:
    """Quote a plain scalar for a hint."""
    return f'"{text}"'


@lru_cache(maxsize=4096)  # the same few words stand in all files
def _doubt(text: str) -> str:
    if not text or text in (*_BOOLEAN, *_NULL) or text[0] not in _FIRST:
        return ""
    if _INTEGER.fullmatch(text):
        return f"a number of more than {_DIGITS} digits" if len(text.lstrip("-+")) > _DIGITS else ""
    if _FLOAT.fullmatch(text):
        return "" if math.isfinite(float(text)) else "not a finite number"
    return next((what for pattern, what in _DOUBTFUL if pattern.fullmatch(text)), "")
