"""Environment of a server: the `SGLANG_*` names that it knows, read once at the start.

A name that nobody reads is worse than an error: the experiment runs, and its null result is believed.
So a value that does not parse is refused, and an unknown `SGLANG_*` name is warned about.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_PREFIX = "SGLANG_"
_BOOLEANS = {"1": True, "true": True, "0": False, "false": False}


@dataclass(frozen=True, kw_only=True, slots=True)
class Environment:
    """The environment as resolved. A field is the variable `SGLANG_` + its name in capitals.

    Attributes:
        dsv4_bf16_index_k: Keep index keys as bf16, 256 bytes an entry, in place of fp8 + scale, 132.
        opt_use_topk_v2: Select index entries by partial top-k over blocks.
        debug_index_k: Log every index read that came before its page had landed.
        test_hicache_h2d_delay_cycles: Hold every load from host to device back by this many cycles.
        disaggregation_bootstrap_timeout: Seconds until a request that never met its peer fails.
        disaggregation_waiting_timeout: Seconds until a request that waits for its pages fails.
        disaggregation_queue_size: Rooms that a prefill server sends at the same time.
    """

    dsv4_bf16_index_k: bool = False
    opt_use_topk_v2: bool = True
    debug_index_k: bool = False
    test_hicache_h2d_delay_cycles: int = 0
    disaggregation_bootstrap_timeout: float = 300.0
    disaggregation_waiting_timeout: float = 300.0
    disaggregation_queue_size: int = 4

    def values(self) -> dict[str, bool | int | float]:
        """Give the resolved value of every known variable by its full name."""
        return {_variable(name): getattr(self, name) for name in _DEFAULTS}


_DEFAULTS: dict[str, bool | int | float] = {
    field.name: field.default
    for field in dataclasses.fields(Environment)
    if isinstance(field.default, int | float)
}


def _variable(field: str) -> str:
    return _PREFIX + field.upper()


KNOWN = tuple(_variable(name) for name in _DEFAULTS)


def _value(variable: str, text: str, default: bool | int | float) -> bool | int | float:
    if isinstance(default, bool):
        if text.lower() not in _BOOLEANS:
            raise ValueError(f"{variable}={text!r} is neither 1, true, 0 nor false")
        return _BOOLEANS[text.lower()]
    try:
        value = type(default)(text)
    except ValueError:
        raise ValueError(f"{variable}={text!r} is no {type(default).__name__}") from None
    if not math.isfinite(value) or value < 0:
        raise ValueError(f"{variable}={text!r} is not 0 or more")
    return value


def read(environ: Mapping[str, str]) -> Environment:
    """Resolve an environment.

    Args:
        environ: Usually `os.environ`. An empty value counts as unset.

    Raises:
        ValueError: A value does not parse; says which, in one line.
    """
    given: dict[str, Any] = {
        name: _value(_variable(name), text, default)
        for name, default in _DEFAULTS.items()
        if (text := environ.get(_variable(name), ""))
    }
    return dataclasses.replace(Environment(), **given)


def unknown(environ: Mapping[str, str]) -> list[str]:
    """Give a warning for each `SGLANG_*` name that this engine does not read."""
    warnings = []
    for name in sorted(environ):
        if name.startswith(_PREFIX) and name not in KNOWN:
            near = difflib.get_close_matches(name, KNOWN, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            warnings.append(f"Unknown environment variable {name}: it has no effect{hint}")
    return warnings
