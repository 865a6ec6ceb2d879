"""A campaign at one moment, read whole: what every face, report and export is drawn from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from workbench.model.campaign import CampaignSpec
from workbench.model.event import Event
from workbench.model.hypothesis import Hypothesis, Problem
from workbench.model.outcome import Counts
from workbench.model.run import RunState
from workbench.model.standing import Standing


@dataclass(frozen=True, kw_only=True, slots=True)
class RunLine:
    """A run as a list shows it.

    Attributes:
        id: Its id.
        path: Its folder, relative to the campaign's.
        command: The verb that planned it.
        state: As its manifest says; `running` without a live owner shows as `crashed`.
        hypotheses: Those that it serves.
        planned: Hypothesis id to the sha256 of its file when the run was planned.
        created: When it was planned, UTC.
        seconds: Time spent running.
        counts: Counts by arm, over all its blocks.
        problem: Why it cannot be read; empty when all is well.
    """

    id: str
    path: str
    command: str = ""
    state: RunState | None = None
    hypotheses: tuple[str, ...] = ()
    planned: Mapping[str, str] = field(default_factory=dict)
    created: datetime | None = None
    seconds: float = 0.0
    counts: Mapping[str, Counts] = field(default_factory=dict)
    problem: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """Exchanges of one arm that were not clean, of one kind.

    Attributes:
        run: Id of the run.
        arm: Name of the arm.
        label: The classifier's word, with the rule that fired.
        signature: What they have in common.
        times: How many there are.
        key: The first of them.
        text: Its reply, as far as it was kept; untrusted.
    """

    run: str
    arm: str
    label: str
    signature: str
    times: int
    key: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """What somebody has seen of a log.

    Attributes:
        what: What they said of it: a time, an event, a run.
        at: Its time, UTC.
        events: The events seen, in the order of the log.
    """

    what: str
    at: datetime
    events: tuple[Event, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Registry:
    """The whole campaign.

    Attributes:
        root: The campaign's folder, absolute.
        spec: `campaign.yaml`, as far as it could be read.
        hypotheses: Those whose file is valid, by number.
        standings: Hypothesis id to where it stands, also for ids that only the log knows.
        events: The log in its order, renumbering applied.
        heads: Digests of the events that no other follows, sorted; one unless branches were merged.
        runs: Runs, oldest first.
        edited: Hypothesis id to runs after which its prediction, test or `falsified_by` was edited.
        problems: What is wrong in any of the files.
    """

    root: str
    spec: CampaignSpec
    hypotheses: tuple[Hypothesis, ...] = ()
    standings: Mapping[str, Standing] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    heads: tuple[str, ...] = ()
    runs: tuple[RunLine, ...] = ()
    edited: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    def hypothesis(self, id: str) -> Hypothesis | None:
        """Look a hypothesis up; None when no valid file has that id."""
        return next((each for each in self.hypotheses if each.id == id), None)
