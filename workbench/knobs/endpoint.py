"""Knob kind `endpoint`: where the engine is spoken to, for two engines that run side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from workbench.ports import Launch


@dataclass(frozen=True, kw_only=True)
class EndpointKnobOptions:
    """Options of the knob: there are none."""


class EndpointKnob:
    """Sends an arm's sessions to a URL, in place of the engine's own."""

    Options = EndpointKnobOptions

    def __init__(self, options: EndpointKnobOptions) -> None:
        pass

    def apply(self, value: Any, launch: Launch) -> Launch:
        """Put the URL into the launch."""
        return replace(launch, url=_checked(value))


def _checked(value: Any) -> str:
    if not isinstance(value, str) or not value.isascii() or not value.isprintable() or " " in value:
        raise ValueError(f"{value!r} is no URL; write, say, http://127.0.0.1:30000")
    try:
        parts = urlsplit(value)
        there = parts.hostname and parts.port != 0  # reading a port that is none raises
    except ValueError as error:
        raise ValueError(f"{value!r} is no URL: {error}") from error
    if parts.scheme not in ("http", "https") or not there:
        raise ValueError(f"{value!r} is no URL of a server; write, say, http://127.0.0.1:30000")
    if parts.username is not None or parts.password is not None:
        raise ValueError("a URL holds no user or password; name the key's variable by api_key_env")
    if parts.query or parts.fragment:
        raise ValueError(f"{value!r} has a query or a fragment; only the base URL is due")
    return value.rstrip("/")
