"""The seams of the workbench: what an engine, a workload, a knob, a classifier and a clock must offer.

A plug-in is a class with a frozen options dataclass named `Options`, built as `cls(options)`, and one
entry point (`workbench.engines`, `workbench.dialects`, `workbench.workloads`, `workbench.knobs`,
`workbench.classifiers`).
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
class Edit:
    """A change of one file that an arm needs, to be taken back after it.

    Attributes:
        path: The file, from the folder that the engine's own paths are from.
        key: Dotted key of a value in a JSON or YAML file; empty when a line is meant.
        line: The line, or the flag within one, that is to be there or not; empty when a key is meant.
        value: What the key is set to; for a line, true or false, or what follows it.
    """

    path: str
    key: str = ""
    line: str = ""
    value: Any = None


CHECKOUT = "{checkout}"  # in words of a launch: the folder that its code is run from


@dataclass(frozen=True, kw_only=True, slots=True)
class Checkout:
    """Code that an arm is run from, in place of the repository's own work tree.

    Attributes:
        commit: Revision of the commit, once planned its whole id; empty for the one that is checked out
            in the repository.
        patches: Paths of files with changes to lay over it, in this order, from the campaign's folder.
        build: Command that is executed in it once, word by word; empty for none.
        build_timeout: Seconds that the command may take.
    """

    commit: str = ""
    patches: tuple[str, ...] = ()
    build: tuple[str, ...] = ()
    build_timeout: float = 1800.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where the code of an arm lies. Paths are absolute, with no symbolic link on the way.

    Attributes:
        folder: Its topmost folder.
        instead_of: That of the repository's own work tree; empty if it has none.
    """

    folder: str
    instead_of: str = ""

    def moved(self, path: str) -> str:
        """Give what lies here in place of a path of the repository; other paths stay."""
        inner = _within(path, self.instead_of)
        return path if inner is None else f"{self.folder}/{inner}".rstrip("/")

    def named(self, path: str) -> str:
        """Name a path as it goes on record, the same wherever the code lies; empty for others."""
        inner = _within(path, self.folder)
        return "" if inner is None else f"{CHECKOUT}/{inner}".rstrip("/")

    def fill(self, text: str) -> str:
        """Put the folder where a text has the placeholder."""
        return text.replace(CHECKOUT, self.folder)


def _within(path: str, folder: str) -> str | None:
    """Give a path from a folder on; None if it does not lie there."""
    if not folder or not f"{path}/".startswith(f"{folder}/"):
        return None
    return path[len(folder) + 1 :]


@dataclass(frozen=True, kw_only=True, slots=True)
class Launch:
    """How a component of an engine is started and spoken to, as far as knobs can turn it.

    The engine acts on `argv`, `env`, `url`, `cwd` and `place`; the rest is the conductor's and the
    workload's.

    Attributes:
        argv: Its command line, word by word; no shell ever sees it.
        env: Variables laid over its environment; None takes a variable out of it.
        url: Where clients find it, in place of where the engine would say; else empty.
        edits: Files to change before it is started.
        request: Fields to lay over the body of every request, by dotted key; None takes one out.
        load: What the load is to be, in place of the plan's: `in_flight`, and options of the workload
            such as `turns`.
        checkout: Code to run it from; None for the repository's own work tree, if there is one.
        cwd: Folder in which it runs, absolute. The engine says which, and the conductor moves it into
            the code that is run.
        place: Where that code lies, from the conductor; None if nobody knows of any.
    """

    argv: tuple[str, ...] = ()
    env: Mapping[str, str | None] = field(default_factory=dict)
    url: str = ""
    edits: tuple[Edit, ...] = ()
    request: Mapping[str, Any] = field(default_factory=dict)
    load: Mapping[str, Any] = field(default_factory=dict)
    checkout: Checkout | None = None
    cwd: str = ""
    place: Place | None = None


class Turn(Protocol):
    """What the settings of an arm make of a launch: an engine calls it for each of its components."""

    def __call__(self, launch: Launch, component: str = "") -> Launch:
        """Give the launch as the arm's knobs turn it. Raises ArmCouldNotStart when they cannot."""
        ...


