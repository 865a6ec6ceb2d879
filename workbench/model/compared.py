"""Two runs side by side: what is equal, what differs, what each counted; nothing is ever pooled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from workbench.model.outcome import Counts
from workbench.model.run import RunState


class Kinship(StrEnum):
    """How two runs belong together (RULES 6)."""

    GOES_ON = "goes-on"  # one test, and the later began with the complete blocks of the earlier
    ONE_TEST = "one-test"  # one test, and the later took nothing over
    OTHER_TESTS = "other-tests"  # evidence of one is none for the other
    NO_DIGEST = "no-digest"  # one of them tests no hypothesis: each is a process of its own


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """Something that two runs have in two ways; empty where one has it not."""

    what: str
    first: str
    second: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Word:
    """What a run says of one of its comparisons.

    Attributes:
        about: Id of the hypothesis, else the two arms.
        verdict: The word; empty while undecided.
        reason: Why it is inconclusive; else empty.
        blocks: Complete blocks judged.
        earlier: How many of them are of earlier runs.
        digest: Test digest; empty where no hypothesis is tested.
    """

    about: str
    verdict: str
    reason: str
    blocks: int
    earlier: int
    digest: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """One of the two.

    Attributes:
        run: Its id.
        command: The verb that planned it.
        state: Where it stands.
        created: When it was planned.
        seconds: How long it ran.
        arms: What this run itself counted, by arm; sessions of unfinished blocks included.
        rates: Interval of each arm's rate.
        words: What it says.
        problems: What of its record is damaged or altered, one line each.
    """

    run: str
    command: str
    state: RunState
    created: datetime
    seconds: float
    arms: Mapping[str, Counts]
    rates: Mapping[str, tuple[float, float]]
    words: tuple[Word, ...]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Compared:
    """Two runs.

    Attributes:
        first: The one that was planned first.
        second: The other one.
        equal: Aspects of the plan in which they do not differ, such as `workload`.
        differs: What differs of the plans; the seed is left out.
        found: What differs of what was read back of arms that both have.
        read_back: Arms of which both have something that was read back.
        kinship: How they belong together.
    """

    first: Side
    second: Side
    equal: tuple[str, ...]
    differs: tuple[Difference, ...]
    found: tuple[Difference, ...]
    read_back: tuple[str, ...]
    kinship: Kinship
