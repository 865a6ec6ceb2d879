"""Any sequence of appends, deaths, damage and reopenings reads as a plain list says that it should."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.store.examples import event, manifest, sample
from workbench.model.outcome import Counts, Status
from workbench.model.run import RunState, Sample
from workbench.store import RunFolder, RunView, Writing
from workbench.store.faults import FaultyOs


class NoSync(FaultyOs):
    """No power is cut here, so nothing has to wait for the disk."""

    def fsync(self, fd: int, /) -> None:
        pass

    fdatasync = fsync


WRITING = Writing(sync_every=0, secrets=(), disk=NoSync())
TEXTS = st.text(st.characters(codec=None, exclude_categories=()), max_size=20) | st.just(
    "long " * 20_000
)
STATUSES = st.sampled_from(Status)


class OneRun(RuleBasedStateMachine):
    """A run folder beside the list of what it should hold."""

    @initialize()
    def create(self) -> None:
        self.parent = Path(tempfile.mkdtemp())
        self.folder = RunFolder.create(self.parent, manifest(), WRITING)
        self.samples: dict[str, Sample] = {}
        self.kinds: list[str] = []
        self.state = RunState.PLANNED
        self.duplicates = 0

    @rule(
        session=st.integers(0, 12),
        arm=st.sampled_from(["control", "treatment"]),
        text=TEXTS,
        status=STATUSES,
    )
    def append(self, session: int, arm: str, text: str, status: Status) -> None:
        given = sample(session, arm=arm, text=text, status=status)
        self.folder.append_sample(given)
        if str(given.exchange.key) in self.samples:
            self.duplicates += 1
        else:
            self.samples[str(given.exchange.key)] = given

    @rule(kind=st.sampled_from(["arm_started", "guard"]), fact=TEXTS)
    def note(self, kind: str, fact: str) -> None:
        self.folder.append_event(event(kind, what=fact))
        self.kinds.append(kind)

    @rule()
    def run(self) -> None:
        self.folder.replace_manifest(state=RunState.RUNNING)
        self.state = RunState.RUNNING

    @rule(state=st.sampled_from([RunState.FINISHED, RunState.STOPPED, RunState.STORAGE_ERROR]))
    def close_and_resume(self, state: RunState) -> None:
        self.folder.close(state)
        assert RunView.read(self.folder.path).altered() == ()
        self.state = state
        self.folder = RunFolder.resume(self.folder.path, WRITING)

    @rule(torn=st.binary(max_size=30).filter(lambda tail: b"\n" not in tail))
    def die_and_resume(self, torn: bytes) -> None:
        self.folder.abandon()
        for path in [*self.folder.path.glob("samples-*.jsonl"), *self.folder.path.glob("events.jsonl")]:
            with path.open("ab") as file:
                file.write(torn)
        if self.state is RunState.RUNNING:
            self.state = RunState.CRASHED
        self.folder = RunFolder.resume(self.folder.path, WRITING)

    @invariant()
    def reads_as_the_list(self) -> None:
        view = RunView.read(self.folder.path)
        assert list(view.samples()) == list(self.samples.values())
        assert [found.kind for found in view.events()] == self.kinds
        assert view.manifest.state is self.state
        damage = view.damage()
        assert (damage.torn, damage.bad, damage.files, damage.duplicates) == (
            {},
            {},
            {},
            self.duplicates,
        )
        for place, counts in view.counts().items():
            arm, _ = place.split("/")
            ours = [s for s in self.samples.values() if s.exchange.key.session.arm == arm]
            ours.sort(key=lambda s: s.exchange.key)
            assert counts.order == Counts.of(s.status for s in ours).order

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.folder.abandon()
            shutil.rmtree(self.parent)


TestOneRun = OneRun.TestCase
TestOneRun.settings = settings(
    max_examples=25,
    stateful_step_count=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
