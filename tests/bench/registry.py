"""What a campaign of many runs, exchanges and events costs to read, against a bare loop over its lines.

Usage: python -m tests.bench.registry [RUNS EXCHANGES EVENTS] > tests/bench/tables/registry.md

Each figure is the median over rounds; within a round the rivals take turns, so that a busy machine
slows all of them. The bare loop reads the same bytes and gives each line to `json.loads`: it checks
nothing, orders nothing and makes no objects of ours.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from time import perf_counter, process_time

from tests.store.campaign_examples import ANA, VERDICT
from tests.store.examples import AT, AT_ONCE, manifest, sample
from workbench.model.event import Bearing, Body, EvidenceGiven, Grade, Note
from workbench.model.ids import run_id
from workbench.model.outcome import Counts, Status
from workbench.model.run import RunState, Served
from workbench.store import RunFolder, RunView, Writing
from workbench.store.disk import APPEND
from workbench.store.documents import encode_manifest
from workbench.store.eventlines import digest_of, encode
from workbench.store.eventlog import EventLog
from workbench.store.jsonl import LineWriter
from workbench.store.layout import LOG_FILE
from workbench.store.runindex import INDEX_FILE, run_lines

ROUNDS = 5
APPENDS = 200
LONG_AGO = (1_700_000_000, 1_700_000_000)


def make_runs(root: Path, count: int) -> None:
    """Make finished runs of 12 blocks that serve a hypothesis, with nothing but their manifests."""
    counts = {
        f"{arm}/{block}": Counts.of([Status.HIT, Status.CLEAN] * 30)
        for block in range(1, 13)
        for arm in ("control", "treatment")
    }
    served = Served(
        hypothesis="H5", file="hypotheses/H05-x.yaml", sha256="a" * 64, text="title: x\n" * 40
    )
    for place in range(count):
        created = AT + timedelta(minutes=place)
        planned = manifest(
            id=run_id(created, place),
            created=created,
            state=RunState.FINISHED,
            counts=counts,
            serves=(served,),
        )
        folder = root / "runs" / planned.id
        folder.mkdir(parents=True)
        (folder / "manifest.json").write_bytes(encode_manifest(planned))
        os.utime(folder / "manifest.json", LONG_AGO)


def make_exchanges(root: Path, count: int) -> Path:
    """Make one run of so many exchanges: 4 turns a session, every tenth session kept with its text."""
    text = "Traceback: assertion failed; expected tool_call, got markup <|start|> at line 31\n" * 6
    with RunFolder.create(root / "runs", manifest(), Writing(sync_every=3600, secrets=())) as folder:
        for place in range(count):
            session, turn = divmod(place, 4)
            hit = session % 10 == 0
            folder.append_sample(
                sample(
                    session % 1000,
                    block=1 + session // 1000,
                    turn=turn,
                    status=Status.HIT if hit else Status.CLEAN,
                    text=text if hit else "",
                )
            )
        folder.close(RunState.FINISHED)
        return folder.path


def body(place: int) -> Body:
    """Give the body of an event: verdicts, evidence and notes, as a long campaign has them."""
    id = f"H{1 + place % 300}"
    if place % 4 == 0:
        return replace(VERDICT, hypothesis=id)
    if place % 4 == 1:
        return EvidenceGiven(
            grade=Grade.READ, bears={id: Bearing.FOR, "H1": Bearing.AGAINST}, text="x" * 80
        )
    return Note(text="restarts take ten minutes on this host", about=(id,))


def make_events(root: Path, count: int) -> None:
    """Write a log of so many events, unsynced: only its reading is timed."""
    (root / "hypotheses").mkdir(parents=True)
    log = EventLog(root, AT_ONCE)
    log.append(body(0), ANA)
    last = log.read().events[0]
    writer = LineWriter(root / LOG_FILE, sync_every=3600)
    for place in range(1, count):
        letters = "".join("abcdefghij"[int(digit)] for digit in f"{place:08d}")
        event = replace(
            last, id=letters, prev=(last.digest,), seq=place + 1, body=body(place), digest=""
        )
        line = encode(event)
        writer.append(line)
        last = replace(event, digest=digest_of(line[:-1]))
    writer.close()


def bare_loop(*paths: Path) -> None:
    for path in paths:
        with path.open("rb") as file:
            for line in file:
                json.loads(line)


def bare_documents(root: Path) -> None:
    for path in sorted((root / "runs").iterdir()):
        json.loads((path / "manifest.json").read_bytes())


def cold(root: Path) -> None:
    with suppress(FileNotFoundError):
        (root / ".workbench" / INDEX_FILE).unlink()
    run_lines(root)


def append(log: EventLog) -> None:
    for place in range(APPENDS):
        log.append(Note(text=f"note {place}"), ANA)


def bare_append(path: Path, line: bytes) -> None:
    fd = os.open(path, APPEND, 0o644)
    try:
        for _ in range(APPENDS):
            os.write(fd, line)
            os.fdatasync(fd)
    finally:
        os.close(fd)


def medians(rivals: dict[str, Callable[[], object]]) -> dict[str, tuple[float, float]]:
    """Give wall-clock and processor seconds of each rival."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in rivals}
    for _ in range(ROUNDS):
        for name, rival in rivals.items():
            wall, busy = perf_counter(), process_time()
            rival()
            found[name].append((perf_counter() - wall, process_time() - busy))
    return {
        name: (statistics.median(wall for wall, _ in times), statistics.median(cpu for _, cpu in times))
        for name, times in found.items()
    }


