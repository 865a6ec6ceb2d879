"""The prefill server of world race: the index keys are read without waiting for their layer to land."""

from __future__ import annotations

from tests.local_engine.bugs import UngatedPrefill
from workbench.local_engine import launch
from workbench.local_engine.entrypoints import prefill_server

MODULES = {**launch.MODULES, "prefill": ("tests.local_engine.ungated",)}

if __name__ == "__main__":
    prefill_server.main(scheduler_class=UngatedPrefill)
