"""A fault at every system call of a campaign's writers, kills at random moments, a full disk."""

from __future__ import annotations

import random
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.store.campaign_examples import ANA
from tests.store.examples import AT_ONCE
from workbench.errors import StorageFull, StoreError
from workbench.model.event import Event, Note, Proposed, Renumbered
from workbench.store import Writing
from workbench.store.allocate import add_hypothesis
from workbench.store.eventlog import EventLog, Log
from workbench.store.faults import Fault, FaultyOs, Killed
from workbench.store.layout import LOG_FILE
from workbench.store.renumber import renumber

TORN = b'{"schema":"workbench/event@1","id":"N-left'
TEXT = "schema: workbench/hypothesis@1\nid: {id}  # kept\ntitle: A suspect\n"


@dataclass
class Life:
    """What a campaign's writer was told had worked."""

    events: list[Event] = field(default_factory=list)
    added: list[tuple[str, str]] = field(default_factory=list)
    changes: list[Renumbered] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)


def render(id: str) -> tuple[str, str]:
    return "a-suspect", TEXT.format(id=id)


def live(root: Path, disk: FaultyOs, life: Life) -> Life:
    """Append to a log whose last line is torn, add two hypotheses, renumber one of them."""
    (root / "hypotheses").mkdir(parents=True)
    (root / LOG_FILE).write_bytes(TORN)
    writing = Writing(secrets=(), disk=disk)
    log = EventLog(root, writing)
    steps: list[Callable[[], object]] = [
        lambda: life.events.append(log.append(Note(text="one"), ANA)),
        lambda: life.added.append(add_hypothesis(root, render, ANA, writing)),
        lambda: life.events.append(log.append(Note(text="two", about=("H1",)), ANA)),
        lambda: life.added.append(add_hypothesis(root, render, ANA, writing)),
        lambda: life.changes.append(renumber(root, *life.added[0], ANA, writing, to="H7")),
    ]
    try:
        for step in steps:
            step()
    except (StoreError, OSError) as error:
        life.errors.append(error)
    return life


def check_promises(root: Path, life: Life, *, at_most_torn: int) -> Log:
    log = EventLog(root).read()
    found = {event.id: event for event in log.events}
    for event in life.events:
        assert found[event.id].digest == event.digest
    assert len([problem for problem in log.problems if "torn" not in problem.what]) == 0
    assert len(log.problems) <= at_most_torn
    for path in (root / "hypotheses").glob("*.yaml"):  # P3: whole, whichever step was the last
        id = f"H{int(path.name[1:3])}"
        assert path.read_text() == TEXT.format(id=id)
    if life.changes:
        assert not (root / life.added[0][1]).exists()
        assert (root / life.changes[0].file).exists()
    elif life.added:
        assert any((root / "hypotheses").glob("H0[17]-*.yaml"))
    return log


def finish(root: Path) -> None:
    """Do with a healthy disk what is missing, and end like a campaign that nothing happened to."""
    log = EventLog(root, AT_ONCE)
    log.append(Note(text="end"), ANA)
    left = {path.name[:3] for path in (root / "hypotheses").glob("*.yaml")}
    if not left & {"H01", "H07"}:
        assert add_hypothesis(root, render, ANA, AT_ONCE) == ("H1", "hypotheses/H01-a-suspect.yaml")
    renumber(root, "H1", "hypotheses/H01-a-suspect.yaml", ANA, AT_ONCE, to="H7")
    if not left & {"H02"}:
        add_hypothesis(root, render, ANA, AT_ONCE)
    found = log.read()
    assert found.problems == ()
    assert len(found.heads) == 1
    proposed = [each.body for each in found.events if isinstance(each.body, Proposed)]
    assert ("H7", "hypotheses/H07-a-suspect.yaml") in [
        (each.hypothesis, each.file) for each in proposed
    ] or ("H01" in left)
    assert sum(isinstance(each.body, Renumbered) for each in found.events) == 1
    names = sorted(path.name for path in (root / "hypotheses").iterdir())
    assert names[-1] == "events.torn"
    assert [name for name in names if name.startswith("H07")] == ["H07-a-suspect.yaml"]
    assert not [name for name in names if name.startswith(("H01", "."))]
    assert (root / "hypotheses" / "events.torn").read_bytes().startswith(TORN)


def calls_of_a_whole_life(root: Path) -> list[tuple[str, str]]:
    disk = FaultyOs()
    life = live(root, disk, Life())
    assert not life.errors
    assert (len(life.events), len(life.added), len(life.changes)) == (2, 2, 1)
    check_promises(root, life, at_most_torn=0)
    finish(root)
    return disk.log


FAULTS = [(Fault.SHORT_WRITE, False), (Fault.NO_SPACE, False), (Fault.NO_SPACE, True)]
FAULTS += [(Fault.IO_ERROR, False), (Fault.IO_ERROR, True)]


