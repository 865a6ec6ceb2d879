"""CPU time of light commands over a bare interpreter, median of interleaved rounds.

Usage: python -m tests.bench.startup [ROUNDS]
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys

from tests.bench.writing import table, write

ROUNDS = 15
BARE = [sys.executable, "-c", "pass"]
COMMANDS = {
    "bare interpreter": BARE,
    "`import click`": [sys.executable, "-c", "import click"],
    "`workbench --help`": [sys.executable, "-m", "workbench", "--help"],
    "`workbench ab --help`": [sys.executable, "-m", "workbench", "ab", "--help"],
    "`workbench explain held`": [sys.executable, "-m", "workbench", "explain", "held"],
    "`workbench ab --dry-run`": [
        *(sys.executable, "-m", "workbench", "ab", "--control", "true", "--treatment", "true"),
        "--dry-run",
    ],
}


def cpu_seconds(command: list[str]) -> float:
    """CPU seconds, user and system, of a command and its children."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0  # it is waited for
    return usage.ru_utime + usage.ru_stime


def main(rounds: int) -> None:
    spent: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(rounds):
        for name, command in COMMANDS.items():  # in turns, so that a busy machine slows all of them
            spent[name].append(cpu_seconds(command))
    medians = {name: statistics.median(times) for name, times in spent.items()}
    bare = medians["bare interpreter"]
    rows = [
        (name, f"{1000 * median:.0f}", f"{1000 * (median - bare):.0f}", f"{median / bare:.1f}")
        for name, median in medians.items()
    ]
    head = ("command", "CPU, ms", "over the bare interpreter, ms", "ratio")
    write("startup", f"python -m tests.bench.startup {rounds}", table(head, rows))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
