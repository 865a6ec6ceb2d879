"""Suspects that say nearly the same, so that nobody adds one twice."""

from __future__ import annotations

import re
from collections.abc import Iterable

from workbench.report.registry import state_words
from workbench.report.suspects import Suspect
from workbench.report.text import cut, inert

_WORD = re.compile(r"[^\W_]{3,}")
_COMMON = frozenset(("the", "and", "for", "are", "that", "with", "not", "has", "was", "from", "this"))
_LEAST = 0.2  # share of words that two have in common, below which they are not alike


def similar(suspects: Iterable[Suspect], text: str, most: int = 3) -> list[str]:
    """Name the suspects whose title and statement share most words with a text.

    Args:
        suspects: Those that there are.
        text: What is being written.
        most: How many are named at most.

    Returns:
        A line each with its state; the likest first, then by number.
    """
    words = _words(text)
    if not words:
        return []
    found = []
    for place, suspect in enumerate(suspects):
        statement = suspect.hypothesis.statement if suspect.hypothesis else ""
        title = _words(suspect.title)
        share = max(_share(words, title), _share(words, title | _words(statement)))
        if share >= _LEAST:
            found.append((-share, place, suspect))
    return [
        f"{inert(each.id)} {state_words(each)}: {cut(each.title, 60)}"
        for _, _, each in sorted(found, key=lambda each: each[:2])[:most]
    ]


def _words(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORD.findall(text)) - _COMMON


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    """Give how much of the smaller of two sets of words the other has."""
    least = min(len(one), len(other))
    return len(one & other) / least if least else 0.0
