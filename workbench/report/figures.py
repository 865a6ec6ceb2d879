"""Numbers that are computed as they are written: rates with an interval, bars; the rest is `text`."""

from __future__ import annotations

from workbench.model.outcome import Counts
from workbench.model.plan import Rules
from workbench.model.verdict import Judgement
from workbench.report.text import Interval, hits, number, with_rest
from workbench.stats import rate_interval

BAR_WIDTH = 30


def rate(counts: Counts, interval: Interval | None = None) -> str:
    """Write hits of decided sessions with an interval; by default the one of independent sessions."""
    if not counts.decided:
        return hits(counts, (0.0, 1.0))
    return hits(counts, interval or rate_interval(counts.hit, counts.decided))


def rate_and_rest(counts: Counts, interval: Interval | None = None) -> str:
    """Write the rate, and after it what was neither hit nor clean."""
    return with_rest(rate(counts, interval), counts)


def evidence_so_far(judgement: Judgement, rules: Rules) -> str:
    """Write where the two claims stand that a comparison is about, for a run under way."""
    margin = "half removed" if rules.margin is None else f"at least {rules.margin:g}"
    values = judgement.evidence
    return (
        f"evidence {number(values.no_effect)} against `no effect`,"
        f" {number(values.margin)} against `{margin}` ({number(1 / rules.alpha)} is needed)"
    )


def bar(counts: Counts, interval: Interval | None = None) -> str:
    """Draw a rate and its interval as text: `[..==#===...]` over 0 to 100 %."""
    whole = (0.0, 1.0)
    measured = rate_interval(counts.hit, counts.decided) if counts.decided else whole
    low, high = interval or measured
    width = BAR_WIDTH
    point = counts.hit / counts.decided if counts.decided else None
    cells = []
    for i in range(width):
        left, right = i / width, (i + 1) / width
        inside = left < high and right > low
        at = point is not None and (left <= point < right or (point == 1.0 and i == width - 1))
        cells.append("#" if at else "=" if inside else ".")
    return f"[{''.join(cells)}]"
