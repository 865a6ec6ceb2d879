"""The same examples every time: a failure here must be one that everybody sees."""

from hypothesis import settings

settings.register_profile("store", derandomize=True, deadline=None)
settings.load_profile("store")
