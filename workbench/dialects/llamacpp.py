"""Dialect `llamacpp`: llama.cpp's own server.

Its health page is 503 while the model is being loaded. Its properties do not name all that is set: the
type of the KV cache, for one, shows in its command line and its log alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.dialects import counting
from workbench.dialects.served import ServedDialect
from workbench.errors import EngineError
from workbench.ports import Traffic

_PROCESSING, _DEFERRED = "llamacpp:requests_processing", "llamacpp:requests_deferred"


class LlamaCppDialect(ServedDialect):
    """The control surface of llama.cpp's server."""

    volatile = ("is_sleeping", "media_marker")  # the marker is drawn anew at each start

    async def info(self, url: str) -> Mapping[str, str]:
        """Give its properties, and how many slots there are of how many tokens."""
        told = await self._flat(url, "/props")
        try:
            slots = await self._told(url, "/slots")
        except EngineError:  # it may be started without that page
            slots = None
        if isinstance(slots, list):
            told["slots.count"] = str(len(slots))
            lengths = {str(slot.get("n_ctx")) for slot in slots if isinstance(slot, dict)}
            told["slots.n_ctx"] = ", ".join(sorted(lengths))
        return told

    async def traffic(self, url: str) -> Traffic:
        """Give what it counts; without `--metrics` that is nothing."""
        metrics = counting.by_name(await self._metrics(url))
        counts = [metrics[name] for name in (_PROCESSING, _DEFERRED) if name in metrics]
        return Traffic(metrics=metrics, in_flight=sum(counts) if counts else None)
