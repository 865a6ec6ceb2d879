"""Agreement with the reference, word and block.  python -m tests.bench.agreement [--reps 200]"""

from __future__ import annotations

import argparse
import io
from argparse import Namespace
from contextlib import redirect_stdout

from tests.bench.abtest import verdict as yardstick
from tests.bench.writing import write

SCENARIOS = ("main", "plain", "partial", "own", "errors", "drift")


def product_table(only: str, reps: int) -> str:
    """Give the table of `verdict.py product --lean --steady` for one family of scenarios."""
    call = "tests.bench.abtest.product:factory"
    shown = io.StringIO()
    with redirect_stdout(shown):
        yardstick.cmd_product(
            Namespace(only=only, reps=reps, lean=True, steady=True, call=call, cmd=None)
        )
    return shown.getvalue().strip()


def agreement(text: str) -> list[tuple[str, float, float]]:
    """Read label, share of same words, and share of same words at the same block off a table."""
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in text.splitlines()[2:]]
    return [(", ".join(row[:4]), float(row[-3]), float(row[-2])) for row in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reps", type=int, default=200)
    reps = parser.parse_args().reps
    parts, worst = [], []
    for only in SCENARIOS:
        text = product_table(only, reps)
        worst.append(min(both for _, _, both in agreement(text)))
        parts.append(f"## {only}\n\n{text}")
    summary = ", ".join(f"{only} {low:.3f}" for only, low in zip(SCENARIOS, worst, strict=True))
    write(
        "agreement",
        f"python -m tests.bench.agreement --reps {reps}",
        "The product on the data of the reference (`verdict.py product --lean --steady`), every "
        "scenario. "
        f"Smallest share of trials with the same word at the same block: {summary}.",
        *parts,
    )


if __name__ == "__main__":
    main()