@pytest.mark.parametrize(("fault", "sticky"), FAULTS)
def test_a_refused_system_call_breaks_no_promise(tmp_path: Path, fault: Fault, sticky: bool) -> None:
    calls = calls_of_a_whole_life(tmp_path / "good")
    refused = 0
    for at, (call, _) in enumerate(calls):
        root = tmp_path / f"{at}"
        life = live(root, FaultyOs(at, fault, sticky=sticky), Life())
        refused += bool(life.errors)
        if fault is Fault.SHORT_WRITE and call != "write":
            assert not life.errors
        for error in life.errors:
            assert isinstance(error, StorageFull), (at, call, error)
        check_promises(root, life, at_most_torn=1)  # the one that was there before
        finish(root)
    assert refused >= (4 if fault is Fault.SHORT_WRITE else len(calls) - 8)


@pytest.mark.parametrize("fault", [Fault.KILL, Fault.KILL_AFTER])
@pytest.mark.parametrize("power", [False, True])
def test_a_death_at_any_system_call_breaks_no_promise(
    tmp_path: Path, fault: Fault, power: bool
) -> None:
    calls = calls_of_a_whole_life(tmp_path / "good")
    for at in range(len(calls)):
        root = tmp_path / f"{at}"
        disk = FaultyOs(at, fault)
        life = Life()
        with pytest.raises(Killed):
            live(root, disk, life)
        if power:
            disk.cut_power()
        check_promises(root, life, at_most_torn=1)
        finish(root)


# --- real processes ---------------------------------------------------------------------------------


def appender(root: Path, name: str, count: int, size: int) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-m", "tests.store.appender", str(root), name, str(count), str(size)]
    process = subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


@pytest.mark.parametrize("size", [300, 60_000])
def test_a_killed_appender_loses_nothing_that_it_acknowledged(tmp_path: Path, size: int) -> None:
    dice = random.Random(size)
    expected: set[str] = set()
    for life in range(10):
        process = appender(tmp_path, f"life{life}", 10**6, size)
        assert process.stdout is not None
        for _ in range(dice.randrange(1, 40)):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read().decode().split("\n")
        process.stdout.close()
        process.wait()
        last = max([int(line) for line in rest[:-1] if line], default=-1)
        expected |= {f"life{life} {place}" for place in range(last + 1)}

        log = EventLog(tmp_path, AT_ONCE)
        found = log.read()
        said = [
            " ".join(each.body.text.split()[:2]) for each in found.events if isinstance(each.body, Note)
        ]
        assert expected <= set(said)
        assert len(said) == len(set(said))
        assert len(found.problems) <= 1
        assert all("torn" in problem.what for problem in found.problems)
        log.append(Note(text=f"between {life}"), ANA)
        expected.add(f"between {life}")
        assert log.read().problems == ()
        assert len(log.read().heads) == 1


def limit_file_size() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # else the kernel kills instead of refusing
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))


@pytest.mark.parametrize("size", [700, 60_000])
def test_a_full_disk_leaves_whole_lines_and_one_clear_message(tmp_path: Path, size: int) -> None:
    argv = [sys.executable, "-m", "tests.store.appender", str(tmp_path), "ana", "100000", str(size)]
    done = subprocess.run(  # the limit must hold for the child alone
        argv, cwd=ROOT, capture_output=True, preexec_fn=limit_file_size, check=False
    )
    assert done.returncode == 2, done.stderr.decode()
    *acknowledged, last = done.stdout.decode().splitlines()[1:]
    assert last.startswith("full: ")
    assert "File too large" in last or "the disk took" in last
    log = EventLog(tmp_path, AT_ONCE)
    assert log.read().problems == ()
    assert [each.seq - 1 for each in log.read().events] == [int(line) for line in acknowledged]
    assert (tmp_path / LOG_FILE).stat().st_size <= 20_000
    log.append(Note(text="there is room again"), ANA)
    assert log.read().problems == ()


FULL = """
import sys
from pathlib import Path
from tests.store.campaign_examples import ANA
from workbench.errors import StorageFull
from workbench.store.allocate import add_hypothesis
try:
    add_hypothesis(Path(sys.argv[1]), lambda id: ("big", f"id: {id}\\ntitle: " + "x" * 50_000), ANA)
except StorageFull as error:
    print(error)
    sys.exit(error.exit_code)
"""


def test_a_full_disk_leaves_no_half_of_a_hypothesis(tmp_path: Path) -> None:
    EventLog(tmp_path, AT_ONCE).append(Note(text="before"), ANA)
    before = (tmp_path / LOG_FILE).read_bytes()
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        preexec_fn=limit_file_size,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "File too large" in done.stdout
    assert sorted(path.name for path in (tmp_path / "hypotheses").iterdir()) == ["events.jsonl"]
    assert (tmp_path / LOG_FILE).read_bytes() == before
