"""What the dialects have in common: they ask by HTTP, and a page that is not there is no error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from workbench.dialects import counting, flat
from workbench.dialects.counting import Metric
from workbench.errors import EngineError
from workbench.http.control import DEADLINE, Control, decoded, refused, shown
from workbench.ports import Dialect, Traffic

_MISSING = (404, 405, 501)  # what servers say of a route that they do not have


@dataclass(frozen=True, kw_only=True)
class DialectOptions:
    """Options of the dialects of the tree.

    Attributes:
        api_key_env: Name of the environment variable that holds the server's key; empty for none.
        deadline: Seconds for each question.
    """

    api_key_env: str = ""
    deadline: float = DEADLINE

    def __post_init__(self) -> None:
        if not self.deadline > 0:
            raise ValueError(f"deadline must be positive, not {self.deadline}")


class ServedDialect(Dialect):
    """A dialect over HTTP; who derives from it says which pages there are."""

    Options: ClassVar[type[DialectOptions]] = DialectOptions
    health = "/health"
    volatile: tuple[str, ...] = ()

    def __init__(self, options: DialectOptions) -> None:
        self._control = Control(api_key_env=options.api_key_env, deadline=options.deadline)

    async def ready(self, url: str) -> bool:
        """Say whether its health page is a good one."""
        try:
            return (await self._control.get(_at(url, self.health))).good
        except EngineError:
            return False

    async def info(self, url: str) -> Mapping[str, str]:
        """Tell nothing: which page does is for each dialect to say."""
        return {}

    async def traffic(self, url: str) -> Traffic:
        """Give the metrics by name."""
        return Traffic(metrics=counting.by_name(await self._metrics(url)))

    async def flush(self, url: str) -> bool:
        """Do nothing: not every server can."""
        return False

    async def _status(self, url: str, path: str) -> bool | None:
        """Say whether a page is a good one; None if it is not there. Raises EngineError."""
        page = await self._control.get(_at(url, path))
        return None if page.status in _MISSING else page.good

    async def _posted(self, url: str, path: str) -> bool:
        """Post to a page; say whether that went well, False also where it is not there."""
        return (await self._control.post(_at(url, path))).good

    async def _told(self, url: str, *paths: str) -> Any:
        """Give the JSON of the first of these pages that is there; None if none is."""
        for path in paths:
            page = await self._control.get(_at(url, path))
            if page.status not in _MISSING:
                return decoded(_at(url, path), page)
        return None

    async def _flat(self, url: str, *paths: str) -> dict[str, str]:
        """Give the same by dotted key; nothing if none is there."""
        told = await self._told(url, *paths)
        try:
            return flat.flat(told)
        except (ValueError, RecursionError) as error:
            raise EngineError(f"{shown(_at(url, paths[0]))} tells too much: {error}") from error

    async def _metrics(self, url: str) -> tuple[Metric, ...]:
        """Give its metrics; none if it has no page of them."""
        at = _at(url, "/metrics")
        page = await self._control.get(at)
        if page.status in _MISSING:
            return ()
        if not page.good:
            raise refused(at, page)
        try:
            return counting.read(page.body)
        except ValueError as error:
            raise EngineError(f"{shown(at)}: what it answers are {error}") from error


def _at(url: str, path: str) -> str:
    return url.rstrip("/") + path
