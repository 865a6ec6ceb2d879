"""Numbers as people read them: always k of n with an interval, never "0 %"."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.model.outcome import Counts
from workbench.model.plan import Rules
from workbench.model.verdict import Judgement
from workbench.stats import rate_interval

BAR_WIDTH = 30
Interval = tuple[float, float]
_WORDS = ((100.0, "strong"), (10.0, "some"), (3.0, "weak"))


def percent(rate: float) -> str:
    """Write a rate in percent, with a decimal where it matters."""
    value = 100 * rate
    return f"{value:.1f} %" if value < 9.95 else f"{value:.0f} %"


def blocks(number: int) -> str:
    """Write a number of blocks."""
    return f"{number} block" if number == 1 else f"{number} blocks"


def points(low: float, high: float) -> str:
    """Write an interval of a difference between rates, in points of percent."""
    return f"{100 * low:+.1f} to {100 * high:+.1f} points"


def rate(counts: Counts, interval: Interval | None = None) -> str:
    """Write hits of decided sessions with an interval; by default the one of independent sessions."""
    if not counts.decided:
        return "0/0, nothing decided"
    low, high = interval or rate_interval(counts.hit, counts.decided)
    bounds = f"at most {percent(high)}" if counts.hit == 0 else f"{percent(low)} to {percent(high)}"
    return f"{counts.hit}/{counts.decided} ({bounds})"


def rate_and_rest(counts: Counts, interval: Interval | None = None) -> str:
    """Write the rate, and after it what was neither hit nor clean."""
    parts = [(counts.errored, "errored"), (counts.incomplete, "incomplete")]
    rest = [f"{number} {name}" for number, name in parts if number]
    return "; ".join([rate(counts, interval), *rest])


def evidence(value: float, alpha: float = 0.01) -> str:
    """Write an e-value in words and number, with the number that is needed."""
    threshold = 1 / alpha
    scaled = value * 100 / threshold
    word = next((word for least, word in _WORDS if scaled >= least), "none")
    return f"{word}: {number(value)}; {number(threshold)} is needed"


def evidence_so_far(judgement: Judgement, rules: Rules) -> str:
    """Write where the two claims stand that a comparison is about, for a run under way."""
    margin = "half removed" if rules.margin is None else f"at least {rules.margin:g}"
    values = judgement.evidence
    return (
        f"evidence {number(values.no_effect)} against `no effect`,"
        f" {number(values.margin)} against `{margin}` ({number(1 / rules.alpha)} is needed)"
    )


def number(value: float) -> str:
    """Write a positive number shortly: 0.02, 7.1, 1,080, 2.3e+09."""
    if value >= 1e6:
        return f"{value:.1e}"
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.2g}"


def duration(seconds: float) -> str:
    """Write a duration: 3 ms, 0.4 s, 12 s, 3 min 20 s, 2 h 5 min."""
    if seconds < 0.0995:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


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


def ranked(failures: Mapping[str, int]) -> list[tuple[str, int]]:
    """Rank failures by how often they came, made safe to print."""
    by_times = sorted(failures.items(), key=lambda item: (-item[1], item[0]))
    return [(inert(signature), times) for signature, times in by_times]


def inert(text: str) -> str:
    """Make text from outside safe to print: control characters and bidi marks are shown, not sent."""
    return "".join(char if char.isprintable() or char == " " else ascii(char)[1:-1] for char in text)
