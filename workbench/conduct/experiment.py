"""The one loop: walk the docket, drive the sessions that it asks for, until every word has fallen.

A resumed run goes through the very same loop. Sessions that the journal holds are not asked for again,
so a complete block costs nothing and leads to the judgement that it led to the first time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace

from workbench.conduct.books import Books, Place
from workbench.conduct.budget import Budget
from workbench.conduct.executor import InProcess
from workbench.conduct.knobs import Knobs
from workbench.conduct.labelling import Labeller
from workbench.conduct.meter import Meter
from workbench.conduct.schedule import job
from workbench.conduct.sources import Sources
from workbench.conduct.starts import Starts
from workbench.errors import EngineError, Interrupted, ResumeRefused, StorageFull
from workbench.judge import guards
from workbench.judge.continuation import NOTHING, Beginning
from workbench.judge.docket import Docket, Judged, Work
from workbench.model.outcome import Exchange
from workbench.model.plan import Arm, Cluster, Plan
from workbench.model.progress import Phase, Snapshot
from workbench.model.run import Fingerprint, RunEvent, RunState
from workbench.model.start import Start
from workbench.model.verdict import Guard
from workbench.ports import Classifier, Clock, Engine, Observer, Workload
from workbench.store import RunFolder

# a resume that never got to run must not take back how an earlier opening ended
_AT_REST = (RunState.FINISHED, RunState.STOPPED)


@dataclass(frozen=True, kw_only=True, slots=True)
class Parts:
    """The plug-ins of a run, built, and the files that they need changed.

    Attributes:
        engine: Brings an arm up.
        workload: Drives a session.
        classifier: Labels what comes back.
        knobs: Turn an arm's settings.
        files: Gives what keeps an arm's edits of files in place while it is entered.
        edited: What was read back of an arm to the same with its files as the edits make them.
        sources: The code that the arms are run from.
    """

    engine: Engine
    workload: Workload
    classifier: Classifier
    knobs: Knobs
    files: Callable[[Arm], AbstractContextManager[None]] = lambda arm: nullcontext()
    edited: Callable[[Fingerprint, Arm], Fingerprint] = lambda found, arm: found
    sources: Sources = field(default_factory=Sources)


class Experiment:
    """One opening of a run, from the first session that is missing to its end.

    Args:
        plan: The plan as executed, unredacted.
        folder: The run's folder, open for writing.
        parts: Engine, workload, classifier and knobs.
        clock: Time.
        observer: Told of every session and every block.
        beginning: What the run begins with, of earlier runs of the same test.
    """

    def __init__(
        self,
        plan: Plan,
        folder: RunFolder,
        parts: Parts,
        clock: Clock,
        observer: Observer,
        beginning: Beginning = NOTHING,
    ) -> None:
        self._plan = plan
        self._folder = folder
        self._parts = parts
        self._clock = clock
        self._observer = observer
        self._books = Books(plan)
        self._labeller = Labeller(plan, parts.classifier)
        self._docket = Docket(plan, self._books.tally, beginning, self._books.others)
        self._executor = InProcess(
            folder.manifest.id, parts.engine, parts.workload, parts.knobs, parts.files
        )
        self._starts: Starts | None = None
        self._arm = ""
        self._spent = folder.manifest.seconds
        self._begun = clock.monotonic()
        self._budget = Budget(plan, clock)

    async def run(self) -> Snapshot:
        """Run to the end and give how it looks there.

        Raises:
            ArmCouldNotStart: An arm cannot be brought up; the run is kept as stopped.
            ResumeRefused: The arms of a resumed run are not what they were.
            StorageFull: The disk refused a write; what was acknowledged is whole.
            Interrupted: The task was cancelled; everything that had ended is on disk.
        """
        if self._folder.manifest.openings > 1:
            self._parts.workload.leftovers(self._folder.manifest.id)
        self._books.recall(self._folder.samples())
        try:
            planned = await self._open()
            await self._walk(planned)
        except asyncio.CancelledError:
            self._close(RunState.STOPPED, "interrupted")
            raise Interrupted("interrupted; everything that had finished is saved") from None
        except StorageFull as error:
            self._folder.close(RunState.STORAGE_ERROR, why=error.what, seconds=self._seconds)
            raise
        except (EngineError, ResumeRefused) as error:
            if self._folder.manifest.state not in _AT_REST:
                self._close(RunState.STOPPED, error.what)
            raise
        self._docket.jury.close()
        self._close(RunState.FINISHED, "")
        return self._look()

    async def _open(self) -> Mapping[str, Fingerprint]:
        """Read back what the arms run and put it on record, or hold it against the record."""
        now = await read_back(self._plan, self._parts)
        for name, before in self._folder.manifest.fingerprints.items():
            for guard in guards.changed(before, self._folder.as_recorded(now[name])):
                raise ResumeRefused(
                    f"something else would be tested now: {guard.detail}", hint="start a new run"
                )
        self._folder.replace_manifest(state=RunState.RUNNING, fingerprints=now, why="")
        self._event("opened", opening=self._folder.manifest.openings)
        for comparison in self._plan.comparisons:
            if comparison.hypothesis is not None:
                pair = now[comparison.control], now[comparison.treatment]
                self._docket.jury.trip(guards.same_config(*pair))
        parts = self._parts
        for found in now.values():
            self._keep_patch(found)
        self._starts = Starts(
            self._plan, self._folder, parts.engine, parts.sources, now, sends=parts.workload.sends
        )
        self._observer.started(self._look())
        return now

    async def _walk(self, planned: Mapping[str, Fingerprint]) -> None:
        driven = False
        for step in self._docket.steps():
            if self._docket.jury.guarded:
                return
            if isinstance(step, Work):
                if not self._budget.allows(step, self._docket, self._books):
                    return
                await self._drive(step, planned[step.arm])
                driven = True
            elif driven:  # what earlier openings judged has been told and recorded by them
                self._judged(step)

    async def _drive(self, work: Work, planned: Fingerprint) -> None:
        """Run the sessions of one step; what the arm is must be the same before and after them."""
        arm = self._plan.arm(work.arm)
        if not await self._unchanged(arm, planned, block=work.block):
            return
        self._event("arm_started", arm=work.arm, block=work.block, sessions=len(work.sessions))
        plan = self._plan
        self._arm = work.arm
        try:
            await self._executor.execute(
                job(arm, work.block, work.sessions, seed=plan.seed, in_flight=plan.in_flight),
                self._take,
                work.enough,
                self,
            )
        except EngineError as error:
            self._event("arm_failed", arm=work.arm, block=work.block, what=error.what)
            raise
        finally:
            self._arm = ""
        if not self._docket.jury.guarded:
            await self._unchanged(arm, planned, block=work.block)

    async def _unchanged(self, arm: Arm, planned: Fingerprint, *, block: int) -> bool:
        """Read back what an arm runs; if that has changed, put it on record and invalidate the run."""
        now = await _read_back(arm, self._parts)
        found = guards.changed(planned, now)
        if found:
            self._folder.write_fingerprint(now, block)
            self._keep_patch(now)
        return self._stands(found)

    def _keep_patch(self, found: Fingerprint) -> None:
        """Keep how the code of an arm differs from its commit."""
        if found.code and (patch := self._parts.sources.patch(found.code)):
            self._folder.write_patch(patch)

    def _stands(self, guards: Sequence[Guard]) -> bool:
        """Say whether the run stands; with guards it is invalid, and that is put on record."""
        if guards:
            self._docket.jury.trip(guards)
            self._event("guard", guards=[guard.detail for guard in guards])
        return not guards

    async def up(self, arm: Arm, block: int, number: int, ready_seconds: float) -> bool:
        """Look at an arm that is up; say whether it is what it should be."""
        assert self._starts is not None
        start = Start(
            arm=arm.name,
            block=block,
            opening=self._folder.manifest.openings,
            number=number,
            ready_seconds=ready_seconds,
            reset="a new process" if self._parts.engine.disturbs else "",
        )
        return self._stands(await self._starts.up(arm, start))

    async def over(self, arm: Arm, meter: Meter, died: str) -> bool:
        """Look at it again after its load; say whether the run stands."""
        assert self._starts is not None
        if died:
            self._event("engine_died", arm=arm.name, what=died)
        return self._stands(await self._starts.over(arm, meter, died))

    def _take(self, exchange: Exchange) -> None:
        """Put an exchange on disk, then count it, then tell."""
        attempt = self._folder.manifest.openings
        sample = self._books.record(exchange, self._labeller, self._clock, attempt)
        self._folder.append_sample(sample)
        self._books.count(sample)
        self._observer.ticked(self._look)

    def _judged(self, step: Judged) -> None:
        snapshot = self._look()
        verdicts = [judgement.verdict for judgement in snapshot.judgements]
        self._event("judged", block=step.block, verdicts=verdicts)
        self._observer.judged(snapshot)

    def _event(self, kind: str, **facts: object) -> None:
        self._folder.append_event(RunEvent(at=self._clock.now(), kind=kind, facts=facts))

    def _close(self, state: RunState, why: str) -> None:
        self._event("closed", state=state, why=why)
        self._folder.close(
            state=state,
            why=why,
            seconds=self._seconds,
            ended=self._clock.now(),
            guards=self._docket.jury.guards,
        )
        self._observer.closed(self._look())

    @property
    def _seconds(self) -> float:
        return self._spent + self._clock.monotonic() - self._begun

    def _look(self) -> Snapshot:
        phase = Phase.COMPARING if self._docket.block else Phase.MEASURING
        place = Place(
            run=self._folder.manifest.id,
            folder=str(self._folder.path),
            phase=phase,
            arm=self._arm,
            in_flight=self._executor.in_flight,
            seconds=self._seconds,
        )
        return self._books.snapshot(self._docket, place)


async def read_back(plan: Plan, parts: Parts) -> dict[str, Fingerprint]:
    """Read back what every arm of a plan runs, its code checked out. Raises ArmCouldNotStart."""
    await parts.sources.ready(plan.arms)
    return {arm.name: await _read_back(arm, parts) for arm in plan.arms}


async def _read_back(arm: Arm, parts: Parts) -> Fingerprint:
    """Read back an arm, with what its knobs turn beside the engine."""
    found = await parts.engine.fingerprint(arm, parts.knobs.turn(arm))
    found = replace(found, config={**found.config, **parts.knobs.beside_in_words(arm)})
    code = parts.sources.look(arm)
    notes = parts.sources.notes(arm)
    if parts.engine.disturbs or parts.engine.cluster is Cluster.TRIAL:
        found = replace(found, code=code)
    elif code:  # it was started by others, and they know from where
        notes = {**notes, "commit in the repository": code.commit or "none"}
    found = replace(found, volatile={**found.volatile, **notes})
    return parts.edited(found, arm)
