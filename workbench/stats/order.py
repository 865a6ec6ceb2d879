"""The order in which the arms of a block are brought up, drawn from the run's seed.

Blocks 1 and 2 mirror each other, so that after two blocks each arm has been early as often as late;
from block 3 on every order is an independent fair draw. A block's order depends on the seed and its
number alone: blocks can be added later without drawing anything again.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256


def arm_order(arms: Sequence[str], block: int, seed: int) -> tuple[str, ...]:
    """Give the order of `arms` in one block.

    Positions are sorted by a digest of seed, block and position, and not by a pseudo-random generator,
    whose stream may change between releases: the same seed gives the same order for ever.

    Args:
        arms: Names of the arms, in the order of the plan.
        block: Number of the block, from 1.
        seed: Seed of the run.

    Raises:
        ValueError: `block` is less than 1.
    """
    if block < 1:
        raise ValueError(f"blocks are numbered from 1, not {block}")
    if block == 2:
        return arm_order(arms, 1, seed)[::-1]
    positions = sorted(
        range(len(arms)), key=lambda at: sha256(f"{seed}/{block}/{at}".encode()).digest()
    )
    return tuple(arms[at] for at in positions)
