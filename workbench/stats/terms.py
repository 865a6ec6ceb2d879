"""What a test asks, fixed before its first session: thresholds, margin, prediction, floor."""

from __future__ import annotations

import math
from dataclasses import dataclass

from workbench.model.plan import Cluster, Rules
from workbench.model.prediction import Prediction
from workbench.stats.alternatives import Pair

LEAST_P0 = 0.01
"""A treatment that hits at most this often still counts as having removed the failure."""

ALMOST_ALWAYS = 0.99
"""A control that was seen to fail every time is bet to fail a little less often than that."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Terms:
    """Everything that a verdict depends on beside the counts.

    Attributes:
        alpha: Greatest probability of a false word, each side; an e-value of 1 / alpha is needed.
        margin: A risk difference in (0, 1), or None for half of the control's rate.
        predicted: Predicted rates of control and treatment, or None.
        removes: The treatment is claimed to remove the failure.
        floor: Control rate that must be reached for the failure to count as reproduced; None when no
            reference rate is known, and then neither `falsified` nor `not-reproduced` can be said.
        p0: Treatment rate up to which the failure counts as removed.
        design_effect: Divide counts by the dispersion between starts.
        cluster: What sessions share.
        min_blocks: Blocks before a two-arm word can fall.
        max_blocks: Blocks at most.
    """

    alpha: float = 0.01
    margin: float | None = None
    predicted: Pair | None = None
    removes: bool = False
    floor: float | None = None
    p0: float = LEAST_P0
    design_effect: bool = True
    cluster: Cluster = Cluster.START
    min_blocks: int = 2
    max_blocks: int = 12

    def __post_init__(self) -> None:
        for name in ("alpha", "margin", "floor", "p0"):
            value = getattr(self, name)
            if value is not None and not 0 < value < 1:
                raise ValueError(f"{name} must lie between 0 and 1, not {value!r}")
        if not 1 <= self.min_blocks <= self.max_blocks:
            raise ValueError(
                "blocks must satisfy 1 <= min_blocks <= max_blocks, "
                f"not {self.min_blocks} and {self.max_blocks}"
            )
        if self.predicted is not None:
            self._check_prediction(*self.predicted)

    def _check_prediction(self, control: float, treatment: float) -> None:
        if not 0 <= treatment < control <= 1:
            raise ValueError(
                "the control must be the arm predicted to fail more often: "
                f"0 <= treatment < control <= 1, not control {control!r} and treatment {treatment!r}"
            )
        if self.removes and treatment > 0:
            raise ValueError(f"a treatment that removes the failure has rate 0, not {treatment!r}")

    @classmethod
    def of(cls, rules: Rules, prediction: Prediction, measured: float | None = None) -> Terms:
        """Derive the terms of one comparison: what is known, what was predicted, what was measured.

        The reference rate is the one that the rules know, else the predicted, else the measured
        control. The floor is a quarter of it, and at least the noise bound where one was measured; so
        is p0. A treatment of which nothing is claimed is bet to be clean: a wrong bet costs at most
        half of the evidence and never validity.
        """
        control = _first(prediction.control, measured, rules.reference)
        reference = _first(rules.reference, prediction.control, measured)
        noise = rules.noise_bound or 0.0
        predicted = None
        if control is not None:
            predicted = (min(control, ALMOST_ALWAYS), prediction.treatment or 0.0)
        return cls(
            alpha=rules.alpha,
            margin=rules.margin,
            predicted=predicted,
            removes=prediction.removes,
            floor=None if reference is None else max(reference / 4, noise),
            p0=max(LEAST_P0, noise),
            design_effect=rules.design_effect,
            cluster=rules.cluster,
            min_blocks=rules.min_blocks,
            max_blocks=rules.max_blocks,
        )

    @property
    def threshold(self) -> float:
        """Natural logarithm of the e-value that is needed."""
        return -math.log(self.alpha)

    @property
    def removes_testable(self) -> bool:
        """Whether p0 lies below the floor: else a removed failure looks like an unreproduced one."""
        return self.floor is None or self.p0 < self.floor

    @property
    def claims_most_removed(self) -> bool:
        """Whether the prediction says that more than half of the control's rate goes away."""
        if self.removes:
            return True
        return self.predicted is not None and 2 * self.predicted[1] < self.predicted[0]


def _first(*rates: float | None) -> float | None:
    """Give the first rate that is known."""
    return next((rate for rate in rates if rate is not None), None)
