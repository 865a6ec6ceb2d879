"""Floor 1: e-values, intervals, design effect, planning; numbers in, numbers out.

bernoulli     divergence of two rates, projection on the edge of a null
alternatives  the fixed pairs of rates that are bet on
evalue        mixtures of likelihood ratios: log E from four counts
counting      trimming of blocks, worst cases of errored sessions, running sums
losses        arms that lose unequally many sessions
dispersion    design effect of sessions that share a start
flips         evidence across restarts: sign flip of block differences
terms         what a test asks, fixed before its first session
claims        the claims spoken against, and what a tally says of each
table         the verdict table, first match wins
interval      anytime-valid intervals of a difference and of one rate
abtest        `ABTest`, which puts these together
order         order of arms in a block, drawn from the seed
planning      what a test can see, and what it will cost

Start with `abtest`; docs/method.md gives the reasons and the measured error rates.
"""

from workbench.model.outcome import Counts
from workbench.stats.abtest import ABTest
from workbench.stats.interval import difference_interval, rate_interval
from workbench.stats.order import arm_order
from workbench.stats.planning import (
    Forecast,
    block_size,
    bound_without_hit,
    forecast,
    smallest_visible_effect,
)
from workbench.stats.terms import Terms

__all__ = [
    "ABTest",
    "Counts",
    "Terms",
    "difference_interval",
    "rate_interval",
    "arm_order",
    "Forecast",
    "forecast",
    "smallest_visible_effect",
    "bound_without_hit",
    "block_size",
]
