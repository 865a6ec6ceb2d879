"""What goes wrong when an assumption fails, measured on `ABTest` without any effect.

    python -m tests.bench.when_wrong [--reps 1000]

writes tables/when_wrong.md and the two charts of docs/method.md. "Claims" are `present` or harm, either
way round; without an effect both are false.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.bench import svg
from tests.bench.drive import FOUND, Null, ever_present, first_word
from tests.bench.writing import table, write
from workbench.model.outcome import Counts
from workbench.model.verdict import Verdict
from workbench.stats import ABTest, Terms, arm_order

FIGURES = Path(__file__).parents[2] / "docs" / "figures"
FloatArray = npt.NDArray[np.float64]
Dealt = tuple[Any, Any]
"""Values of the starts of the control and of the treatment: rates, or hits."""

STARTS = 8  # of each arm, in the worlds that drift
SIZE = 30  # sessions of such a start
TERMS = Terms(predicted=(0.17, 0.0), floor=None)


def drifting(world: str, rng: np.random.Generator) -> FloatArray:
    """Rate of each of the consecutive starts of both arms."""
    time = np.linspace(0, 1, 2 * STARTS)
    if world == "stable":
        return np.full(time.size, 0.17)
    if world == "slow decline":
        return 0.25 - 0.16 * time
    if world == "warm-up":
        return 0.4 - 0.4 * time
    if world == "one step":
        return np.where(time > rng.random(), 0.05, 0.17)
    return np.asarray(1 / (1 + np.exp(1.6 - np.cumsum(rng.normal(0, 0.35, time.size)))))


WORLDS = ("stable", "slow decline", "warm-up", "one step", "random walk")


def in_turn(values: Any, control_first: list[bool]) -> Dealt:
    """Deal consecutive starts to the arms, block by block."""
    pairs = values.reshape(STARTS, 2)
    first = np.array(control_first)
    return np.where(first, pairs[:, 0], pairs[:, 1]), np.where(first, pairs[:, 1], pairs[:, 0])


def separate(values: Any, _: int) -> Dealt:
    return values[:STARTS], values[STARTS:]


def alternating(values: Any, _: int) -> Dealt:
    return in_turn(values, [True] * STARTS)


def drawn(values: Any, seed: int) -> Dealt:
    arms = ("control", "treatment")
    return in_turn(values, [arm_order(arms, b, seed)[0] == "control" for b in range(1, STARTS + 1)])


def claims_under_drift(world: str, deal: Callable[[Any, int], Dealt], reps: int) -> float:
    """Share of trials that claim a difference in either direction, design effect off."""
    rng = np.random.default_rng(3)
    plain = Terms(predicted=(0.17, 0.0), floor=None, design_effect=False, max_blocks=STARTS)
    claimed = 0
    for seed in range(reps):
        control, treatment = deal(rng.binomial(SIZE, drifting(world, rng)), seed)
        words = [
            first_word(ABTest.under(plain), bad, good, SIZE)
            for bad, good in ((control, treatment), (treatment, control))
        ]
        claimed += any(word in FOUND for word in words)
    return claimed / reps


def sign_flip_claims(rho: float, reps: int) -> float:
    """Share of trials whose evidence across restarts reaches 100 within 12 blocks, m 60."""
    rng = np.random.default_rng(4)
    null, reached = Null(sessions=60, blocks=12, rho=rho), 0
    for seed in range(reps):
        test = ABTest.under(TERMS)
        for block, (c, t) in enumerate(zip(null.starts(rng), null.starts(rng), strict=True), start=1):
            first = arm_order(("control", "treatment"), block, seed)[0]
            test.add_block((int(c), 60), (int(t), 60), first=first)  # type: ignore[arg-type]
            if (test.evidence.across_restarts or 0) >= 100:
                reached += 1
                break
    return reached / reps


def trimmed_too_late(reps: int) -> tuple[float, float]:
    """Warm-up, treatment loses 90 % of its sessions early: all blocks trimmed at once, and each."""
    rng = np.random.default_rng(5)
    plain = Terms(predicted=(0.17, 0.0), floor=None, design_effect=False, min_blocks=1)
    at_once = each = 0
    for seed in range(reps):
        rates = drifting("warm-up", rng)
        control_rates, treatment_rates = drawn(rates, seed)
        orders = ["", ""]  # of control and treatment
        test, pooled = ABTest.under(plain), False
        for block in range(STARTS):
            lost = 0.9 if block < STARTS // 2 else 0.0
            new = []
            for rate, loss in ((control_rates[block], 0.0), (treatment_rates[block], lost)):
                hit, gone = rng.random(SIZE) < rate, rng.random(SIZE) < loss
                new.append("".join("" if g else "hc"[not h] for h, g in zip(hit, gone, strict=True)))
            orders = [old + more for old, more in zip(orders, new, strict=True)]
            test.add_block(_counts(new[0]), _counts(new[1]))
            once = ABTest.under(plain)
            once.add_block(_counts(orders[0]), _counts(orders[1]))
            pooled |= once.verdict in FOUND
        each += test.verdict in FOUND
        at_once += pooled
    return at_once / reps, each / reps


def _counts(order: str) -> Counts:
    hit, clean, errored, incomplete = map(order.count, "hcei")
    return Counts(hit, clean, errored, incomplete, order)


def hidden_by_errors(reps: int) -> tuple[float, float]:
    """Both arms fail at .17, but 9 in 10 of the treatment's failures time out: dropped, and kept."""
    rng = np.random.default_rng(6)
    dropped = kept = 0
    for _ in range(reps):
        blind, honest = ABTest.under(TERMS), ABTest.under(TERMS)
        for _block in range(12):
            control, failed = (int(rng.binomial(60, 0.17)) for _ in range(2))
            errored = int(rng.binomial(failed, 0.9))
            seen = Counts(failed - errored, 60 - failed)
            blind.add_block((control, 60), seen)
            honest.add_block((control, 60), Counts(seen.hit, seen.clean, errored))
        dropped += blind.verdict in FOUND
        kept += honest.verdict in FOUND
    return dropped / reps, kept / reps


