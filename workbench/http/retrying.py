"""When to send again, and after how long; only for who asks for it.

Retries hide a failure that happens sometimes, and unequal ones bias a comparison. So the default is
none, each attempt stays in the reply, and what a server may ask to be waited for has a limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from workbench.http.reply import Attempt, Outcome


@dataclass(frozen=True, kw_only=True, slots=True)
class Retry:
    """Ask for further attempts.

    Attributes:
        times: Attempts after the first.
        statuses: Statuses of an `http_error` after which to send again.
        outcomes: Other outcomes after which to send again.
        wait: Seconds to wait when the server names none.
        longest_wait: Seconds; a server that asks for more is not waited for longer.
    """

    times: int = 1
    statuses: frozenset[int] = frozenset({429, 503})
    outcomes: frozenset[Outcome] = frozenset()
    wait: float = 1.0
    longest_wait: float = 30.0

    def __post_init__(self) -> None:
        if self.times < 0 or not self.wait >= 0 or not self.longest_wait >= 0:
            raise ValueError("times, wait and longest_wait must not be negative")

    def pause(self, attempt: Attempt, done: int, now: datetime) -> float | None:
        """Say how many seconds to wait before the next attempt; None for no more attempts.

        Args:
            attempt: How the last one ended.
            done: Attempts so far.
            now: The time, UTC, for a server that states a date and not its own time.
        """
        error = attempt.outcome is Outcome.HTTP_ERROR and attempt.status in self.statuses
        if done > self.times or not (error or attempt.outcome in self.outcomes):
            return None
        asked = retry_after(attempt.headers, now)
        return min(self.wait if asked is None else asked, self.longest_wait)


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Read `Retry-After`: seconds, or a date; None if there is none that can be read.

    A date is taken relative to the server's own `Date`, if it gives one: whose clock is wrong does not
    matter then. One that has passed is 0.
    """
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:12])  # a longer number is longer than anybody waits
    until = _date(value)
    if until is None:
        return None
    return max(0.0, (until - (_date(headers.get("date", "")) or now)).total_seconds())


def _date(value: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
