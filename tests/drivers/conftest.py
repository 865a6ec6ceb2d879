"""Property tests of the drivers are the same on every run, and no slow machine fails one."""

from hypothesis import settings

settings.register_profile("drivers", derandomize=True, deadline=None)
settings.load_profile("drivers")
