"""Tests of hypotheses: planned from their files, run, and their verdicts appended to the log.

The order is that of the store: samples, then the manifest `finished`, then the event. A process that is
killed between the last two leaves a run whose verdict anybody can recompute; whoever resumes it, or
tests the same again, appends what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from workbench.campaign import protecting, running, testing
from workbench.campaign.holding import Leave
from workbench.campaign.putting_back import require_removed
from workbench.campaign.registry import Campaign
from workbench.conduct.pinning import pinned
from workbench.conduct.tests import plan_tests, served_by
from workbench.errors import AlreadyDecided, StoreError, UsageError, WorkbenchError
from workbench.model.event import Actor, RunNoted, VerdictGiven
from workbench.model.plan import Plan
from workbench.model.progress import Snapshot
from workbench.model.run import RunState, Served
from workbench.ports import Observer
from workbench.store.mentions import new_names
from workbench.store.view import RunView


def plan(
    campaign: Campaign, ids: Sequence[str], asked: Mapping[str, Any], *, put_back: bool = False
) -> Plan:
    """Plan one run that serves hypotheses.

    Args:
        campaign: Theirs.
        ids: The hypotheses.
        asked: What is to differ from their files and the defaults; see `conduct.tests.plan_tests`.
        put_back: Put their causes back into the fixed system, where they were removed before.

    Raises:
        UsageError: One is unknown or cannot be run as it stands, or was not removed before.
        InvalidFiles: A file that is needed has mistakes.
    """
    hypotheses = [campaign.hypothesis(id) for id in _once(ids)]
    planned = plan_tests(campaign.spec, hypotheses, asked, put_back=put_back)
    for each in hypotheses if put_back else ():
        require_removed(campaign, each, asked)
    return pinned(planned, campaign.root)


def pace(campaign: Campaign, ids: Sequence[str]) -> float | None:
    """Give the seconds on the clock that a session took in the newest run of these, if any."""
    for line in reversed(campaign.run_lines):
        sessions = sum(counts.total for counts in line.counts.values())
        if sessions and not set(_once(ids)).isdisjoint(line.hypotheses):
            return line.seconds / sessions
    return None


def test(
    campaign: Campaign,
    ids: Sequence[str],
    asked: Mapping[str, Any],
    by: Actor,
    observer: Observer,
    leave: Leave,
    *,
    put_back: bool,
) -> Snapshot:
    """Run the test of hypotheses, to its end, and append the verdicts; raises as `plan` and runs do."""
    planned = plan(campaign, ids, asked, put_back=put_back)
    _refuse_too_little(planned, pace(campaign, ids))
    serves = tuple(replace(_served(campaign, id, asked), put_back=put_back) for id in _once(ids))
    leave = _given(campaign, serves[0].engine, planned, by, leave)
    log = _Noting(campaign, by, tuple(served.hypothesis for served in serves), observer)
    return log.over(lambda: testing.start(campaign.root, planned, serves, log, leave))


def resume(
    campaign: Campaign,
    run: str,
    asked: Mapping[str, Any],
    by: Actor,
    observer: Observer,
    leave: Leave,
) -> Snapshot:
    """Go on with a run, or append the verdicts of one that finished and could not say so.

    Args:
        campaign: Whose run.
        run: An id, or the start of one, or a folder.
        asked: What may differ between two openings, such as `max_blocks`.
        by: Who goes on.
        observer: Watches.
        leave: What it may do to what others use.
    """
    path = campaign.run_folder(run)
    lines = [line for line in campaign.run_lines if line.id == path.name]
    if lines and not lines[0].hypotheses:
        raise UsageError(f"run {path.name} tests no hypothesis", hint="workbench ab --resume RUN")
    manifest = RunView.read(path).manifest
    if manifest.serves:
        leave = _given(campaign, manifest.serves[0].engine, manifest.plan, by, leave)
    log = _Noting(campaign, by, lines[0].hypotheses if lines else (), observer)
    return log.over(lambda: testing.resume(campaign.root, path.name, asked, log, leave))


def decided(campaign: Campaign, run: str, hypothesis: str) -> Snapshot:
    """Give a run that decided on a hypothesis, judged anew, with that judgement alone."""
    snapshot = running.look(RunView.read(campaign.run_folder(run)))
    judgements = [each for each in snapshot.judgements if each.comparison.hypothesis == hypothesis]
    return replace(snapshot, judgements=tuple(judgements))


def _given(campaign: Campaign, engine: str, plan: Plan, by: Actor, leave: Leave) -> Leave:
    """Give the leave of a run, or refuse to touch a protected engine."""
    there = testing.placed(plan, campaign.root)
    return protecting.with_leave(campaign.root, campaign.spec, engine, there, by, leave)


def _refuse_too_little(plan: Plan, pace: float | None) -> None:
    """Refuse a budget within which not even a block would end, by the pace of an earlier run."""
    if plan.budget is None or pace is None:
        return
    least = len(plan.arms) * plan.rules.block_size * pace
    if plan.budget < least:
        raise UsageError(
            f"a budget of {plan.budget:g} s is too little: a block takes about {least:.3g} s",
            hint="give more time, or fewer --sessions",
        )


def _once(ids: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(id.upper() for id in ids))


def _served(campaign: Campaign, id: str, asked: Mapping[str, Any]) -> Served:
    file = campaign.hypothesis_file(id)
    workload, engine = served_by(campaign.spec, campaign.hypothesis(id), asked)
    return Served(
        hypothesis=id,
        file=file.path,
        sha256=file.sha256,
        text=file.data.decode(),
        workload=workload,
        engine=engine,
    )


class _Noting:
    """An observer that also puts on record that a run began, and how it ended short."""

    def __init__(
        self, campaign: Campaign, by: Actor, hypotheses: tuple[str, ...], observer: Observer
    ) -> None:
        self._campaign = campaign
        self._by = by
        self._hypotheses = hypotheses
        self._observer = observer
        self._run = ""
        self.ticked = observer.ticked
        self.judged = observer.judged
        self.closed = observer.closed

    def started(self, snapshot: Snapshot) -> None:
        """Note that the run is open."""
        self._run = snapshot.run
        self._note(RunState.RUNNING)
        self._observer.started(snapshot)

    def over(self, run: Callable[[], testing.Result]) -> Snapshot:
        """Run, and append the verdicts, or that there are none."""
        try:
            snapshot, verdicts = run()
        except AlreadyDecided as error:
            for decider in {run: None for run, _ in error.by.values()}:
                self._put_on_record(testing.verdicts(self._campaign.root, decider))
            raise
        except WorkbenchError as error:
            if self._run:
                with suppress(StoreError):  # the disk that ended the run may refuse this, too
                    self._note(self._state, error.what)
            raise
        self._put_on_record(verdicts)
        return snapshot

    @property
    def _state(self) -> RunState:
        return RunView.read(self._campaign.run_folder(self._run)).manifest.state

    def _put_on_record(self, verdicts: Sequence[VerdictGiven]) -> None:
        """Append what is not on record yet: a run that was killed at its very end could not say it."""
        for verdict in verdicts:
            if not self._is_known(verdict):
                self._campaign.journal.append(verdict, self._by)

    def _is_known(self, verdict: VerdictGiven) -> bool:
        """Say whether this very verdict is on record, perhaps under the id that its suspect has now."""
        events = self._campaign.journal.read().events
        (hypothesis,) = new_names(events, verdict.run, [verdict.hypothesis])
        said = (verdict.run, hypothesis, verdict.blocks, verdict.verdict)
        return any(
            (event.body.run, event.body.hypothesis, event.body.blocks, event.body.verdict) == said
            for event in events
            if isinstance(event.body, VerdictGiven)
        )

    def _note(self, state: RunState, why: str = "") -> None:
        body = RunNoted(run=self._run, hypotheses=self._hypotheses, state=state, why=why)
        self._campaign.journal.append(body, self._by)
