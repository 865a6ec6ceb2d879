"""The two-word protocol, response by response.  python -m tests.bench.two_words [--reps 300]"""

from __future__ import annotations

import argparse
import io
from argparse import Namespace
from contextlib import redirect_stdout

from tests.bench.abtest import abtest as yardstick
from tests.bench.drive import MARGIN, PAIRS
from tests.bench.writing import write

SETTINGS = {"cmd": None, "block": 10, "turns": 1, "icc": 0.0, "margin": MARGIN, "nmax": 6000}


def harness_table(call: str, reps: int) -> str:
    """Run `abtest.py product` on the three pairs with the right prediction; heads are shown once."""
    lines: list[str] = []
    for control, treatment in PAIRS:
        predicted = f"{control},{0 if control == treatment else treatment}"
        shown = io.StringIO()
        with redirect_stdout(shown):
            yardstick.cmd_product(
                Namespace(
                    **SETTINGS,
                    call=f"tests.bench.abtest.product:{call}",
                    reps=reps,
                    scen=f"{control},{treatment}",
                    pred=predicted,
                )
            )
        _, *table = shown.getvalue().strip().splitlines()
        lines += table if not lines else table[2:]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reps", type=int, default=300)
    reps = parser.parse_args().reps
    write(
        "two_words",
        f"python -m tests.bench.two_words --reps {reps}",
        "`abtest.py product` drives the product response by response, in blocks of 10 sessions.",
        "## Design effect off",
        harness_table("two_words", reps),
        "## Design effect on",
        harness_table("two_words_dispersed", reps),
    )


if __name__ == "__main__":
    main()
