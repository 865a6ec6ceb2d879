"""Both halves of the engine in one process, with no transfer over HTTP.

python -m workbench.local_engine.entrypoints.unified_server ...
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import lifecycle
from ..managers.unified import UnifiedScheduler
from .common import EngineServer, build, start


def main(argv: Sequence[str] | None = None) -> None:
    """Run the server."""
    args, env, listener = start(argv, "null")
    scheduler = build(lambda: UnifiedScheduler(args, env))
    lifecycle.serve(EngineServer(scheduler, args, env).app(), listener)


if __name__ == "__main__":
    main()
