"""The seed of every session, from the run's seed; the order of arms is `stats.order`, from the same."""

from __future__ import annotations

import hashlib

from workbench.model.ids import SessionKey
from workbench.model.plan import Arm, ArmJob


def session_seed(run_seed: int, key: SessionKey) -> int:
    """Give the seed of a session: 31 bits that depend on the run's seed and on its place alone.

    Arms get different seeds: evidence is computed for arms that fail independently of each other.
    """
    digest = hashlib.sha256(f"{run_seed}/{key}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def job(arm: Arm, block: int, sessions: tuple[int, ...], *, seed: int, in_flight: int) -> ArmJob:
    """Make the job of running these sessions of an arm in a block."""
    return ArmJob(
        arm=arm,
        block=block,
        sessions=sessions,
        seeds=tuple(session_seed(seed, SessionKey(arm.name, block, i)) for i in sessions),
        in_flight=in_flight,
    )
