"""The launcher of world race, as a program."""

from __future__ import annotations

from tests.local_engine.ungated import MODULES
from workbench.local_engine import launch

if __name__ == "__main__":
    launch.main(modules=MODULES)
