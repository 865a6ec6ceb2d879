"""Begun again and again until it says `present`: continuing keeps the error rate, forgetting does not.

Both arms fail at .06, 20 sessions a start, ten runs of 12 blocks as long as none has said a word
(RULES 6). What is walked is the real docket, with what the real continuation carries over.
"""

from __future__ import annotations

import numpy as np
import pytest

from workbench.judge.continuation import NOTHING, Beginning, PairBlock, complete_blocks
from workbench.judge.docket import Docket, Work
from workbench.judge.fold import Tally
from workbench.model.ids import SessionKey
from workbench.model.outcome import Status, Symptom
from workbench.model.plan import Arm, Cluster, Part, Plan, Rules
from workbench.model.prediction import Prediction
from workbench.model.verdict import Comparison, Verdict

pytestmark = pytest.mark.quality
REPEATS, RUNS, RATE, SIZE = 200, 10, 0.06, 20
FOUND = {Verdict.PRESENT, Verdict.PRESENT_BUT_SMALL}
COMPARISON = Comparison(
    control="control", treatment="treatment", prediction=Prediction(control=0.17, treatment=0.0)
)


def plan(seed: int, first_block: int) -> Plan:
    return Plan(
        arms=(Arm(name="control", settings={}), Arm(name="treatment", settings={})),
        comparisons=(COMPARISON,),
        measurement=None,
        rules=Rules(block_size=SIZE, max_blocks=12, cluster=Cluster.START),
        symptom=Symptom(name="fails"),
        engine=Part(kind="simulated"),
        workload=Part(kind="simulated"),
        classifier=Part(kind="exit_code"),
        in_flight=1,
        seed=seed,
        first_block=first_block,
    )


def rate_of_a_start(draw: np.random.Generator, correlation: float) -> float:
    """Draw what the sessions of one start share: a rate of its own, right on average."""
    if not correlation:
        return RATE
    spread = (1 - correlation) / correlation
    return float(draw.beta(RATE * spread, (1 - RATE) * spread))


def one_run(
    draw: np.random.Generator, correlation: float, beginning: Beginning
) -> tuple[Verdict | None, tuple[PairBlock, ...]]:
    """Walk one run to its end; give its word, and all blocks of the process so far."""
    before = beginning.of(0)
    of_run = plan(int(draw.integers(1 << 31)), len(before) + 1)
    tally = Tally()
    docket = Docket(of_run, tally, beginning)
    for step in docket.steps():
        if isinstance(step, Work):
            rate = rate_of_a_start(draw, correlation)
            for session, hit in zip(step.sessions, draw.random(SIZE) < rate, strict=True):
                key = SessionKey(step.arm, step.block, session)
                tally.add(key, Status.HIT if hit else Status.CLEAN, last=True)
    docket.jury.close()
    own = tuple(complete_blocks(of_run, tally, COMPARISON))
    return docket.jury.judgements[0].verdict, (*before, *own)


def says_present(draw: np.random.Generator, correlation: float, *, continued: bool) -> bool:
    """Whether any of the runs finds what is not there, each begun because the last said nothing."""
    beginning = NOTHING
    for _ in range(RUNS):
        word, blocks = one_run(draw, correlation, beginning)
        if word is not Verdict.INCONCLUSIVE:
            return word in FOUND
        if continued:
            beginning = Beginning(blocks=(blocks,))
    return False


@pytest.mark.parametrize(("correlation", "most"), [(0.0, 0.01), (0.05, 0.02)])
def test_beginning_again_until_it_fits_does_not_pay(correlation: float, most: float) -> None:
    """At most 1 % where sessions are independent, 2 % where starts differ, as for any one run."""
    found = {}
    for continued in (True, False):
        draw = np.random.default_rng(17)
        trials = (says_present(draw, correlation, continued=continued) for _ in range(REPEATS))
        found[continued] = sum(trials)
    print(
        f"rho {correlation}: false present of {REPEATS}:"
        f" continued {found[True]}, forgotten {found[False]}"
    )
    assert found[True] <= most * REPEATS
    assert found[False] > found[True]
