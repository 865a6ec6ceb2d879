"""Property tests of this folder are reproducible and have no deadline: the machine may be busy."""

from hypothesis import settings

settings.register_profile("http", derandomize=True, deadline=None)
settings.load_profile("http")
