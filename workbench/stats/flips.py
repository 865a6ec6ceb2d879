"""Evidence that an effect holds across restarts: the sign flip of block differences.

Which arm of a block comes first is drawn by a fair coin, so with no effect the block's difference D
is as likely as -D, whatever happens within a start and however the failure drifts. For a stake s the
factor exp(s D) / cosh(s D) has mean 1 under that symmetry; the e-value is the mean over stakes of the
products. It is exact under any correlation within a start, and pays for that with about eight blocks.

The orders of blocks 1 and 2 mirror each other and rest on one coin, so D_1 + D_2 is one unit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.stats.evalue import log_sum_exp

STAKES = (2.0, 5.0, 10.0, 20.0, 40.0)
"""Stakes on a risk difference: 2 suits effects near 1, 40 effects of a few per cent."""


def across_restarts(differences: Sequence[float]) -> float:
    """Natural logarithm of the e-value against "block differences are symmetric about 0".

    Args:
        differences: Control rate minus treatment rate of each block, in order, from block 1 on.

    Returns:
        Log e-value; 0 (no evidence) with fewer than two blocks, since half a unit is no unit.
    """
    if len(differences) < 2:
        return 0.0
    units = np.array([differences[0] + differences[1], *differences[2:]])
    staked = np.array(STAKES)[:, None] * units
    # log cosh(x) = log(exp(x) + exp(-x)) - log 2, which does not overflow in this form.
    gains = staked - np.logaddexp(staked, -staked) + np.log(2)
    return float(log_sum_exp(gains.sum(axis=1)) - np.log(len(STAKES)))
