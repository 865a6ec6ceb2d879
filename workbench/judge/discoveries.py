"""Which effects of a whole campaign survive that many tests were made: e-BH (RULES 6).

Each test keeps its own error rate, and of many tests one may still mislead. The e-BH procedure keeps
the expected share of false ones among the effects that it names below `q`, however the tests depend on
each other.
"""

from __future__ import annotations

from collections.abc import Mapping

SHARE = 0.05


def discoveries(evidence: Mapping[str, float], q: float = SHARE) -> frozenset[str]:
    """Name the tests whose effect survives.

    Args:
        evidence: Test to its e-value against "no effect" at the last look; every valid test counts.
        q: Greatest expected share of false ones among those named.
    """
    ranked = sorted(evidence, key=lambda test: (-evidence[test], test))
    needed = len(ranked) / q
    kept = [place for place, test in enumerate(ranked, 1) if place * evidence[test] >= needed]
    return frozenset(ranked[: max(kept, default=0)])
