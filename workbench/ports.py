"""The seams of the workbench: what an engine, a workload, a knob, a classifier and a clock must offer.

A plug-in is a class with a frozen options dataclass named `Options`, built as `cls(options)`, and one
entry point (`workbench.engines`, `workbench.workloads`, `workbench.knobs`, `workbench.classifiers`).
Nothing else in the workbench knows a concrete one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from workbench.model.ids import SessionKey
from workbench.model.outcome import Exchange, Label
from workbench.model.plan import Arm, Cluster
from workbench.model.progress import Snapshot
from workbench.model.run import Fingerprint


@dataclass(frozen=True, kw_only=True, slots=True)
class Launch:
    """How a component of an engine is started, as far as knobs can turn it.

    Attributes:
        argv: Its command line, word by word; no shell ever sees it.
        env: Variables laid over its environment; None takes a variable out of it.
    """

    argv: tuple[str, ...] = ()
    env: Mapping[str, str | None] = field(default_factory=dict)


class Turn(Protocol):
    """What the settings of an arm make of a launch: an engine calls it for each of its components."""

    def __call__(self, launch: Launch, component: str = "") -> Launch:
        """Give the launch as the arm's knobs turn it. Raises ArmCouldNotStart when they cannot."""
        ...


def untouched(launch: Launch, component: str = "") -> Launch:
    """The turn of an arm without knobs."""
    return launch


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoint:
    """An arm that is up: where a workload sends its sessions.

    Attributes:
        arm: Name of the arm.
        argv: Command to execute per session, for engines that are commands.
        url: Base URL, for engines that are servers.
        env: Variables laid over the environment of a command; None takes one out.
        cwd: Folder in which a command runs; empty for the workload's own.
    """

    arm: str
    argv: tuple[str, ...] = ()
    url: str = ""
    env: Mapping[str, str | None] = field(default_factory=dict)
    cwd: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionRequest:
    """One session to drive: its run, its place in it, and the seed that fixes what it sends."""

    run: str
    key: SessionKey
    seed: int


@runtime_checkable
class Engine(Protocol):
    """Brings an arm up, says what is really running, and takes it down again."""

    cluster: Cluster

    async def start(self, arm: Arm, turn: Turn = untouched) -> Endpoint:
        """Bring an arm up. Raises ArmCouldNotStart; must then leave nothing running."""
        ...

    async def fingerprint(self, arm: Arm, turn: Turn = untouched) -> Fingerprint:
        """Read back what this arm runs. Raises ArmCouldNotStart when it cannot run at all."""
        ...

    async def stop(self) -> None:
        """Take down what is up; does nothing when nothing is."""
        ...


@runtime_checkable
class KnobKind(Protocol):
    """One way of setting something: the value of a level, worked into a launch.

    This is the seam for what acts on a launch. A kind that acts elsewhere (on files, on requests, on
    the load) gets a method of its own beside `apply`, and whoever reaches that place calls it.
    """

    def apply(self, value: Any, launch: Launch) -> Launch:
        """Give the launch with the knob at this value; pure.

        Args:
            value: What the level stands for, as the campaign states it.
            launch: What other knobs have made of it.

        Raises:
            ValueError: The value, or the launch, is not one that this knob can do with; says why.
        """
        ...


@runtime_checkable
class Workload(Protocol):
    """Sends the turns of a session and yields what comes back; it never judges."""

    def drive(self, endpoint: Endpoint, session: SessionRequest) -> AsyncIterator[Exchange]:
        """Yield one exchange a turn.

        Cancelling the iteration must end what it started. Raises ArmCouldNotStart when the endpoint
        turns out not to be one.
        """
        ...

    def leftovers(self, run: str) -> int:
        """End what a killed opening of this run left behind; give how many there were."""
        ...


@runtime_checkable
class Classifier(Protocol):
    """Labels an exchange; pure, so that stored replies can be labelled again without an engine."""

    words: Mapping[str, str]  # every label it can give, with its meaning
    clean: tuple[str, ...]  # those that say that all was well
    void: tuple[str, ...]  # those that say that no observation was made

    def label(self, exchange: Exchange) -> Label:
        """Give the label and the rule that fired; never raises, whatever the text holds."""
        ...


class Clock(Protocol):
    """Time as the workbench sees it; durations come from `monotonic`, never from `now`."""

    def now(self) -> datetime:
        """Say what time it is, UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds from an arbitrary point, never going back."""
        ...


class Observer(Protocol):
    """Watches a run from outside; it must be quick and must not raise."""

    def started(self, snapshot: Snapshot) -> None:
        """The run is open; nothing has been sent yet."""

    def ticked(self, look: Callable[[], Snapshot]) -> None:
        """A session has ended; `look` gives the snapshot to those who want to draw one now."""

    def judged(self, snapshot: Snapshot) -> None:
        """A block, or the measurement, is complete and has been judged."""

    def closed(self, snapshot: Snapshot) -> None:
        """The run stands still."""
