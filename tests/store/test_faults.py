"""A fault at every system call of a run's life, in turn; then the promises are checked one by one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.store.examples import RUN, event, manifest, sample
from workbench.errors import StorageFull, StoreError
from workbench.model.outcome import Status
from workbench.model.run import Fingerprint, RunState, Sample
from workbench.store import RunFolder, RunView, Writing
from workbench.store.faults import Fault, FaultyOs, Killed

BIG = "big " * 20_000  # goes to a blob
SAMPLES = [
    sample(0),
    sample(1, status=Status.HIT, text="leaked markup\u2028"),
    sample(2, text=BIG),
    sample(3, status=Status.ERRORED),
]


@dataclass
class Life:
    """What a run's process was told had worked."""

    acknowledged: list[Sample] = field(default_factory=list)
    states: list[RunState] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)
    tried: RunState | None = None


@contextmanager
def noted(life: Life) -> Iterator[None]:
    try:
        yield
    except (StoreError, OSError) as error:
        life.errors.append(error)


def live(parent: Path, disk: FaultyOs, life: Life) -> Life:
    """Create a run, write to it as a conductor would, and close it; `life` tells how far it came."""
    writing = Writing(sync_every=0, secrets=(), disk=disk)
    with noted(life), RunFolder.create(parent, manifest(), writing) as folder:
        life.states.append(RunState.PLANNED)
        folder.write_fingerprint(Fingerprint(arm="control", config={"python": "3.11"}), 1)
        life.tried = RunState.RUNNING
        folder.replace_manifest(state=RunState.RUNNING)
        life.states.append(RunState.RUNNING)
        end = RunState.FINISHED
        try:
            folder.append_event(event("arm_started"))
            for each in SAMPLES:
                folder.append_sample(each)
                life.acknowledged.append(each)
        except StorageFull as error:
            life.errors.append(error)
            end = RunState.STORAGE_ERROR
        life.tried = end
        folder.close(end, why="" if end is RunState.FINISHED else "disk")
        life.states.append(end)
    return life


def calls_of_a_whole_life(parent: Path) -> list[tuple[str, str]]:
    disk = FaultyOs()
    life = live(parent, disk, Life())
    assert not life.errors
    assert life.acknowledged == SAMPLES
    return disk.log


def check_promises(path: Path, life: Life, *, at_most_torn: int) -> None:
    if not (path / "manifest.json").exists():
        assert not life.states  # nothing had been acknowledged
        return
    view = RunView.read(path)  # P3: a mix would be refused
    assert view.manifest.state in {
        *life.states[-1:],
        life.tried,
        RunState.PLANNED if not life.states else None,
    }
    found = list(view.samples())
    assert found[: len(life.acknowledged)] == life.acknowledged  # P1
    assert found == SAMPLES[: len(found)]  # P5: in order, none invented
    assert len(found) <= len(life.acknowledged) + 1  # a line may be whole and its acknowledgement lost
    damage = view.damage()
    assert not damage.bad  # P2
    assert not damage.files
    assert len(damage.torn) <= at_most_torn
    if view.manifest.state is RunState.FINISHED:  # P4
        assert found == SAMPLES
    assert view.altered() == ()


def finish(path: Path) -> None:
    """Resume with a healthy disk, do what is missing, and end like a run that nothing happened to."""
    with RunFolder.resume(path, Writing(sync_every=0, secrets=())) as folder:
        assert folder.manifest.state is not RunState.RUNNING
        assert not folder.damage()
        done = {found.exchange.key for found in folder.samples()}
        for each in SAMPLES:
            if each.exchange.key not in done:
                folder.append_sample(each)
        folder.close(RunState.FINISHED, why="")
    view = RunView.read(path)
    assert list(view.samples()) == SAMPLES
    assert view.counts()["control/1"].order == "chce"
    assert view.manifest.counts == view.counts()
    assert view.altered() == ()
    assert not list(path.glob(".*.tmp"))


FAULTS = [(Fault.SHORT_WRITE, False), (Fault.NO_SPACE, False), (Fault.NO_SPACE, True)]
FAULTS += [(Fault.IO_ERROR, False), (Fault.IO_ERROR, True)]


@pytest.mark.parametrize(("fault", "sticky"), FAULTS)
def test_a_refused_system_call_breaks_no_promise(tmp_path: Path, fault: Fault, sticky: bool) -> None:
    calls = calls_of_a_whole_life(tmp_path / "good")
    refused = 0
    for at, (call, _) in enumerate(calls):
        parent = tmp_path / f"{at}"
        life = live(parent, FaultyOs(at, fault, sticky=sticky), Life())
        refused += bool(life.errors)
        if fault is Fault.SHORT_WRITE and call != "write":
            assert not life.errors
        for error in life.errors:
            assert isinstance(error, StorageFull), (at, call, error)
        if (parent / RUN).exists():
            check_promises(parent / RUN, life, at_most_torn=0)
            if life.states:
                finish(parent / RUN)
    assert refused >= (4 if fault is Fault.SHORT_WRITE else len(calls) - 2)


@pytest.mark.parametrize("fault", [Fault.KILL, Fault.KILL_AFTER])
@pytest.mark.parametrize("power", [False, True])
def test_a_death_at_any_system_call_breaks_no_promise(
    tmp_path: Path, fault: Fault, power: bool
) -> None:
    calls = calls_of_a_whole_life(tmp_path / "good")
    for at in range(len(calls)):
        parent = tmp_path / f"{at}"
        disk = FaultyOs(at, fault)
        life = Life()
        with pytest.raises(Killed):
            live(parent, disk, life)
        if power:
            disk.cut_power()
        if (parent / RUN).exists():
            check_promises(parent / RUN, life, at_most_torn=1)
            if (parent / RUN / "manifest.json").exists():
                finish(parent / RUN)
        else:
            assert not life.states


def test_a_closed_run_survives_a_power_cut_however_lazily_it_was_synced(tmp_path: Path) -> None:
    disk = FaultyOs()
    with RunFolder.create(
        tmp_path, manifest(), Writing(sync_every=3600, secrets=(), disk=disk)
    ) as folder:
        for each in SAMPLES:
            folder.append_sample(each)
        folder.close(RunState.FINISHED)
    disk.cut_power()
    view = RunView.read(folder.path)
    assert view.manifest.state is RunState.FINISHED
    assert list(view.samples()) == SAMPLES
    assert view.altered() == ()


def test_lines_not_synced_yet_are_all_that_a_power_cut_takes(tmp_path: Path) -> None:
    disk = FaultyOs()
    with RunFolder.create(
        tmp_path, manifest(), Writing(sync_every=3600, secrets=(), disk=disk)
    ) as folder:
        for each in SAMPLES[:2]:
            folder.append_sample(each)
        folder.flush()
        folder.append_sample(SAMPLES[2])
    disk.cut_power()
    assert list(RunView.read(folder.path).samples()) == SAMPLES[:2]