def one_start_for_all(rho: float, reps: int) -> float:
    """Attached engines: all 12 blocks of an arm run in one process, at the rate it happened to get."""
    rng = np.random.default_rng(7)
    found = 0
    for _ in range(reps):
        rates = rng.beta(0.17 * (1 - rho) / rho, 0.83 * (1 - rho) / rho, 2)
        control, treatment = (rng.binomial(60, rate, 12) for rate in rates)
        found += first_word(ABTest.under(TERMS), control, treatment, 60) in FOUND
    return found / reps


def begun_anew(reps: int) -> tuple[float, float]:
    """Ten undecided tests of .06/.06 (m 20, rho .05) forgotten one by one, and one test continued."""
    rng = np.random.default_rng(8)
    null = Null(rate=0.06, sessions=20, blocks=120, rho=0.05)
    settings = {"predicted": (0.17, 0.0), "floor": None}
    short, long = (Terms(**settings, max_blocks=blocks) for blocks in (12, 120))  # type: ignore[arg-type]
    anew = continued = 0
    for _ in range(reps):
        control, treatment = null.starts(rng), null.starts(rng)
        words: list[Verdict | None] = []
        for begin in range(0, 120, 12):
            part = slice(begin, begin + 12)
            words.append(first_word(ABTest.under(short), control[part], treatment[part], 20))
        anew += any(word in FOUND for word in words)
        continued += first_word(ABTest.under(long), control, treatment, 20) in FOUND
    return anew / reps, continued / reps


def drift_part(reps: int) -> str:
    deals = {
        "all control, then all treatment": separate,
        "fixed order in each block": alternating,
        "drawn order": drawn,
    }
    series = [
        svg.Series(name, [claims_under_drift(world, deal, reps) for world in WORLDS])
        for name, deal in deals.items()
    ]
    chart = svg.bars(
        "False claims when the failure drifts", WORLDS, series, top=1.0, ticks=(0, 0.25, 0.5, 0.75, 1)
    )
    (FIGURES / "drift.svg").write_text(chart, encoding="utf-8")
    rows = [[one.name, *(f"{value:.3f}" for value in one.values)] for one in series]
    return table(("order of starts", *WORLDS), rows)


def restart_part(reps: int) -> str:
    correlations = (0.0, 0.02, 0.05, 0.1, 0.2)

    def shares(dispersed: bool) -> list[float]:
        worlds = [Null(sessions=60, blocks=12, rho=rho, dispersed=dispersed) for rho in correlations]
        return [ever_present(null, reps) for null in worlds]

    series = [
        svg.Series("design effect off", shares(False)),
        svg.Series("design effect on", shares(True)),
        svg.Series("across restarts", [sign_flip_claims(rho, reps) for rho in correlations]),
    ]
    labels = [f"{rho:g}" for rho in correlations]
    chart = svg.lines(
        "False claims when starts differ (60 sessions a start, 12 blocks)",
        labels,
        series,
        top=0.4,
        ticks=(0, 0.1, 0.2, 0.3, 0.4),
        axis="correlation between the sessions of a start",
    )
    (FIGURES / "restarts.svg").write_text(chart, encoding="utf-8")
    rows = [[one.name, *(f"{value:.3f}" for value in one.values)] for one in series]
    return table(("false claims", *(f"rho {label}" for label in labels)), rows)


def other_part(reps: int) -> str:
    pairs = (
        (
            "one arm loses 90 % of early sessions, warm-up",
            "trimmed over all blocks",
            "each block",
            trimmed_too_late(reps),
        ),
        (
            "9 of 10 failures of one arm end as time-outs",
            "errors dropped",
            "worst cases",
            hidden_by_errors(reps),
        ),
        ("ten inconclusive tests, .06/.06, rho .05", "each begun anew", "continued", begun_anew(reps)),
    )
    rows = [
        [what, f"{wrong}: {share[0]:.3f}", f"{right}: {share[1]:.3f}"]
        for what, wrong, right, share in pairs
    ]
    for rho in (0.02, 0.05):
        attached = one_start_for_all(rho, reps)
        apart = ever_present(Null(sessions=60, blocks=12, rho=rho, dispersed=True), reps)
        rows.append(
            [
                f"12 blocks of 60, rho {rho:g}",
                f"one process an arm: {attached:.3f}",
                f"fresh starts: {apart:.3f}",
            ]
        )
    return table(("world, no effect", "false `present` when wrong", "as built"), rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reps", type=int, default=1000)
    reps = parser.parse_args().reps
    FIGURES.mkdir(parents=True, exist_ok=True)
    write(
        "when_wrong",
        f"python -m tests.bench.when_wrong --reps {reps}",
        "## Drift: 8 starts of 30 sessions an arm, claims in either direction",
        drift_part(reps),
        "## Starts that differ: 12 blocks of 60 sessions, both arms at .17",
        restart_part(reps),
        "## The rest",
        other_part(reps),
    )


if __name__ == "__main__":
    main()
