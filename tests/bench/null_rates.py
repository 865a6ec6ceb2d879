"""False `present` without an effect.  python -m tests.bench.null_rates [--reps 2000]"""

from __future__ import annotations

import argparse
from typing import Any

from tests.bench.drive import Null, ever_present
from tests.bench.writing import table, write


def started(**change: Any) -> Null:
    """Twelve starts of 60 sessions that fail together, design effect on, and what differs from that."""
    return Null(**{"sessions": 60, "blocks": 12, "rho": 0.05, "dispersed": True, **change})


def turned(**change: Any) -> Null:
    """Sessions of four turns."""
    return Null(**{"turns": 4, **change})


CASES = (
    ("independent, look after every pair", Null(sessions=1, blocks=600), 0.01),
    ("independent, blocks of 10", Null(), 0.01),
    ("4 turns a session, ICC .3, look after every pair", turned(icc=0.3, sessions=1, blocks=600), 0.01),
    ("4 turns a session, ICC .7, look after every pair", turned(icc=0.7, sessions=1, blocks=600), 0.01),
    ("4 turns a session, ICC .3, blocks of 10", turned(icc=0.3), 0.01),
    ("4 turns a session, ICC .7, blocks of 10", turned(icc=0.7), 0.01),
    ("rho .05, m 20, 12 starts", started(sessions=20), 0.02),
    ("rho .05, m 60, 12 starts", started(), 0.02),
    ("rho .05, m 60, 24 starts", started(blocks=24), 0.02),
    ("rate .06, rho .05, m 20, 12 starts", started(rate=0.06, sessions=20), 0.02),
    ("rate .06, rho .05, m 60, 12 starts", started(rate=0.06), 0.02),
    ("rho .10, m 60, 12 starts", started(rho=0.1), None),
    ("rho .05, m 60, 12 starts, design effect OFF", started(dispersed=False), None),
    ("rho .10, m 60, 12 starts, design effect OFF", started(rho=0.1, dispersed=False), None),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reps", type=int, default=2000)
    reps = parser.parse_args().reps
    rows = []
    for label, null, limit in CASES:
        share = ever_present(null, reps)
        error = (share * (1 - share) / reps) ** 0.5
        rows.append([label, f"{share:.4f}", f"{error:.4f}", "-" if limit is None else f"{limit:g}"])
        print(*rows[-1], flush=True)
    write(
        "null_rates",
        f"python -m tests.bench.null_rates --reps {reps}",
        "Share of trials that ever say `present` when both arms fail equally often (.17 per session, "
        "or per turn where there are four, unless said). Predicted .17/0, alpha .01; no other word can "
        "end a trial. Rows without a limit show what the design effect is for, and where it stops "
        "helping.",
        table(("world", "ever present", "standard error", "at most"), rows),
    )


if __name__ == "__main__":
    main()
