"""The real clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class SystemClock:
    """Time of the operating system; durations never from the wall clock, which may jump."""

    def now(self) -> datetime:
        """Say what time it is, UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds from an arbitrary point, never going back."""
        return time.monotonic()
