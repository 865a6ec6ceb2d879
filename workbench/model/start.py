"""One start of an engine for one arm as it was found: what took effect, was exercised, was sent.

A setting is a claim until it has been read back, and a path is one until something counts that it was
taken. Both are facts of a start, recorded beside its fingerprint, and the guards compare them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

UNTOLD = "(the engine does not tell)"  # found, where nothing can be compared and nothing must be


@dataclass(frozen=True, kw_only=True, slots=True)
class Exposure:
    """What proves that the suspect's path was exercised, and how much of it is enough.

    Attributes:
        metric: Name of a metric of the server; empty when a log is looked at.
        log: Regular expression, matches of which are counted in the log of a start; or empty.
        component: Component whose log it is; empty for all.
        at_least: Least that is enough; None for no such bound.
        at_most: Most that is allowed; None for no such bound.
        where: Arms in which it must be so.
    """

    metric: str = ""
    log: str = ""
    component: str = ""
    at_least: float | None = None
    at_most: float | None = None
    where: Literal["control", "treatment", "both"] = "control"


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """Something that was looked up, and what it was to be.

    Attributes:
        about: What was looked up, such as `knob index_k` or `exposure peak_in_flight`.
        source: Where, such as `server_info index_k_dtype of decode`.
        due: What it was to be, in words.
        found: What it is; empty for nothing at all.
        ok: Whether it is what it was to be.
    """

    about: str
    source: str
    due: str
    found: str
    ok: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """What a start was really put under, as client and server saw it.

    Attributes:
        asked: Requests that were to be in flight: one a session, or fewer by a knob of kind `load`.
        sessions: Sessions that were driven.
        exchanges: Exchanges that ended.
        requests: Requests that were sent, attempts counted singly.
        client_peak: Most requests that can have been under way at once, as the client counts: one for
            each session, and no more than were asked for.
        server_peak: Most requests that were under way at once, as the server counts; None if it
            does not say.
        exact: The server counted its peak itself; else it is the most of `samples` looks.
        samples: How often the server was asked.
        served: Requests that the server took meanwhile, by its own count; None if it does not say.
        seconds: How long sessions were driven.
        lag_mean: Mean seconds by which the client's event loop was late.
        lag_most: Most of them.
        cpu: Share of one core that the client took.
    """

    asked: int
    sessions: int = 0
    exchanges: int = 0
    requests: int = 0
    client_peak: int = 0
    server_peak: float | None = None
    exact: bool = False
    samples: int = 0
    served: float | None = None
    seconds: float = 0.0
    lag_mean: float = 0.0
    lag_most: float = 0.0
    cpu: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """A start.

    Attributes:
        arm: Which arm was brought up.
        block: For which block.
        opening: Which opening of the run it belongs to, from 1.
        number: Which start of this arm in this block and opening, from 1; more than 1 where the
            engine died.
        ready_seconds: From the order to start until it was ready.
        readbacks: A reading for each knob that has a readback.
        exposure: A reading for each exposure that was asked for.
        load: What it was put under; None if nothing was sent.
        metrics: What the server's counters grew by meanwhile, and its other metrics at the end.
        reset: What lies between this start and the one before it, such as `a new process`.
        died: How the engine died under the load; empty if it did not.
    """

    arm: str
    block: int
    opening: int = 1
    number: int = 1
    ready_seconds: float = 0.0
    readbacks: tuple[Reading, ...] = ()
    exposure: tuple[Reading, ...] = ()
    load: Load | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    reset: str = ""
    died: str = ""
