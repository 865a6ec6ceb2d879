"""Recorded batch schedules: which requests were prefilled together, in which order.

Which requests meet in a batch is the one thing that the wall clock decides. A schedule takes it off
the clock: with `--replay` a batch waits for the requests that it had when it was recorded, so two runs
give the same bytes. A request is known by a digest of its prompt.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict, TypeVar

import numpy as np

from .interface import GenerateRequest

T = TypeVar("T")


def digest(request: GenerateRequest) -> str:
    """Name a request by its prompt."""
    ids = np.asarray(request.input_ids, np.int32)
    return hashlib.blake2b(ids.tobytes(), digest_size=8).hexdigest()


class _Planned(TypedDict):
    requests: list[str]
    overlapped: bool


class Schedule:
    """Records batches, follows recorded ones, or does neither.

    Args:
        record: File to write, a JSON object a line.
        replay: File to follow. After its last batch requests are batched as they come.
    """

    def __init__(self, record: str | None, replay: str | None) -> None:
        self._record = Path(record) if record else None
        if self._record:
            self._record.write_text("")
        lines = Path(replay).read_text().splitlines() if replay else []
        self._planned: list[_Planned] = [json.loads(line) for line in reversed(lines)]

    def note(self, batch: Sequence[GenerateRequest], *, overlapped: bool) -> None:
        """Record a batch that is about to run, and whether the result before it is still out."""
        if self._planned:
            self._planned.pop()
        if self._record:
            line = {"requests": [digest(request) for request in batch], "overlapped": overlapped}
            with self._record.open("a") as file:
                file.write(json.dumps(line) + "\n")

    def choose(self, waiting: Sequence[tuple[GenerateRequest, T]], most: int) -> list[T]:
        """Give the items of the requests that may run next: none until all planned ones are there."""
        if not self._planned:
            return [item for _, item in waiting[:most]]
        known: dict[str, list[T]] = {}
        for request, item in waiting:
            known.setdefault(digest(request), []).append(item)
        try:
            return [known[name].pop(0) for name in self._planned[-1]["requests"]]
        except (KeyError, IndexError):
            return []

    @property
    def overlaps(self) -> bool:
        """Whether the coming batch may be formed before the result of the last one is handled."""
        return self._planned[-1]["overlapped"] if self._planned else True

    @property
    def planned(self) -> bool:
        """Whether the coming batch is fixed."""
        return bool(self._planned)
