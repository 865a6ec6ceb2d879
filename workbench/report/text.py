"""Words and numbers as people read them, and text from outside made safe to print.

Nothing here needs a numbers library, so that lists stay light; what computes an interval of its own is
in `figures`. A rate is always k of n with an interval, never "0 %".
"""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime

from workbench.model.outcome import Counts

WIDTH = 80
Interval = tuple[float, float]
_ELLIPSIS = "..."
_SMALLEST = 0.0005  # a rate below it would be written as 0.0 %
_WORDS = ((100.0, "strong"), (10.0, "some"), (3.0, "weak"))


def inert(text: str) -> str:
    """Make text from outside safe to print: control characters and bidi marks are shown, not sent."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if char.isprintable() or char == " " else ascii(char)[1:-1] for char in text)


def printed(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines as they may go to a terminal, whatever files and people put into them."""
    for line in lines:
        yield inert(line).rstrip()


def percent(rate: float) -> str:
    """Write a rate in percent, with a decimal where it matters."""
    value = 100 * rate
    if 0 <= rate < _SMALLEST:
        return "under 0.1 %"
    return f"{value:.1f} %" if value < 9.95 else f"{value:.0f} %"


def hits(counts: Counts, interval: Interval) -> str:
    """Write hits of decided sessions with the interval of their rate."""
    if not counts.decided:
        return "0/0, nothing decided"
    low, high = interval
    if counts.hit == 0 or low < _SMALLEST:
        bounds = f"at most {percent(high)}"
    else:
        bounds = f"{percent(low)} to {percent(high)}"
    return f"{counts.hit}/{counts.decided} ({bounds})"


def hits_in_short(counts: Counts, interval: Interval) -> str:
    """Write the same where space is short: 41/60 (46-79 %)."""
    if not counts.decided or counts.hit == 0 or interval[0] < _SMALLEST:
        return hits(counts, interval)
    low, high = interval
    return f"{counts.hit}/{counts.decided} ({percent(low).removesuffix(' %')}-{percent(high)})"


def with_rest(rate: str, counts: Counts) -> str:
    """Write after a rate what was neither hit nor clean."""
    parts = [(counts.errored, "errored"), (counts.incomplete, "incomplete")]
    return "; ".join([rate, *(f"{number} {name}" for number, name in parts if number)])


def count(number: int, noun: str, plural: str = "") -> str:
    """Write a number of things: 1 run, 2 runs."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def blocks(number: int) -> str:
    """Write a number of blocks."""
    return count(number, "block")


def points(low: float, high: float) -> str:
    """Write an interval of a difference between rates, in points of percent."""
    return f"{100 * low:+.1f} to {100 * high:+.1f} points"


def evidence(value: float, alpha: float = 0.01) -> str:
    """Write an e-value in words and number, with the number that is needed."""
    threshold = 1 / alpha
    scaled = value * 100 / threshold
    word = next((word for least, word in _WORDS if scaled >= least), "none")
    return f"{word}: {number(value)}; {number(threshold)} is needed"


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


def moment(at: datetime) -> str:
    """Write a moment to the minute, UTC: 2026-11-29 15:12Z."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M}Z"


def ranked(failures: Mapping[str, int]) -> list[tuple[str, int]]:
    """Rank failures by how often they came, made safe to print."""
    by_times = sorted(failures.items(), key=lambda item: (-item[1], item[0]))
    return [(inert(signature), times) for signature, times in by_times]


def sentence_of(items: Iterable[str], most: int = 5) -> str:
    """Write a list in a sentence, with how many were left out beyond `most`."""
    all_of_it = [inert(item) for item in items]
    shown, left = all_of_it[:most], len(all_of_it) - most
    return ", ".join([*shown, *([f"and {left} more"] if left > 0 else [])])


def columns(text: str) -> int:
    """Give how many columns of a terminal a printable text takes."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def _columns(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def cut(text: str, width: int) -> str:
    """Cut a text to a width in columns, with an ellipsis in place of what is left out."""
    text = inert(text[: 4 * width + 4]) if len(text) > 4 * width + 4 else inert(text)
    if columns(text) <= width:
        return text
    if text.isascii():
        return text[: width - len(_ELLIPSIS)].rstrip() + _ELLIPSIS
    kept, used = [], len(_ELLIPSIS)
    for char in text:
        used += _columns(char)
        if used > width:
            break
        kept.append(char)
    return "".join(kept).rstrip() + _ELLIPSIS


def padded(text: str, width: int) -> str:
    """Fill a text with blanks to a width in columns."""
    return text + " " * (width - columns(text))


def paragraphs(text: str) -> list[str]:
    """Split a text that people wrote at its blank lines; lines within are joined, nothing is lost."""
    parts: list[list[str]] = [[]]
    for line in text.split("\n"):
        bare = line.strip(" \t\r")  # nothing else is blank: other characters are to be shown
        if bare:
            parts[-1].append(inert(bare))
        elif parts[-1]:
            parts.append([])
    return [" ".join(part) for part in parts if part]


def wrapped(text: str, indent: int = 2, hanging: int = 0) -> Iterator[str]:
    """Yield a text as indented lines, `hanging` further from the second on; long words stay whole."""
    for number, paragraph in enumerate(paragraphs(text)):
        if number:
            yield ""
        yield from _wrapped(paragraph, " " * indent, " " * (indent + hanging))


def labelled(name: str, text: str, width: int) -> Iterator[str]:
    """Yield a text with its name in a column of `width` before it."""
    yield from _wrapped(inert(text), f"{name:<{width}} ", " " * (width + 1)) or [name]


def _wrapped(text: str, first: str, rest: str) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
