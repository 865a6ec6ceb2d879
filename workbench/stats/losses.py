"""Sessions without an outcome: when the arms lose unequally many, that is a finding of its own.

Losses are compared as hits are: sessions that errored or made no observation against all sessions of
an arm, with half of the bet on either arm. A start that hangs loses all of its sessions at once, so
counts are divided by the greatest design effect, and one lossy start never makes a finding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from workbench.model.outcome import Counts
from workbench.stats import evalue

_LEAST_STARTS = 2


@dataclass(frozen=True, slots=True)
class Losses:
    """What the arms lost so far; control first.

    Attributes:
        lost: Sessions without an outcome.
        total: All sessions.
        starts: Starts that lost some.
    """

    lost: tuple[int, int] = (0, 0)
    total: tuple[int, int] = (0, 0)
    starts: tuple[int, int] = (0, 0)

    def with_block(self, control: Counts, treatment: Counts) -> Losses:
        """Give the losses after one more block."""
        lost = [arm.total - arm.decided for arm in (control, treatment)]
        return Losses(
            (self.lost[0] + lost[0], self.lost[1] + lost[1]),
            (self.total[0] + control.total, self.total[1] + treatment.total),
            (self.starts[0] + (lost[0] > 0), self.starts[1] + (lost[1] > 0)),
        )

    @property
    def any(self) -> bool:
        """Whether a session was lost at all."""
        return max(self.lost) > 0

    @property
    def prevail(self) -> bool:
        """Whether an arm lost more than half of its sessions: its counts can hardly say a word."""
        return any(2 * lost > total for lost, total in zip(self.lost, self.total, strict=True))

    def differ(self, alpha: float, discount: float) -> bool:
        """Whether one arm is shown to lose more than the other.

        Args:
            alpha: Greatest probability of a false finding.
            discount: Design effect to divide counts by, at least 1.
        """
        if max(self.starts) < _LEAST_STARTS or not min(self.total):
            return False
        sessions = min(self.total) / discount
        control, treatment = (
            sessions * lost / total for lost, total in zip(self.lost, self.total, strict=True)
        )
        bet = evalue.against_no_effect(None)
        more_in_control = bet.log_e(control, sessions - control, treatment, sessions - treatment)
        more_in_treatment = bet.log_e(treatment, sessions - treatment, control, sessions - control)
        log_e = float(np.logaddexp(more_in_control, more_in_treatment)) - math.log(2)
        return log_e >= -math.log(alpha)
