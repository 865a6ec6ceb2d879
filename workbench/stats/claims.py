"""The claims that a test speaks against, each with the mixture that bets against it.

no_effect        p_c <= p_t                     both arms, counts / phi
margin           p_c - p_t >= margin, or        both arms, counts / phi
                 p_t <= p_c / 2
control_low      p_c <= floor                   control, counts / phi
control_high     p_c >= floor                   control, counts / max(phi, 1 + 0.02 (m - 1))
treatment_clean  p_t <= p0                      treatment, counts / (1 + 0.05 (m - 1))
not_halved       p_t >= p_c / 2                 both arms, counts / phi
no_harm          p_c >= p_t                     both arms, counts / phi
across_restarts  block differences symmetric    differences of blocks, undivided
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.model.plan import Cluster
from workbench.model.verdict import Evidence
from workbench.stats import dispersion, evalue, flips
from workbench.stats.counting import Tally
from workbench.stats.evalue import LOG_LARGEST, Mixture
from workbench.stats.table import Findings
from workbench.stats.terms import Terms


@dataclass(frozen=True, kw_only=True, slots=True)
class Discounts:
    """What counts are divided by, depending on the claim.

    Attributes:
        pooled: Measured design effect.
        clean: For claims that the control is clean.
        refuting: For the claim that the treatment is clean.
    """

    pooled: float
    clean: float
    refuting: float

    @classmethod
    def of(cls, terms: Terms, phi: float, sessions_per_start: float) -> Discounts:
        """Derive them from a design effect and the sessions of a start."""
        if terms.cluster is Cluster.TRIAL:
            return cls(pooled=1.0, clean=1.0, refuting=1.0)
        refuting = dispersion.inflation(dispersion.REFUTING_CORRELATION, sessions_per_start)
        if not terms.design_effect:
            return cls(pooled=1.0, clean=1.0, refuting=refuting)
        return cls(
            pooled=phi,
            clean=dispersion.clean_arm_effect(phi, sessions_per_start),
            refuting=refuting,
        )

    @classmethod
    def measured(cls, terms: Terms, tally: Tally) -> Discounts:
        """Derive them from the dispersion between the starts of a tally."""
        return cls.of(terms, dispersion.design_effect(tally), tally.largest_start)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """Natural logarithms of the e-values that the verdict table asks for; None: not defined here."""

    no_effect: float
    margin: float
    control_low: float | None
    control_high: float | None
    treatment_clean: float | None


class Claims:
    """Reads evidence off a tally under fixed terms; building it is dear, reading is cheap."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self._no_effect = evalue.against_no_effect(terms.predicted)
        self._margin = evalue.against_margin(terms.predicted, terms.margin)
        self._not_halved = evalue.against_not_halved(terms.predicted)
        self._no_harm = evalue.against_no_harm()
        self._control_low: Mixture | None = None
        self._control_high: Mixture | None = None
        if terms.floor is not None:
            self._control_low = evalue.against_rate_at_most(terms.floor)
            self._control_high = evalue.against_rate_at_least(terms.floor)
        self._treatment_clean: Mixture | None = None
        if terms.removes_testable:
            self._treatment_clean = evalue.against_rate_at_most(terms.p0)

    def read(self, tally: Tally, discounts: Discounts) -> Reading:
        """Compute what the verdict table needs."""
        both = _both_arms(tally, discounts.pooled)
        control, treatment, sessions = tally.control_hits, tally.treatment_hits, tally.sessions
        return Reading(
            no_effect=self._no_effect.log_e(*both),
            margin=self._margin.log_e(*both),
            control_low=_one_arm(self._control_low, control, sessions, discounts.pooled),
            control_high=_one_arm(self._control_high, control, sessions, discounts.clean),
            treatment_clean=_one_arm(self._treatment_clean, treatment, sessions, discounts.refuting),
        )

    def findings(self, tally: Tally, reading: Reading, *, exhausted: bool) -> Findings:
        """Answer the questions of the verdict table."""
        terms = self.terms
        return Findings(
            effect=self.refuted(reading.no_effect),
            below_margin=self.refuted(reading.margin),
            leans_below_margin=reading.margin >= 0,
            control_shows=self.refuted(reading.control_low),
            control_silent=self.refuted(reading.control_high),
            removal_refuted=terms.removes and self.removal_refuted(tally, reading),
            enough_blocks=tally.blocks >= terms.min_blocks,
            exhausted=exhausted,
        )

    def refuted(self, log_e: float | None) -> bool:
        """Whether an e-value reaches 1 / alpha; one that is not defined refutes nothing."""
        return log_e is not None and log_e >= self.terms.threshold

    def removal_refuted(self, tally: Tally, reading: Reading) -> bool:
        """Whether the treatment is shown to fail more often than p0, by hits in two starts."""
        one_each = self.terms.cluster is Cluster.TRIAL
        starts_hit = tally.treatment_hits if one_each else tally.treatment_starts_hit
        return self.refuted(reading.treatment_clean) and starts_hit >= 2

    def evidence(
        self, tally: Tally, discounts: Discounts, differences: Sequence[float] | None
    ) -> Evidence:
        """Compute all e-values.

        Args:
            tally: The counts.
            discounts: What to divide them by.
            differences: Differences of blocks, or None when their order was not drawn.
        """
        reading = self.read(tally, discounts)
        both = _both_arms(tally, discounts.pooled)
        flipped = None if differences is None else flips.across_restarts(differences)
        return Evidence(
            no_effect=reported(reading.no_effect),
            margin=reported(reading.margin),
            control_low=_reported_if_any(reading.control_low),
            control_high=_reported_if_any(reading.control_high),
            treatment_clean=_reported_if_any(reading.treatment_clean),
            not_halved=reported(self._not_halved.log_e(*both)),
            no_harm=reported(self._no_harm.log_e(*both)),
            across_restarts=_reported_if_any(flipped),
        )


def reported(log_e: float) -> float:
    """Turn a logarithm into an e-value, capped so that it is always finite."""
    return math.exp(min(log_e, LOG_LARGEST))


def _reported_if_any(log_e: float | None) -> float | None:
    return None if log_e is None else reported(log_e)


def _both_arms(tally: Tally, discount: float) -> tuple[float, float, float, float]:
    control, treatment = tally.control_hits / discount, tally.treatment_hits / discount
    sessions = tally.sessions / discount
    return control, sessions - control, treatment, sessions - treatment


def _one_arm(mixture: Mixture | None, hits: float, sessions: float, discount: float) -> float | None:
    if mixture is None:
        return None
    return mixture.log_e(hits / discount, (sessions - hits) / discount)