def silent(_: str) -> None:
    """Tell nobody: what is done where no one listens."""


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
        request: Fields to lay over the body of every request, by dotted key; None takes one out.
        load: Options of the workload that this arm has another value of, such as `turns`.
    """

    arm: str
    argv: tuple[str, ...] = ()
    url: str = ""
    env: Mapping[str, str | None] = field(default_factory=dict)
    cwd: str = ""
    request: Mapping[str, Any] = field(default_factory=dict)
    load: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Component:
    """A part of an engine that is up, as it was read back and not as it was asked for.

    Attributes:
        url: Where it answers; empty if it does not speak HTTP, or nobody knows.
        pid: Its process, None when it cannot be told, such as of a server on another host.
        started: When that process began, seconds since 1970; with the pid it names a process.
        argv: Its command line as the kernel has it.
        env: Its environment as the kernel has it; stays in memory but for what knobs ask for.
        info: Its effective configuration as it tells it, by dotted key.
        log: Path of its log; empty if it has none that can be read.
        log_from: Byte of the log at which this start begins.
        files: Path to sha256 of the files that it runs, as they are now.
        newest: When the newest of those files was changed, seconds since 1970; None without files. In a
            worktree that was checked out for it, any tracked file counts.
        early: Seconds by which the kernel may tell `started` too early, beside the clock of files.
        cwd: Folder in which it runs, as the kernel has it.
    """

    url: str = ""
    pid: int | None = None
    started: float | None = None
    argv: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    info: Mapping[str, str] = field(default_factory=dict)
    log: str = ""
    log_from: int = 0
    files: Mapping[str, str] = field(default_factory=dict)
    newest: float | None = None
    early: float = 0.0
    cwd: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sighting:
    """An engine that is up, as it was read back.

    Attributes:
        components: By name; an engine that is all one has one, named by the empty text.
        volatile: Patterns (as of `fnmatch`) of keys of `info` that mean nothing when they differ.
    """

    components: Mapping[str, Component]
    volatile: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Traffic:
    """What a server counts of what it is sent, at one moment; None for what it does not say.

    Attributes:
        metrics: All its metrics by name, samples of different labels added up.
        in_flight: Requests under way right now, those that wait included.
        peak: Most requests that were ever under way at once, counted by the server itself.
        served: Requests that it has taken since it began.
    """

    metrics: Mapping[str, float] = field(default_factory=dict)
    in_flight: float | None = None
    peak: float | None = None
    served: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionRequest:
    """One session to drive: its run, its place in it, and the seed that fixes what it sends."""

    run: str
    key: SessionKey
    seed: int


@runtime_checkable
class Engine(Protocol):
    """Brings an arm up, says what is really running, and takes it down again.

    Who derives from it has to give three methods; the others then say that there is nothing to tell.
    An engine that speaks to a server is built as `cls(options, dialect)`, and says so by `speaks`.

    Attributes:
        cluster: What the sessions of a start share.
        speaks: It needs a dialect.
        lease: What only one run may have at a time, such as a URL; empty for nothing.
        disturbs: Starting an arm starts, stops or restarts something that others may be using.
    """

    cluster: Cluster
    speaks: bool = False
    lease: str = ""
    disturbs: bool = False

    async def start(self, arm: Arm, turn: Turn = untouched) -> Endpoint:
        """Bring an arm up, until it is ready. Raises ArmCouldNotStart, leaving nothing running."""
        ...

    async def fingerprint(self, arm: Arm, turn: Turn = untouched) -> Fingerprint:
        """Say what this arm would run, or runs. Nothing is started for it. Raises ArmCouldNotStart."""
        ...

    async def stop(self) -> None:
        """Take down what is up; does nothing when nothing is."""
        ...

    async def look(self) -> Sighting | None:
        """Read back what is up; None when there is nothing to read. Raises EngineError."""
        return None

    async def traffic(self) -> Traffic:
        """Give what the server counts, cheaply enough for ten times a second. Raises EngineError."""
        return Traffic()

    async def flush(self) -> bool:
        """Empty its caches between arms that share a start; False: it cannot. Raises EngineError."""
        return False

    def died(self) -> str:
        """Say how what was started has ended by itself; empty while it is up."""
        return ""


@runtime_checkable
class Dialect(Protocol):
    """How a server is spoken to. All methods raise EngineError when it does not answer as it should.

    Attributes:
        health: Path that answers 200 once the server is ready.
        volatile: Patterns of keys of `info` that mean nothing when they differ, such as ports.
    """

    health: str
    volatile: tuple[str, ...]

    async def ready(self, url: str) -> bool:
        """Say whether it is ready; False while it does not answer. Never raises."""
        ...

    async def info(self, url: str) -> Mapping[str, str]:
        """Give its effective configuration by dotted key; nothing if it tells none."""
        ...

    async def traffic(self, url: str) -> Traffic:
        """Give what it counts."""
        ...

    async def flush(self, url: str) -> bool:
        """Empty its caches; False when it cannot."""
        ...


@runtime_checkable
class KnobKind(Protocol):
    """One way of setting something: the value of a level, worked into a launch."""

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
    """Sends the turns of a session and yields what comes back; it never judges.

    Attributes:
        sends: Each request that it sends is an exchange; False for one that others send for it.
    """

    sends: bool = True

    def drive(self, endpoint: Endpoint, session: SessionRequest) -> AsyncIterator[Exchange]:
        """Yield one exchange a turn.

        Cancelling the iteration must end what it started. Raises ArmCouldNotStart when the endpoint
        turns out not to be one.
        """
        ...

    def leftovers(self, run: str) -> int:
        """End what a killed opening of this run left behind; give how many there were."""
        ...

    async def close(self) -> None:
        """Let go of connections: the arm is about to be taken down."""
        return


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
