"""What is asked of a test beside what its file says, as a plan and as a command line take it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_SETTINGS = ("engine", "workload", "seed", "max_blocks", "sessions", "in_flight", "budget")


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What is to differ from a hypothesis's file and the campaign's defaults; None to leave it.

    Attributes:
        engine: Name of another engine.
        workload: Name of another workload.
        seed: Repeats a run's choices.
        max_blocks: Blocks that the run may add at most.
        sessions: Sessions per arm and block.
        in_flight: Sessions at the same time.
        budget: Seconds within which a block must be expected to end to be begun.
        put_back: Put the cause back into the fixed system.
        allow: Protected engines that may be started, stopped and edited.
        wait: Queue behind a run that has the engine.
        by: Who runs it.
    """

    engine: str | None = None
    workload: str | None = None
    seed: int | None = None
    max_blocks: int | None = None
    sessions: int | None = None
    in_flight: int | None = None
    budget: float | None = None
    put_back: bool = False
    allow: tuple[str, ...] = ()
    wait: bool = False
    by: str | None = None

    @property
    def settings(self) -> dict[str, object]:
        """What a plan takes of it."""
        named = ((name, getattr(self, name)) for name in _SETTINGS)
        return {name: value for name, value in named if value is not None}

    def arguments(self) -> Iterator[str]:
        """Yield it as words of a command line."""
        for name, value in self.settings.items():
            unit = "s" if name == "budget" else ""
            yield f"--{name.replace('_', '-')}={value}{unit}"
        yield from (f"--allow={engine}" for engine in self.allow)
        yield from ["--put-back"] * self.put_back
        yield from ["--wait"] * self.wait
        yield from [f"--by={self.by}"] * bool(self.by)