def table(title: str, count: int, rivals: dict[str, Callable[[], object]]) -> None:
    found = medians(rivals)
    base = next(iter(found.values()))
    for name, (wall, busy) in found.items():
        print(
            f"| {title} | {name} | {wall:.3f} | {busy:.3f} | {wall / count * 1e6:,.1f} "
            f"| {wall / base[0]:.2f} | {busy / base[1]:.2f} |"
        )


def main() -> None:
    runs, exchanges, events = map(int, sys.argv[1:] or (10_000, 100_000, 10_000))
    print("Reading a large campaign. Command:", end=" ")
    print("`python -m tests.bench.registry > tests/bench/tables/registry.md`\n")
    print(f"Median of {ROUNDS} rounds; ratios are to the first line of each kind. Seconds of the")
    print("processor (CPU s) say what it costs;", end=" ")
    print("those of the clock (s) also how busy the machine was.\n")
    print("| what | how | s | CPU s | us each | ratio | ratio of CPU |")
    print("|---|---|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory(dir=".") as folder:
        root = Path(folder) / "runs"
        make_runs(root, runs)
        table(
            f"{runs:,} runs listed",
            runs,
            {
                "bare json loop over manifests": lambda: bare_documents(root),
                "cold, no cache": lambda: cold(root),
                "warm": lambda: run_lines(root),
            },
        )
        run = make_exchanges(Path(folder) / "exchanges", exchanges)
        view = RunView.read(run)
        table(
            f"{exchanges:,} exchanges",
            exchanges,
            {
                "bare json loop": lambda: bare_loop(run / "samples-w0.jsonl"),
                "RunView.samples": lambda: sum(1 for _ in view.samples()),
                "RunView.counts": view.counts,
            },
        )
        log = Path(folder) / "log"
        make_events(log, events)
        followed = EventLog(log, AT_ONCE)
        line = encode(followed.read().events[-1])
        table(
            f"{events:,} events",
            events,
            {
                "bare json loop": lambda: bare_loop(log / LOG_FILE),
                "read whole: checked, chained, ordered": lambda: EventLog(log).read(),
                "read again, nothing added": followed.read,
            },
        )
        table(
            f"{APPENDS} events appended to {events:,}",
            APPENDS,
            {
                "bare write and fdatasync": lambda: bare_append(log / "bare.jsonl", line),
                "EventLog.append": lambda: append(followed),
                "EventLog.append, the log read before": lambda: append(EventLog(log, AT_ONCE)),
            },
        )


if __name__ == "__main__":
    main()
