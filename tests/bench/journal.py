"""Cost of a journal row, as a ratio to bare `os.write` of the same bytes in the same run.

Usage: python -m tests.bench.journal [ROWS] > tests/bench/tables/journal.md

Each figure is the median over rounds; within a round the rivals take turns, so that a busy machine
slows all of them. Rows without a text are what a passing session leaves, rows with one a failing one;
a symptom that is watched by a classifier of its own adds its label to either.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter

from tests.store.examples import manifest, sample
from workbench.model.outcome import Label, Status
from workbench.model.run import Sample, Seen
from workbench.store import RunFolder, RunView, Writing
from workbench.store.disk import APPEND
from workbench.store.lines import encode_sample

ROUNDS = 7
BESIDE = Seen(label=Label(word="clean", rule="no pattern is found in the text"), status=Status.CLEAN)
TEXT = "Traceback: assertion failed; expected tool_call, got markup <|start|> at line 31\n" * 6
KINDS: tuple[tuple[str, str, Mapping[str, Seen]], ...] = (
    ("no text", "", {}),
    ("480 characters of text", TEXT, {}),
    ("no text, another symptom", "", {"wobbly": BESIDE}),
    ("no text, three other symptoms", "", {"wobbly": BESIDE, "salad": BESIDE, "lost_plot": BESIDE}),
)


def bare_write(lines: list[bytes], folder: Path) -> float:
    fd = os.open(folder / "bare.jsonl", APPEND, 0o644)
    try:
        begun = perf_counter()
        for line in lines:
            os.write(fd, line)
        return perf_counter() - begun
    finally:
        os.close(fd)


def journal(samples: list[Sample], sync_every: float, folder: Path) -> float:
    writing = Writing(sync_every=sync_every, secrets=("a-known-secret",))
    with RunFolder.create(folder, manifest(), writing) as run:
        run.append_sample(sample(0, arm="treatment"))  # opens the file
        begun = perf_counter()
        for each in samples:
            run.append_sample(each)
        run.flush()
        return perf_counter() - begun


def reading(folder: Path) -> float:
    view = RunView.read(next(path for path in folder.iterdir() if path.is_dir()))
    begun = perf_counter()
    view.counts()
    return perf_counter() - begun


def median_of_rounds(rivals: dict[str, Callable[[Path], float]]) -> dict[str, float]:
    seconds: dict[str, list[float]] = {name: [] for name in rivals}
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory(dir=".") as folder:
            for name, rival in rivals.items():
                seconds[name].append(rival(Path(folder)))
    return {name: statistics.median(times) for name, times in seconds.items()}


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
    print("Cost of a journal row. Command:", end=" ")
    print("`python -m tests.bench.journal > tests/bench/tables/journal.md`\n")
    print(
        f"{rows:,} rows, median of {ROUNDS} rounds; ratios are to bare `os.write` of the same bytes.\n"
    )
    print("| rows | what | rows/s | us/row | ratio |")
    print("|---|---|---:|---:|---:|")
    for kind, text, others in KINDS:
        samples = [
            replace(
                sample(session, text=text, status=Status.HIT if text else Status.CLEAN), others=others
            )
            for session in range(rows)
        ]
        lines = [encode_sample(each) for each in samples]
        size = round(statistics.mean(map(len, lines)))
        rivals: dict[str, Callable[[Path], float]] = {
            "bare os.write": partial(bare_write, lines),
            "journal, synced every 50 ms": partial(journal, samples, 0.05),
            "reading, checking, counting": reading,
        }
        found = median_of_rounds(rivals)
        base = found["bare os.write"]
        for name, seconds in found.items():
            print(
                f"| {kind}, {size} bytes | {name} | {rows / seconds:,.0f} "
                f"| {seconds / rows * 1e6:.1f} | {seconds / base:.1f} |"
            )


if __name__ == "__main__":
    main()
