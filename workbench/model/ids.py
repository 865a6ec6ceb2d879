"""Names that files, journals and people use for runs and for what happens inside them.

A run id is a UTC second and 40 random bits, `20261129T151200Z-k3m7q2xa`: it sorts by time and is
never parsed for meaning. A key names one exchange of a run and is what makes a resume idempotent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

RUN_ID = re.compile(r"^[0-9]{8}T[0-9]{6}Z-[a-z2-7]{8}$")
BASE32 = "abcdefghijklmnopqrstuvwxyz234567"


def run_id(at: datetime, random_bits: int) -> str:
    """Give the id of a run begun at `at` (aware), from at least 40 random bits."""
    letters = [BASE32[random_bits >> (5 * i) & 31] for i in range(8)]
    return f"{at.astimezone(UTC):%Y%m%dT%H%M%SZ}-{''.join(letters)}"


@dataclass(frozen=True, slots=True, order=True)
class SessionKey:
    """Place of one session in a run: the unit that a resume never repeats.

    Attributes:
        arm: Name of the arm.
        block: 0 for the sample that sets the reference rate, 1, 2, ... for the blocks judged.
        session: Position in assignment order within that arm and block, from 0.
    """

    arm: str
    block: int
    session: int

    def __str__(self) -> str:
        return f"{self.arm}/{self.block}/{self.session}"


@dataclass(frozen=True, slots=True, order=True)
class ExchangeKey:
    """Place of one exchange: a session and a turn within it, both from 0."""

    session: SessionKey
    turn: int

    def __str__(self) -> str:
        return f"{self.session}/{self.turn}"

    @classmethod
    def parse(cls, text: str) -> ExchangeKey:
        """Read `arm/block/session/turn`; raises ValueError on anything else."""
        arm, block, session, turn = text.rsplit("/", 3)
        return cls(SessionKey(arm, int(block), int(session)), int(turn))
