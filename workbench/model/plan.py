"""A run before it starts: arms, what is asked of them, how much may be spent, and in which order.

A plan is pure data and complete: with its seed it fixes every session of the run, so a resume and a
reader half a year later see the same thing. One run may serve several hypotheses; each is judged on
its own pair of arms, and arms that several share are started once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from workbench.model.outcome import Symptom
from workbench.model.verdict import Comparison


class Cluster(StrEnum):
    """What sessions share, and so what their failures are correlated within."""

    START = "start"  # one engine start serves all sessions of an arm in a block
    TRIAL = "trial"  # every session is a start of its own, as with a command


@dataclass(frozen=True, kw_only=True, slots=True)
class Arm:
    """Named settings: which knob stands at which level.

    Attributes:
        name: Unique in the run; `control` and `treatment` by custom.
        settings: Knob name to level; for a command, `command` to its command line.
    """

    name: str
    settings: Mapping[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A plug-in and its options, as a file or a command line states them."""

    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Measurement:
    """Sessions of one arm that are counted and not judged.

    Attributes:
        arm: The arm measured.
        max_trials: Sessions at most.
        until_hits: Stop as soon as so many hits are in, None to use all sessions.
    """

    arm: str
    max_trials: int
    until_hits: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """What the verdict depends on beside the counts (RULES 2 and 3).

    Attributes:
        alpha: Greatest probability of a false word, each side; 1 / alpha is the threshold for E.
        margin: An absolute risk difference, or None for half of the control's rate.
        reference: Known rate of the symptom, None to use the predicted or the measured one.
        noise_bound: 99 % upper bound of the rate of two equal arms, where one was measured.
        min_blocks: Blocks before a two-arm word can fall.
        max_blocks: Blocks at most.
        block_size: Sessions per arm and block.
        cluster: What sessions share.
        design_effect: Divide counts by the measured dispersion of starts.
        restarts: Each block has starts of its own; else what is found holds for these processes only.
    """

    alpha: float = 0.01
    margin: float | None = None
    reference: float | None = None
    noise_bound: float | None = None
    min_blocks: int = 2
    max_blocks: int = 12
    block_size: int = 20
    cluster: Cluster = Cluster.START
    design_effect: bool = True
    restarts: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Watched:
    """A symptom beside the run's own: counted and shown, never pooled with it, deciding nothing."""

    symptom: Symptom
    classifier: Part


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """Everything that a run will do.

    Attributes:
        arms: The arms, at least one.
        comparisons: Pairs to judge; none for a measurement.
        measurement: Sessions to count before the first block, or all that the run does.
        rules: What the verdicts depend on.
        symptom: What a hit is.
        engine: Brings an arm up.
        workload: What is sent.
        classifier: Labels what comes back.
        in_flight: Sessions at the same time.
        seed: Fixes the order of arms and the seed of every session.
        keep_texts: Which replies are kept: `all`, `failing` or `none`.
        knobs: How the knobs that the arms set are turned, by name; none for plain commands.
        budget: Seconds that an opening of the run may take, None for no limit: no block is begun that
            is not expected to end in time.
        first_block: Number of its first block; after those of earlier runs that it goes on from.
        also: The campaign's other symptoms; no part of what is tested.
        allow_foreign: Requests of others than this run's do not make it invalid.
        repo: Repository of the system under test, from the campaign's folder; empty for none.
    """

    arms: tuple[Arm, ...]
    comparisons: tuple[Comparison, ...]
    measurement: Measurement | None
    rules: Rules
    symptom: Symptom
    engine: Part
    workload: Part
    classifier: Part
    in_flight: int
    seed: int
    keep_texts: str = "failing"
    knobs: Mapping[str, Part] = field(default_factory=dict)
    budget: float | None = None
    first_block: int = 1
    also: tuple[Watched, ...] = ()
    allow_foreign: bool = False
    repo: str = ""

    def arm(self, name: str) -> Arm:
        """Look an arm up by name; raises KeyError."""
        for arm in self.arms:
            if arm.name == name:
                return arm
        raise KeyError(name)


@dataclass(frozen=True, kw_only=True, slots=True)
class ArmJob:
    """One arm of one block: a self-contained piece of work for an executor.

    Attributes:
        arm: Settings to bring up.
        block: Block number, 0 for a measurement.
        sessions: Positions in assignment order that are still to be done.
        seeds: Seed of each of these sessions.
        in_flight: Sessions at the same time.
    """

    arm: Arm
    block: int
    sessions: tuple[int, ...]
    seeds: tuple[int, ...]
    in_flight: int
