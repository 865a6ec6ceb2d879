"""What was not clean in the runs of a hypothesis, as text and as records.

A record of `show --failures`: run, arm, label, signature, times, key of the first, and its text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from workbench.model.registry import Failure
from workbench.report import values
from workbench.report.text import printed

_LINES = 6  # of a reply; the run has all of it


def failures(found: Iterable[Failure]) -> Iterator[str]:
    """Yield each kind with how often it came, and the first lines of its first reply."""
    yield from printed(_failures(list(found)))


def failure_record(failure: Failure) -> dict[str, Any]:
    """Give one kind as JSON values."""
    record = values.plain(failure)
    assert isinstance(record, dict)
    return record


def _failures(found: list[Failure]) -> Iterator[str]:
    yield ""
    yield "What was not clean:" if found else "Nothing in its runs was not clean."
    run = ""
    for failure in found:
        if failure.run != run:
            run = failure.run
            yield f"  {run}"
        yield f"  {failure.times:>5} x {failure.arm}: {failure.label}: {failure.signature}"
        shown = failure.text.splitlines()
        yield from (f"          | {line}" for line in shown[:_LINES])
        if len(shown) > _LINES:
            yield f"          | ... {len(shown) - _LINES} more lines, at {failure.key}"
