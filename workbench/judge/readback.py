"""Did a setting take effect? What was read back, held against what the level of a knob stands for.

A knob says in `readback` where to look, as one source and what to look for there:

    server_info: KEY    what the server tells of its configuration, a dotted key or the end of one
    environ: NAME       the environment of the process, as the kernel has it
    cmdline: FLAG       its command line, likewise
    log: REGEX          the last match in the log of this start: its first group, or that there is one
    command: [ARGV]     what a command prints
    file: PATH          the sha256 of a file, or the beginning of it
    checkout: KEY       which code it says it runs: a key of its configuration that holds the commit;
                        what stands beside it, such as digests of files, is compared as well

What is found must be the level's name or its value, or what `expect` names for the level; `at_least`
and `at_most` compare numbers. Nothing found is never right: what cannot be read back has no proof.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

SERVER_INFO, ENVIRON, CMDLINE, LOG, COMMAND, FILE, CHECKOUT = SOURCES = (
    "server_info",
    "environ",
    "cmdline",
    "log",
    "command",
    "file",
    "checkout",
)
NOT_SET = "(not set)"  # of a variable that is not there, which may be what is due
_ID, _SHORT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?"), re.compile(r"[0-9a-fA-F]{7,64}")
_SPOKEN = {"True": "true", "False": "false", "None": "null"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Readback:
    """Where to look, and what is due there.

    Attributes:
        source: One of SOURCES.
        what: What to look for there.
        expect: Level to what is found when it has taken effect.
        at_least: Level to the least number that is right.
        at_most: Level to the greatest.
    """

    source: str
    what: Any
    expect: Mapping[str, Any] = field(default_factory=dict)
    at_least: Mapping[str, float] = field(default_factory=dict)
    at_most: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> Self | None:
        """Read what a knob says; None if it says nothing."""
        source = next((source for source in SOURCES if source in written), None)
        if source is None:
            return None
        rest = {name: written[name] for name in ("expect", "at_least", "at_most") if name in written}
        return cls(source=source, what=written[source], **rest)

    def __str__(self) -> str:
        what = self.what if isinstance(self.what, str) else " ".join(map(str, self.what))
        return f"{self.source} {what}"

    def due(self, level: str, value: Any) -> str:
        """Say what is to be found at a level that stands for `value`."""
        bounds = [
            f"{words} {bound[level]:g}"
            for words, bound in (("at least", self.at_least), ("at most", self.at_most))
            if level in bound
        ]
        return " and ".join(bounds) or " or ".join(self._right(level, value))

    def met(self, level: str, value: Any, found: str) -> bool:
        """Say whether what was found is what is due; found is empty when nothing was."""
        if not found:
            return False
        if level in self.at_least or level in self.at_most:
            number = _number(found)
            return (
                number is not None
                and number >= self.at_least.get(level, number)
                and number <= self.at_most.get(level, number)
            )
        right = self._right(level, value)
        if self.source == FILE:
            return any(len(each) >= 8 and found.startswith(each) for each in right)
        return any(_same(found, each) for each in right)

    def _right(self, level: str, value: Any) -> list[str]:
        if level in self.expect:
            return [spelled(self.expect[level])]
        if value is None:
            return [NOT_SET, "null"]
        return list(dict.fromkeys([spelled(value), level]))


def spelled(value: Any) -> str:
    """Spell a value as servers tell it: JSON's true, false, null and numbers, texts as they are."""
    return value if isinstance(value, str) else json.dumps(value)


def flag_in(argv: tuple[str, ...], flag: str) -> str:
    """Find a flag on a command line: its value, `true` if it stands alone, `false` for none."""
    for at, word in enumerate(argv):
        if word.startswith(f"{flag}="):
            return word.partition("=")[2]
        if word == flag:
            following = argv[at + 1] if at + 1 < len(argv) else "-"
            return "true" if following.startswith("-") and _number(following) is None else following
    return "false"


def find_key(info: Mapping[str, str], key: str) -> str:
    """Look a key up, or the one that ends with it; empty for none, or for more than one value."""
    if key in info:
        return info[key]
    ends = {value for name, value in info.items() if name.endswith(f".{key}")}
    return ends.pop() if len(ends) == 1 else ""


def same_commit(found: str, right: str) -> bool:
    """Whether an id, or the beginning of one, is that of a commit given by its whole id."""
    return bool(_ID.fullmatch(right) and _SHORT.fullmatch(found) and right.startswith(found.lower()))


def _same(found: str, right: str) -> bool:
    found, right = _SPOKEN.get(found, found), _SPOKEN.get(right, right)
    if found == right or same_commit(found, right):
        return True
    first, second = _number(found), _number(right)
    return first is not None and first == second


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
