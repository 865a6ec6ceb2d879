"""Sessions to verdict over the Wald-KL lower bound.  python -m tests.bench.ratios [--reps 2000]"""

from __future__ import annotations

import argparse

from tests.bench.drive import PAIRS, sessions_over_bound
from tests.bench.writing import table, write

CASES = (
    ("every pair of sessions, design effect off", 1, False, 1.3),
    ("blocks of 10, design effect off", 10, False, 1.45),
    ("blocks of 10, design effect on", 10, True, 1.75),
    ("blocks of 20, design effect on", 20, True, 1.75),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reps", type=int, default=2000)
    reps = parser.parse_args().reps
    rows = []
    for label, sessions, dispersed, limit in CASES:
        for pair in PAIRS:
            got = sessions_over_bound(pair, sessions, reps, dispersed=dispersed)
            rows.append(
                [
                    label,
                    f"{pair[0]:g}/{pair[1]:g}",
                    f"{got.value:.3f}",
                    f"{got.standard_error:.3f}",
                    f"{limit:g}",
                    f"{got.undecided:.4f}",
                    f"{got.false:.4f}",
                ]
            )
            print(*rows[-1], flush=True)
    head = (
        "looks",
        "p_c/p_t",
        "sessions / bound",
        "standard error",
        "at most",
        "undecided",
        "false word",
    )
    write(
        "ratios",
        f"python -m tests.bench.ratios --reps {reps}",
        "Mean sessions of both arms over the lower bound kl(0.95, 0.01) / information a pair. Right "
        "prediction, margin .05, alpha .01, no least number of blocks; 3000 sessions an arm at most, "
        "6000 at .17/.17.",
        table(head, rows),
    )


if __name__ == "__main__":
    main()
