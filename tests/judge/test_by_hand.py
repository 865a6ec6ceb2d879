"""Counts that somebody brings along: the rules of a run judge them, and nothing said of them does."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.judge.events import log
from workbench.judge.by_hand import ONE_START, bearing, counted, grade
from workbench.judge.confirming import proof
from workbench.judge.states import standings
from workbench.model.event import Bearing, Counted, EvidenceGiven, Grade, Per
from workbench.model.outcome import Counts
from workbench.model.plan import Cluster, Rules
from workbench.model.prediction import Prediction
from workbench.model.standing import State
from workbench.model.verdict import Verdict

SETTINGS = {"control": {"cache": "on"}, "treatment": {"cache": "off"}}
RULES = Rules(reference=0.4)
REMOVES = Prediction(control=0.4, treatment=0.0, removes=True)


def judged(*pairs: tuple[Counts, Counts], rules: Rules = RULES, per: Per = Per.SESSION) -> Counted:
    return counted(pairs, SETTINGS, rules, REMOVES, per=per, symptom="garbled")


def pair(hit_c: int, n_c: int, hit_t: int, n_t: int) -> tuple[Counts, Counts]:
    return Counts(hit_c, n_c - hit_c), Counts(hit_t, n_t - hit_t)


@pytest.mark.parametrize(
    ("pairs", "word", "bears"),
    [
        ([pair(21, 60, 0, 60)], Verdict.PRESENT, Bearing.FOR),
        ([pair(11, 65, 0, 60)], Verdict.INCONCLUSIVE, Bearing.NEUTRAL),
        ([pair(12, 30, 11, 30), pair(11, 30, 12, 30)], Verdict.PREDICTION_REFUTED, Bearing.AGAINST),
        ([pair(0, 60, 0, 60)] * 3, Verdict.NOT_REPRODUCED, Bearing.NEUTRAL),
    ],
)
def test_the_counts_decide_how_they_bear(
    pairs: list[tuple[Counts, Counts]], word: Verdict, bears: Bearing
) -> None:
    found = judged(*pairs)
    assert (found.verdict, bearing(found), grade(found)) == (word, bears, Grade.COMPARED)
    assert found.arms["control"].counts.hit == sum(each.hit for each, _ in pairs)
    assert found.arms["control"].settings == {"cache": "on"}
    assert found.evidence is not None
    assert found.evidence.across_restarts is None


def test_one_start_of_each_is_discounted_and_says_so() -> None:
    """A session that is a start of its own is worth all of itself."""
    once = judged(pair(15, 60, 0, 60))
    assert once.design_effect > 2
    assert ONE_START in once.notes
    trials = judged(pair(15, 60, 0, 60), rules=replace(RULES, cluster=Cluster.TRIAL))
    assert trials.design_effect == 1
    assert ONE_START not in trials.notes
    assert once.evidence is not None
    assert trials.evidence is not None
    assert once.evidence.no_effect < 100 < trials.evidence.no_effect


def test_nothing_is_bet_on_what_is_said_to_have_been_predicted() -> None:
    """Who has seen the counts can predict them."""
    pairs = [pair(21, 60, 0, 60)]
    sharp = counted(pairs, SETTINGS, RULES, Prediction(control=0.35, treatment=0.0, removes=True))
    vague = counted(pairs, SETTINGS, RULES, Prediction(control=0.9, treatment=0.0, removes=True))
    assert sharp.evidence == vague.evidence


def test_what_refutes_half_way_is_no_word_when_all_is_in() -> None:
    """A run would have ended after the first two; here all was there when it was looked at first."""
    first = [pair(12, 30, 12, 30)] * 2
    rest = [pair(30, 60, 0, 60)] * 8
    assert judged(*first).verdict is Verdict.PREDICTION_REFUTED
    assert judged(*first, *rest).verdict is Verdict.PRESENT


def test_errors_that_could_hide_the_opposite_leave_it_open() -> None:
    lost = (Counts(9, 51), Counts(0, 40, errored=20))
    assert judged(lost, rules=replace(RULES, cluster=Cluster.TRIAL)).verdict is Verdict.INCONCLUSIVE


def test_figures_of_responses_are_never_tested() -> None:
    found = judged(pair(500, 1000, 0, 1000), per=Per.RESPONSE)
    assert (found.verdict, found.evidence, found.interval) == (None, None, None)
    assert (bearing(found), grade(found)) == (Bearing.NEUTRAL, Grade.OBSERVED)
    assert found.arms["control"].counts == Counts(500, 500)


def item(found: Counted, claimed: Grade | None = None) -> EvidenceGiven:
    return EvidenceGiven(
        grade=claimed or grade(found),
        bears={"H1": bearing(found)},
        counted=found,
    )


def test_it_supports_and_never_confirms() -> None:
    found = judged(pair(41, 60, 0, 60))
    seen = standings(log([item(found, Grade.INTERVENED), item(found)]), ["H1"])["H1"]
    assert (seen.state, seen.grade) == (State.SUPPORTED, Grade.COMPARED)
    assert seen.items[0].counted == found
    shown = proof(seen.items)
    assert shown.removed is None
    assert not shown.intervened


COUNTS = st.builds(
    Counts, st.integers(0, 80), st.integers(0, 80), st.integers(0, 3), st.integers(0, 3)
).filter(lambda counts: counts.total > 0)


@given(st.lists(st.tuples(COUNTS, COUNTS), min_size=1, max_size=4))
def test_any_counts_get_a_word_and_bear_as_it_says(pairs: list[tuple[Counts, Counts]]) -> None:
    found = judged(*pairs)
    assert found.verdict is not None
    assert found.interval is not None
    low, high = found.interval
    assert -1 <= low <= high <= 1
    assert found.pairs == tuple(pairs)
    if bearing(found) is Bearing.FOR:
        control, treatment = (found.arms[name].counts for name in ("control", "treatment"))
        assert control.hit / control.decided > treatment.hit / treatment.decided
    assert judged(*reversed(pairs)).verdict is found.verdict  # all are looked at together
    swapped = judged(*((treatment, control) for control, treatment in pairs))
    assert not bearing(found) is bearing(swapped) is Bearing.FOR
