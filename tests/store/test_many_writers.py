"""Many processes on one campaign at once: nothing is lost, and the chain holds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from workbench.model.event import Note
from workbench.store.eventlog import EventLog
from workbench.store.runindex import run_lines

MAKER = """
import sys
from pathlib import Path
from tests.store.examples import AT_ONCE, manifest
from workbench.model.run import RunState
from workbench.store import RunFolder
for _ in range(int(sys.argv[2])):
    with RunFolder.create(Path(sys.argv[1]) / "runs", manifest(), AT_ONCE) as folder:
        folder.close(RunState.FINISHED)
        print(folder.manifest.id)
"""


def appenders(root: Path, count: int, events: int) -> list[subprocess.Popen[bytes]]:
    return [
        subprocess.Popen(
            [sys.executable, "-m", "tests.store.appender", str(root), f"w{place}", str(events), "900"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
        )
        for place in range(count)
    ]


def write_at_once(root: Path, *, writers: int, events: int, makers: int, runs: int) -> None:
    processes = appenders(root, writers, events)
    making = [
        subprocess.Popen(
            [sys.executable, "-c", MAKER, str(root), str(runs)], cwd=ROOT, stdout=subprocess.PIPE
        )
        for _ in range(makers)
    ]
    log = EventLog(root)
    while any(process.poll() is None for process in processes):
        assert log.read().problems == ()  # whoever reads meanwhile sees whole lines only
    for process in processes:
        acknowledged = process.communicate()[0].decode().split()
        assert acknowledged == ["ready", *map(str, range(events))]
        assert process.returncode == 0

    found = EventLog(root).read()
    assert found == log.read()
    assert found.problems == ()
    assert len(found.heads) == 1
    said = [each.body.text.split()[:2] for each in found.events if isinstance(each.body, Note)]
    for place in range(writers):
        mine = [int(number) for name, number in said if name == f"w{place}"]
        assert mine == list(range(events))  # all of them, in the order that their writer wrote
    assert [each.seq for each in found.events] == list(range(1, writers * events + 1))
    assert all(len(each.prev) == 1 for each in found.events[1:])

    made = [line for process in making for line in process.communicate()[0].decode().split()]
    assert len(set(made)) == makers * runs
    lines = run_lines(root)
    assert sorted(line.id for line in lines) == sorted(made)
    assert not any(line.problem for line in lines)


def test_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    write_at_once(tmp_path, writers=4, events=25, makers=2, runs=10)


@pytest.mark.quality
def test_eight_writers_of_500_events_lose_nothing(tmp_path: Path) -> None:
    write_at_once(tmp_path, writers=8, events=500, makers=4, runs=25)
