"""Property tests draw the same examples in every run, and take the time that a busy machine needs."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("stats", derandomize=True, deadline=None, database=None)
settings.load_profile("stats")
