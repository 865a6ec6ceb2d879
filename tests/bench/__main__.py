"""All long tables and figures, one after another: `make bench`, about half an hour on 2 cores."""

from __future__ import annotations

import runpy

for name in (
    "startup",
    "journal",
    "registry",
    "git",
    "agreement",
    "two_words",
    "ratios",
    "null_rates",
    "when_wrong",
    "local_engine",
    "load",
    "live",
):
    print(f"--- {name}", flush=True)
    runpy.run_module(f"tests.bench.{name}", run_name="__main__")
