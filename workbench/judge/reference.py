"""How often the control fails before anything is compared, and what follows for the test.

Without a predicted control rate its arm is sampled first. These sessions set the reference rate and
the floor that "the control must reproduce" is measured against; they are never judged themselves, so
that everything chosen with their help is fixed before the first block.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.model.outcome import Counts, Status
from workbench.model.plan import Measurement
from workbench.model.prediction import Prediction
from workbench.stats import Terms


def sample(statuses: Iterable[Status], plan: Measurement) -> tuple[Counts, bool]:
    """Count a measurement in assignment order, and say whether it is complete.

    Args:
        statuses: Statuses of the sessions done so far without a gap, in assignment order.
        plan: When to stop. Sessions past the stop, which may have been in flight, are left out.
    """
    taken: list[Status] = []
    hits = 0
    for status in statuses:
        taken.append(status)
        hits += status is Status.HIT
        if hits == plan.until_hits or len(taken) == plan.max_trials:
            return Counts.of(taken), True
    return Counts.of(taken), False


def rate(counts: Counts, plan: Measurement) -> float | None:
    """Estimate the rate from a measurement, None without a hit.

    A sample that was stopped at its k-th hit overstates k / n; (k - 1) / (n - 1) is unbiased
    (Haldane 1945, "On a method of estimating frequencies").
    """
    if counts.hit == 0:
        return None
    if counts.hit == plan.until_hits and counts.decided > 1 and counts.hit > 1:
        return (counts.hit - 1) / (counts.decided - 1)
    return counts.hit / counts.decided


def notes(asked: Terms, prediction: Prediction) -> tuple[str, ...]:
    """Say what a reader of the verdict must know of the terms that it was given under."""
    if asked.floor is None:
        return ("no reference rate: neither `falsified` nor `not-reproduced` can be reached",)
    if prediction.removes and not asked.removes_testable:
        return (
            f"`removes` cannot be tested: a treatment may still fail at {asked.p0:.1%} then, and the"
            f" control counts as reproduced from {asked.floor:.1%} on",
        )
    return ()
