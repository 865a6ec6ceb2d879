"""How much less a session is worth because sessions of one engine start fail together.

The design effect phi is the variance between the starts' rates over what independent sessions would
show. Counts are divided by it (Kish's effective sample size). With few starts it is hardly measurable,
so it is shrunk with four pseudo-starts towards 1 + 0.02 (m - 1), the design effect at a correlation of
0.02 with m sessions a start. E-values on divided counts are approximate, no longer exact.
"""

from __future__ import annotations

from workbench.stats.counting import Tally

PRIOR_STARTS = 4
"""Pseudo-starts that the measured dispersion is shrunk with."""

PRIOR_CORRELATION = 0.02
"""Correlation between sessions of a start that these pseudo-starts show."""

REFUTING_CORRELATION = 0.05
"""Correlation granted before one start may refute "the treatment removes it"."""


def inflation(correlation: float, sessions_per_start: float) -> float:
    """Design effect of `sessions_per_start` sessions with this correlation: 1 + rho (m - 1)."""
    return 1 + correlation * max(sessions_per_start - 1, 0)


def shrunk(dispersion: float, starts: int, sessions_per_start: float) -> float:
    """Combine a measured sum of squares with the pseudo-starts.

    Args:
        dispersion: Sum over arms and starts of n (r_start - r)^2 / (r (1 - r)).
        starts: Degrees of freedom behind it: blocks - 1 for each arm.
        sessions_per_start: Sessions of the largest start, m.

    Returns:
        The design effect, at least 1.
    """
    prior = PRIOR_STARTS * inflation(PRIOR_CORRELATION, sessions_per_start)
    return max(1.0, (dispersion + prior) / (starts + PRIOR_STARTS))


def design_effect(tally: Tally) -> float:
    """Measure the design effect of a tally, both arms pooled; at least 1.

    An arm without a hit, or with nothing but hits, shows no dispersion and still counts its starts.
    """
    if not tally.sessions:
        return shrunk(0.0, 0, tally.largest_start)
    arms = (
        (tally.control_hits, tally.control_square),
        (tally.treatment_hits, tally.treatment_square),
    )
    dispersion = sum(_standardised_squares(hits, square, tally.sessions) for hits, square in arms)
    return shrunk(dispersion, 2 * (tally.informative_blocks - 1), tally.largest_start)


def _standardised_squares(hits: float, square: float, sessions: float) -> float:
    rate = hits / sessions
    if not 0 < rate < 1:
        return 0.0
    return max(0.0, square - hits * rate) / (rate * (1 - rate))


def clean_arm_effect(measured: float, sessions_per_start: float) -> float:
    """Design effect for claims that an arm is (nearly) clean: at least the assumed one.

    Starts without a hit carry no dispersion and pull the measured value to 1, exactly where a claim of
    absence needs it most.
    """
    return max(measured, inflation(PRIOR_CORRELATION, sessions_per_start))
