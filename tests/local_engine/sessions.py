"""Sessions in the local engine's words, for tests that drive it."""

from __future__ import annotations

import subprocess
import sys
from functools import cache

from workbench.workloads import records
from workbench.workloads.records import Session, Shape, Vocabulary


@cache
def vocabulary() -> Vocabulary:
    """Ask the engine for its vocabulary, as anybody outside of it has to."""
    command = [sys.executable, "-m", "workbench.local_engine.vocab"]
    printed = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60, check=True)
    return Vocabulary.parse(printed.stdout)


def draw(
    number: int, *, seed: int = 0, turns: int = 4, start: int = 2000, grow: int = 1000
) -> list[Session]:
    """Draw sessions, numbered from 0."""
    shape = Shape(turns=turns, start=start, grow=grow)
    return [records.draw(shape, vocabulary(), seed=seed, session=place) for place in range(number)]
