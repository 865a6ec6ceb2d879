"""Other symptoms are counted over the blocks that were judged, and no word depends on them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.judge.test_continuation import PLAN, digest
from workbench.judge.continuation import Beginning, PairBlock
from workbench.judge.docket import replay
from workbench.judge.fold import Tally
from workbench.model.ids import SessionKey
from workbench.model.outcome import Counts, Ending, Status, Symptom
from workbench.model.plan import Measurement, Plan, Watched
from workbench.model.prediction import Prediction
from workbench.model.verdict import Verdict
from workbench.stats import ABTest, Terms

SIZE = PLAN.rules.block_size
LETTERS = {status.value[0]: status for status in Status}
ARMS = ("control", "treatment")


def tally_of(blocks: list[tuple[str, str]], first_block: int = 1) -> Tally:
    """A tally whose blocks have these statuses by letter, for control and treatment."""
    tally = Tally()
    for block, pair in enumerate(blocks, first_block):
        for arm, letters in zip(ARMS, pair, strict=True):
            for session, letter in enumerate(letters):
                tally.add(SessionKey(arm, block, session), LETTERS[letter], last=True)
    return tally


def counts(letters: str) -> Counts:
    return Counts.of(LETTERS[letter] for letter in letters)


SESSIONS = st.text(alphabet="hcei", min_size=SIZE, max_size=SIZE)
BLOCKS = st.lists(st.tuples(SESSIONS, SESSIONS), min_size=1, max_size=4)


@given(BLOCKS, st.randoms(use_true_random=False))
def test_a_symptom_is_judged_by_a_test_of_its_own_and_changes_nothing(
    own: list[tuple[str, str]], random: object
) -> None:
    seen = [(second, first) for first, second in own]
    alone = replay(PLAN, tally_of(own)).jury.judgements
    (judgement,) = replay(PLAN, tally_of(own), others={"wedged": tally_of(seen)}).judgements
    assert replace(judgement, others={}) == alone[0]
    other = judgement.others["wedged"]
    test = ABTest.under(Terms.of(replace(PLAN.rules, reference=None), Prediction()))
    for control, treatment in seen[: judgement.blocks]:
        test.add_block(counts(control), counts(treatment))
    assert other.blocks == judgement.blocks
    assert list(other.arms.values()) == list(test.arms.values())
    assert (other.no_effect, other.no_harm) == (test.evidence.no_effect, test.evidence.no_harm)
    assert other.rates == {arm: test.rates[arm] for arm in ARMS}


def test_blocks_after_the_word_are_not_counted_and_it_may_point_the_other_way() -> None:
    large = replace(PLAN, rules=replace(PLAN.rules, block_size=20, max_blocks=6))
    own = [("h" * 20, "c" * 20)] * 6
    seen = [("c" * 20, "h" * 20)] * 6
    (judgement,) = replay(large, tally_of(own), others={"wedged": tally_of(seen)}).judgements
    assert judgement.verdict is Verdict.PRESENT
    assert judgement.blocks < 6
    other = judgement.others["wedged"]
    assert other.arms["treatment"] == Counts(20 * judgement.blocks, 0)
    assert other.no_harm > 1 > other.no_effect
    assert other.seen


@pytest.mark.parametrize("watched", [True, False])
def test_earlier_blocks_count_where_the_symptom_was_watched(watched: bool) -> None:
    own, there = counts("c" * SIZE), counts("h" * SIZE)
    earlier = PairBlock(own, own, "control")
    seen = PairBlock(there, own, "control") if watched else None
    beginning = Beginning(blocks=((earlier,),), others={"wedged": ((seen,),)})
    plan = replace(PLAN, first_block=2)
    new = [("c" * SIZE, "c" * SIZE)]
    tally, beside = tally_of(new, first_block=2), tally_of(new, first_block=2)
    (judgement,) = replay(plan, tally, beginning, {"wedged": beside}).judgements
    other = judgement.others["wedged"]
    assert judgement.blocks == 2
    assert other.blocks == 1 + watched
    assert other.arms["control"].hit == SIZE * watched


def sampled(plan: Plan) -> Plan:
    pair = replace(plan.comparisons[0], prediction=Prediction())
    return replace(
        plan,
        comparisons=(pair,),
        rules=replace(plan.rules, reference=None),
        measurement=Measurement(arm="control", max_trials=6, until_hits=2),
    )


def test_a_control_that_never_failed_still_shows_what_else_it_did() -> None:
    own, seen = Tally(), Tally()
    for session in range(9):  # three were in flight when the sample was complete
        key = SessionKey("control", 0, session)
        own.add(key, Status.CLEAN, last=True)
        seen.add(key, Status.HIT if session % 2 else Status.CLEAN, last=True)
    (judgement,) = replay(sampled(PLAN), own, others={"wedged": seen}).judgements
    assert judgement.verdict is Verdict.NOT_REPRODUCED
    other = judgement.others["wedged"]
    assert (other.arms, other.blocks) == ({"control": Counts(3, 3)}, 0)


def test_what_is_watched_beside_is_no_part_of_the_test() -> None:
    wedged = Symptom(name="wedged", endings=(Ending.TIMEOUT,))
    assert (
        digest(replace(PLAN, also=(Watched(symptom=wedged, classifier=PLAN.classifier),))) == digest()
    )
