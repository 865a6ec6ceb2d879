"""A run on record: its manifest, the lines of its journal, and what was really running.

The manifest is written as `planned` before the first session and replaced as a whole at each change
of state; samples are appended, one line an exchange. Only `finished` yields a verdict on record; the
other states yield complete blocks, from which the same run may be continued.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from workbench.model.commits import Code
from workbench.model.event import Earlier
from workbench.model.outcome import Counts, Exchange, Label, Status
from workbench.model.plan import Plan
from workbench.model.start import Start
from workbench.model.verdict import Guard

RUN_SCHEMA = "workbench/run@1"


class RunState(StrEnum):
    """Where a run stands. `crashed` is written by the next opener, never by the run itself."""

    PLANNED = "planned"
    RUNNING = "running"
    FINISHED = "finished"
    STOPPED = "stopped"
    CRASHED = "crashed"
    STORAGE_ERROR = "storage_error"


@dataclass(frozen=True, kw_only=True, slots=True)
class Fingerprint:
    """What was really running for one arm, read back and not assumed.

    Attributes:
        arm: Name of the arm.
        config: Effective configuration, redacted; compared between the arms of a comparison.
        files: Path to sha256 of the files that the arm runs; a change during a run invalidates it.
        volatile: Facts that are recorded and never compared, such as pids.
        start: How the start went that this was read back from; None if nothing was started for it.
        code: What code it runs from; None where the campaign names no repository.
    """

    arm: str
    config: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=dict)
    volatile: Mapping[str, str] = field(default_factory=dict)
    start: Start | None = None
    code: Code | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """What an exchange is for another symptom of the campaign than the run's own."""

    label: Label
    status: Status


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """One line of the journal: an exchange, its label, and the status it gives its trial.

    Attributes:
        exchange: What came back; its text is emptied unless it is to be kept.
        attempt: 1, or more when earlier openings of the run may have begun the same session.
        label: The classifier's word.
        status: Status of this exchange for the run's symptom.
        text_sha256: Digest of the text as labelled, before masking and capping on disk.
        at: When the exchange ended, UTC.
        others: What it is for the other symptoms that the run watches, by their names; those for which
            it is clean under its own label are left out. `seen` gives them all.
    """

    exchange: Exchange
    attempt: int
    label: Label
    status: Status
    text_sha256: str
    at: datetime
    others: Mapping[str, Seen] = field(default_factory=dict)

    def seen(self, symptom: str) -> Seen:
        """Say what it is for another symptom that the run watches."""
        return self.others.get(symptom) or Seen(label=self.label, status=Status.CLEAN)


@dataclass(frozen=True, kw_only=True, slots=True)
class Shard:
    """A finished samples file: how many lines, and the digest of its bytes."""

    file: str
    lines: int
    sha256: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Owner:
    """The process that has, or had, the run: enough to tell a dead owner from a reused pid."""

    who: str
    host: str
    boot_id: str
    pid: int
    started: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Served:
    """A hypothesis that a run serves, as it stood when the run was planned.

    Attributes:
        hypothesis: Its id.
        file: Path of its file, relative to the campaign's folder.
        sha256: Digest of the file's bytes.
        text: The file's text, secrets taken out: the verdict stands on this copy.
        workload: Name of the workload in the campaign.
        engine: Name of the engine in the campaign.
        digest: Test digest (RULES 6); empty until the arms have been read back.
        earlier: Runs of the same digest whose complete blocks come before this run's own.
        put_back: The run puts the cause back; its comparison is that of `put_back` in the file.
    """

    hypothesis: str
    file: str
    sha256: str
    text: str
    workload: str = ""
    engine: str = ""
    digest: str = ""
    earlier: tuple[Earlier, ...] = ()
    put_back: bool = False


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """The state of a run as one file, `manifest.json`.

    Attributes:
        id: The run's id.
        command: The verb that planned it, such as `ab`.
        state: Where it stands.
        plan: What it does; command lines and values are redacted.
        plan_digest: sha256 of the plan as executed, before redaction; a resume must match it.
        fingerprints: What was running, by arm, at the first opening.
        created: When it was planned, UTC.
        ended: When the last opening ended, UTC.
        seconds: Time spent running over all openings, monotonic.
        openings: How often a process has opened the run to work on it.
        owner: Who opened it last.
        why: Why it stopped short, for people; empty for a finished run.
        guards: The guards that tripped.
        counts: Counts by `arm/block`; derived from the samples, checked on reading.
        shards: Digests of the samples files, once the run stands still.
        versions: Versions of the workbench and of what its judgement rests on.
        serves: Hypotheses that it serves, in the order of the plan's comparisons.
    """

    id: str
    command: str
    state: RunState
    plan: Plan
    plan_digest: str
    created: datetime
    owner: Owner
    fingerprints: Mapping[str, Fingerprint] = field(default_factory=dict)
    ended: datetime | None = None
    seconds: float = 0.0
    openings: int = 0
    why: str = ""
    guards: tuple[Guard, ...] = ()
    counts: Mapping[str, Counts] = field(default_factory=dict)
    shards: tuple[Shard, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    serves: tuple[Served, ...] = ()
    schema: str = RUN_SCHEMA


@dataclass(frozen=True, kw_only=True, slots=True)
class RunEvent:
    """One line of a run's `events.jsonl`: a change of state, a start of an arm, an error.

    Attributes:
        at: When, UTC.
        kind: `opened`, `arm_started`, `block_done`, `judged`, `arm_failed`, `guard`, `closed`.
        facts: What else there is to say, JSON values only.
    """

    at: datetime
    kind: str
    facts: Mapping[str, Any] = field(default_factory=dict)
