"""Both halves of the engine in one process, with no transfer over HTTP.

python -m workbench.local_engine.entrypoints.unified_server ...
"""

from __future__ import annotations

from collections.abc import Sequence

from ..managers.unified import UnifiedScheduler
from .common import run_in_one_process


def main(argv: Sequence[str] | None = None) -> None:
    """Run the server."""
    run_in_one_process(argv, UnifiedScheduler, "null")


if __name__ == "__main__":
    main()
