"""Ctrl-C, a hang-up and a polite kill end a run after saving; a second one ends it at once."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

_Result = TypeVar("_Result")
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run_interruptible(work: Coroutine[Any, Any, _Result]) -> _Result:
    """Run a coroutine in a loop of its own; the first signal cancels it, the second exits with 130.

    What it had in flight is ended by the cancellation, so even the second signal leaves no orphan
    unless it comes within the moment that takes.
    """

    async def main() -> _Result:
        loop = asyncio.get_running_loop()
        task = asyncio.ensure_future(work)

        def interrupt() -> None:
            if task.cancelling():
                os._exit(130)
            task.cancel()

        for each in _SIGNALS:
            loop.add_signal_handler(each, interrupt)
        try:
            return await task
        finally:
            for each in _SIGNALS:
                loop.remove_signal_handler(each)

    return asyncio.run(main())
