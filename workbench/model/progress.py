"""What a run looks like from outside while it is under way; every display is drawn from this alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from workbench.model.outcome import Counts
from workbench.model.plan import Plan
from workbench.model.start import Start
from workbench.model.verdict import Judgement


class Phase(StrEnum):
    """What the run is doing."""

    MEASURING = "measuring"
    COMPARING = "comparing"


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """A run at one moment.

    Attributes:
        run: Its id.
        folder: Where it is kept.
        plan: Its plan.
        phase: What it is doing.
        block: The block under way, 0 while measuring.
        arm: The arm that is up, empty between arms.
        measured: Counts of the measurement so far.
        arms: Counts by arm over the blocks, the unfinished one included.
        in_flight: Sessions under way.
        judgements: What the rules say after the last complete block.
        failures: Arm and signature to number of exchanges, for everything worth reporting.
        session_seconds: Mean duration of a session, None before the first ended.
        start_seconds: Mean part of it that starting took.
        seconds: Time spent running, over all openings.
        worst_seconds: Time left if no word falls before the greatest number of blocks; None if unknown.
        problems: What of the run's record is damaged or altered, one line each.
        starts: What was found of its starts, for a reader; empty while it is under way.
    """

    run: str
    folder: str
    plan: Plan
    phase: Phase
    block: int
    arm: str
    measured: Counts
    arms: Mapping[str, Counts]
    in_flight: int
    judgements: tuple[Judgement, ...]
    failures: Mapping[str, int]
    session_seconds: float | None
    start_seconds: float | None
    seconds: float
    worst_seconds: float | None
    problems: tuple[str, ...] = ()
    starts: tuple[Start, ...] = ()
