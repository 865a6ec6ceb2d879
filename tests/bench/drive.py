"""Simulated worlds driven through `ABTest`, shared by the tables and by the quality tests.

Everything is seeded; the same call gives the same numbers. Hits are drawn for whole starts at once, so
a trial costs little more than the test's own looks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.bench.abtest import abtest as yardstick
from workbench.model.verdict import Verdict
from workbench.stats import ABTest, Terms

Hits = npt.NDArray[np.int64]
Pair = tuple[float, float]

PAIRS: tuple[Pair, ...] = ((0.17, 0.0), (0.17, 0.05), (0.17, 0.17))
MARGIN = 0.05
FOUND = (Verdict.PRESENT, Verdict.PRESENT_BUT_SMALL)


def first_word(test: ABTest, control: Hits, treatment: Hits, sessions: int) -> Verdict | None:
    """Feed blocks, control first and second in turn, until a word falls."""
    for block, hits in enumerate(zip(control.tolist(), treatment.tolist(), strict=True)):
        arms = [(hit, sessions) for hit in hits]
        test.add_block(arms[0], arms[1], first="treatment" if block % 2 else "control")
        if test.verdict is not None:
            break
    return test.verdict


@dataclass(frozen=True)
class Ratio:
    """Mean sessions of both arms to a verdict, over the lower bound."""

    value: float
    standard_error: float
    undecided: float
    false: float


def sessions_over_bound(
    pair: Pair, sessions: int, reps: int, *, dispersed: bool, seed: int = 1
) -> Ratio:
    """Sessions to verdict over the Wald-KL bound, with the right prediction and margin .05."""
    control, treatment = pair
    equal = control == treatment
    limit = (6000 if equal else 3000) // sessions
    settings: dict[str, Any] = {
        "margin": MARGIN,
        "predicted": (control, 0.0 if equal else treatment),
        "design_effect": "starts" if dispersed else None,
        "min_blocks": 1,
        "max_blocks": limit,
    }
    rng = np.random.default_rng(seed)
    used, words = [], []
    for _ in range(reps):
        test = ABTest(**settings)
        hits = [rng.binomial(sessions, rate, limit) for rate in pair]
        words.append(first_word(test, hits[0], hits[1], sessions))
        used.append(2 * sessions * test.blocks)
    bound = yardstick.bound(control, treatment, MARGIN)
    wrong = FOUND if equal else (Verdict.FALSIFIED,)
    return Ratio(
        value=float(np.mean(used) / bound),
        standard_error=float(np.std(used) / bound / np.sqrt(reps)),
        undecided=words.count(Verdict.INCONCLUSIVE) / reps,
        false=sum(word in wrong for word in words) / reps,
    )


@dataclass(frozen=True, kw_only=True)
class Null:
    """A world without an effect.

    Attributes:
        rate: Rate per turn if there are several, else per session.
        sessions: Sessions of each arm in a block.
        blocks: Blocks looked at.
        turns: Turns of a session; one failing turn makes it a hit.
        icc: Correlation between the turns of a session.
        rho: Correlation between the sessions of a start.
        dispersed: Design effect on.
    """

    rate: float = 0.17
    sessions: int = 10
    blocks: int = 60
    turns: int = 1
    icc: float = 0.0
    rho: float = 0.0
    dispersed: bool = False

    def starts(self, rng: np.random.Generator) -> Hits:
        """Draw the hits of one arm, one number for each start."""
        if self.turns > 1:
            shape = (self.blocks, self.sessions)
            failing = yardstick.sessions(rng, self.rate, shape, self.icc, self.turns)
            return np.asarray((failing > 0).sum(axis=1))
        rates: Any = self.rate
        if self.rho:
            spread = (1 - self.rho) / self.rho
            rates = rng.beta(self.rate * spread, (1 - self.rate) * spread, self.blocks)
        return rng.binomial(self.sessions, rates, self.blocks)


def ever_present(null: Null, reps: int, seed: int = 1) -> float:
    """Share of trials that ever say `present`; no other word can end them, for want of a floor."""
    terms = Terms(
        predicted=(0.17, 0.0), floor=None, design_effect=null.dispersed, max_blocks=null.blocks
    )
    rng = np.random.default_rng(seed)
    found = 0
    for _ in range(reps):
        word = first_word(ABTest.under(terms), null.starts(rng), null.starts(rng), null.sessions)
        found += word in FOUND
    return found / reps
