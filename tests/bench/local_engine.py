"""The local engine as three processes over HTTP: start, time, memory, and the arms of world race.

Usage: python -m tests.bench.local_engine [SEEDS]
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from tests.bench.writing import table, write
from tests.local_engine import sessions
from tests.local_engine.client import Tally, drive
from tests.local_engine.processes import LAUNCH, Engine, running

SEEDS = 5
STARTS = 5
UNGATED = "tests.local_engine.launch_ungated"
HICACHE = ("--enable-hierarchical-cache",)
HALF = (*HICACHE, "--h2d-gbps", "0.0851")
BF16 = {"SGLANG_DSV4_BF16_INDEX_K": "1"}


@dataclass(frozen=True, kw_only=True)
class Arm:
    """One configuration under one load.

    Attributes:
        name: What the table calls it.
        argv: Flags.
        env: Environment.
        module: The launcher.
        number: Sessions, of four turns each.
        in_flight: Requests at the same time.
        burners: Busy processes beside it, as many as cores to load all of them.
        seeds: How many seeds; None for all.
    """

    name: str
    argv: tuple[str, ...] = HICACHE
    env: Mapping[str, str]
    module: str = LAUNCH
    number: int = 60
    in_flight: int = 60
    burners: int = 0
    seeds: int | None = 1


ARMS = (
    Arm(name="as shipped, bf16", env=BF16, seeds=3),
    Arm(name="as shipped, fp8", env={}),
    Arm(name="no gate, bf16", env=BF16, module=UNGATED, seeds=None),
    Arm(name="no gate, bf16, both cores busy", env=BF16, module=UNGATED, burners=2, seeds=None),
    Arm(name="no gate, fp8", env={}, module=UNGATED),
    Arm(name="no gate, bf16, HiCache off", argv=(), env=BF16, module=UNGATED),
    Arm(name="no gate, bf16, one in flight", env=BF16, module=UNGATED, number=12, in_flight=1),
    Arm(name="no gate, fp8, half bandwidth", argv=HALF, env={}, module=UNGATED),
    Arm(
        name="no gate, bf16, one in flight, half bandwidth",
        argv=HALF,
        env=BF16,
        module=UNGATED,
        number=12,
        in_flight=1,
    ),
)


@dataclass(frozen=True, kw_only=True)
class Run:
    """What one run of an arm came to."""

    tally: Tally
    seconds: float
    cpu: float
    megabytes: float
    loaded: float


@contextmanager
def burning(count: int) -> Iterator[None]:
    """Keep cores busy."""
    burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


def run(arm: Arm, seed: int) -> Run:
    known = sessions.draw(arm.number, seed=seed)
    with burning(arm.burners), running(*arm.argv, module=arm.module, env=arm.env) as engine:
        cpu, began = engine.cpu_seconds(), time.monotonic()
        work = drive(engine.url, known, in_flight=arm.in_flight, round_robin=True, deadline=120)
        tally = asyncio.run(work)
        return Run(
            tally=tally,
            seconds=time.monotonic() - began,
            cpu=engine.cpu_seconds() - cpu,
            megabytes=sum(each.memory_info().rss for each in engine.family) / 1e6,
            loaded=engine.metrics()["hicache_loaded_pages_total"],
        )


def starts() -> list[str]:
    """Measure what it costs until three processes are healthy."""

    def start() -> tuple[float, float, float]:
        began = time.monotonic()
        with running(*HICACHE) as engine:
            seconds = time.monotonic() - began
            return engine.cpu_seconds(), seconds, memory(engine)

    columns = zip(*(start() for _ in range(STARTS)), strict=True)
    return [f"{statistics.median(column):.2f}" for column in columns]


def memory(engine: Engine) -> float:
    return float(sum(each.memory_info().rss for each in engine.family) / 1e6)


def row(arm: Arm, runs: list[Run]) -> list[str]:
    wrong = sum(each.tally.wrong for each in runs)
    turns = sum(each.tally.responses for each in runs)
    hit = sum(each.tally.sessions_wrong for each in runs)
    each_seed = ", ".join(f"{100 * one.tally.wrong / one.tally.responses:.1f}" for one in runs)
    return [
        arm.name,
        f"{wrong} of {turns}",
        each_seed,
        f"{hit} of {arm.number * len(runs)}",
        str(sum(len(one.tally.errors) for one in runs)),
        f"{statistics.median(one.loaded for one in runs):.0f}",
        f"{statistics.median(one.seconds for one in runs):.1f}",
        f"{statistics.median(one.cpu for one in runs):.1f}",
        f"{max(one.megabytes for one in runs):.0f}",
    ]


def main(seeds: int) -> None:
    begun = starts()
    rows = []
    for arm in ARMS:
        runs = [run(arm, seed) for seed in range(min(seeds, arm.seeds or seeds))]
        rows.append(row(arm, runs))
        print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
    head = ("arm", "wrong", "%, by seed", "sessions hit", "errors")
    costs = ("pages loaded", "s", "CPU, s", "MB, all processes")
    write(
        "local_engine",
        f"python -m tests.bench.local_engine {seeds}",
        "Until three processes and the launcher are healthy, median of "
        f"{STARTS}: {begun[0]} s of CPU, {begun[1]} s, {float(begun[2]):.0f} MB.",
        "60 sessions (12 where one is in flight) of 4 turns, contexts from 2,000 to 5,000 tokens,"
        " whole replies compared with the known answers. Sessions go round robin. Medians where"
        " there are several seeds; memory is the largest.",
        table((*head, *costs), rows),
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS)
