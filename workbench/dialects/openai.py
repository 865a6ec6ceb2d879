"""Dialect `openai`: any server of that API. It tells its models, and its metrics if it has any.

Servers of this kind differ in whether they have a health page. One that has none is ready when it names
its models, which takes that they are loaded.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.dialects.served import ServedDialect
from workbench.errors import EngineError

_MODELS = "/v1/models"


class OpenAIDialect(ServedDialect):
    """Knows nothing of a server but its API."""

    volatile = ("*.created", "*.permission.*")

    async def ready(self, url: str) -> bool:
        """Say whether its health page is a good one, or, where there is none, whether it has models."""
        try:
            told = await self._status(url, self.health)
            return told if told is not None else bool(await self._status(url, _MODELS))
        except EngineError:
            return False

    async def info(self, url: str) -> Mapping[str, str]:
        """Give what it says of its models: `models.0.id`, `models.0.max_model_len`."""
        told = await self._flat(url, _MODELS)
        return {
            f"models.{key.removeprefix('data.')}": value
            for key, value in told.items()
            if key.startswith("data.")
        }
