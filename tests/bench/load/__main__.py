"""What a run costs at 60 in flight against a bare aiohttp client, and whether its count is right.

Usage: python -m tests.bench.load [ROUNDS]
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.bench.writing import table, write

ROUNDS = 7
STREAMS = 60
ENGINE = [sys.executable, "-m", "tests.bench.load.mock_engine"]
DRIVER = [sys.executable, "-m", "tests.bench.load.drivers"]
GARBLING = ("--garble-rate", "0.17", "--garble-above", "20")
CLIENTS = {
    "bare": "bare aiohttp",
    "client": "`workbench.http`",
    "single": "a run of `single`",
    "replay": "a run of `replay`",
}
LOADS = {
    "full speed": ((), 3000),
    "quick: first token after 10 ms, then one each 2 ms": (("--ttft", "0.01", "--itl", "0.002"), 1800),
    "paced: first token after 50 ms, then one each 20 ms": (("--ttft", "0.05", "--itl", "0.02"), 240),
}
Measured = dict[str, float]


@contextmanager
def engine(*options: str) -> Iterator[str]:
    """Run the mock engine; give its URL."""
    process = subprocess.Popen([*ENGINE, *options], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def run(client: str, url: str, requests: int, streams: int = STREAMS) -> Measured:
    done = subprocess.run(
        [*DRIVER, client, url, str(requests), str(streams)], check=True, capture_output=True, text=True
    )
    measured: Measured = json.loads(done.stdout)
    return measured


def row(load: str, options: tuple[str, ...], requests: int, rounds: int) -> list[list[str]]:
    runs: dict[str, list[Measured]] = {client: [] for client in CLIENTS}
    with engine(*options, *GARBLING) as url:
        for number in range(rounds):  # in turns, so that a busy machine slows all
            for client in list(CLIENTS)[:: -1 if number % 2 else 1]:
                runs[client].append(run(client, url, requests))
    best = {
        client: {"rate": max(one["rate"] for one in each), "cpu": min(one["cpu"] for one in each)}
        for client, each in runs.items()
    }
    return [
        [
            load,
            CLIENTS[client],
            f"{best[client]['rate']:.0f}",
            f"{best[client]['rate'] / best['bare']['rate']:.2f}",
            f"{1000 * best[client]['cpu']:.2f}",
            f"{best[client]['cpu'] / best['bare']['cpu']:.2f}",
            agree(each),
            str(sorted({int(one["peak"]) for one in each}))[1:-1],
        ]
        for client, each in runs.items()
    ]


def agree(runs: list[Measured]) -> str:
    """Say how many replies the client found wrong, of how many that the engine had garbled."""
    same = all(one["wrong"] == one["garbled"] for one in runs)
    counts = [int(sum(one[name] for one in runs)) for name in ("wrong", "garbled", "total")]
    return f"{counts[0]} and {counts[1]} of {counts[2]}{'' if same else ', NOT THE SAME'}"


def main(rounds: int) -> None:
    rows = [each for load, (how, number) in LOADS.items() for each in row(load, how, number, rounds)]
    head = ("load", "client", "requests/s", "ratio", "CPU, ms a request", "ratio")
    counts = ("wrong by the client, and by the engine", "peak in flight, by the engine")
    write(
        "load",
        f"python -m tests.bench.load {rounds}",
        f"{STREAMS} streams of 50 chunks, the best of {rounds} runs of each client in turns: what else"
        " a machine has to do can only make a run dearer. The engine garbles one in six while more than"
        " 20 are in flight. A run labels each reply and puts it on disk; what it costs to begin and to"
        " end is in its figures. To reach, at full speed: at least 0.8 of the requests/s and at most"
        " 1.3 of the CPU; the same counts; the peak that was asked for.",
        table((*head, *counts), rows),
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
