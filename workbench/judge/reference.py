"""How often the control fails before anything is compared, and what follows for the test.

Without a predicted control rate its arm is sampled first. These sessions set the reference rate and
the floor that "the control must reproduce" is measured against; they are never judged themselves, so
that everything chosen with their help is fixed before the first block.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.model.outcome import Counts, Status
from workbench.model.plan import Measurement, Rules
from workbench.model.prediction import Prediction
from workbench.stats.terms import LEAST_P0, Terms

_FLOOR_SHARE = 4  # a control that fails less than reference / 4 has not reproduced
_ALMOST_ALWAYS = 0.99


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


def terms(prediction: Prediction, rules: Rules, measured: float | None) -> Terms:
    """Fix what a test asks, from what was predicted and what was measured (RULES 2).

    The reference rate is the one that the rules know, else the predicted, else the measured control.
    A treatment of which nothing is claimed is bet to be clean: a wrong bet costs at most half of the
    evidence and never validity. `removes` is dropped where it cannot be tested; `notes` says so.
    """
    control = prediction.control if prediction.control is not None else measured
    reference = _reference(prediction, rules, measured)
    noise = rules.noise_bound or 0.0
    predicted = None
    if control is not None:
        # a control that failed every time is still bet to fail a little less than always
        predicted = (min(control, _ALMOST_ALWAYS), prediction.treatment or 0.0)
    return Terms(
        alpha=rules.alpha,
        margin=rules.margin,
        predicted=predicted,
        removes=prediction.removes and _p0(rules) * _FLOOR_SHARE < (reference or 0.0),
        floor=None if reference is None else max(min(reference, 1.0) / _FLOOR_SHARE, noise),
        p0=_p0(rules),
        design_effect=rules.design_effect,
        cluster=rules.cluster,
        min_blocks=rules.min_blocks,
        max_blocks=rules.max_blocks,
    )


def notes(prediction: Prediction, rules: Rules, measured: float | None) -> tuple[str, ...]:
    """Say what a reader of the verdict must know of these terms."""
    reference = _reference(prediction, rules, measured)
    if reference is None:
        return ("no reference rate: neither `falsified` nor `not-reproduced` can be reached",)
    if prediction.removes and _p0(rules) * _FLOOR_SHARE >= reference:
        return (
            f"`removes` cannot be tested: a treatment may still fail at {_p0(rules):.1%} then, and a"
            f" quarter of the reference rate is {reference / _FLOOR_SHARE:.1%}",
        )
    return ()


def _reference(prediction: Prediction, rules: Rules, measured: float | None) -> float | None:
    known = (rules.reference, prediction.control, measured)
    return next((rate for rate in known if rate is not None), None)


def _p0(rules: Rules) -> float:
    return max(LEAST_P0, rules.noise_bound or 0.0)
