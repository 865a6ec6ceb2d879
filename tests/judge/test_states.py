"""States from the log: the table of the rules, every short history, and what must never matter."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.judge.events import ANA, by_hand, event, log, of, verdict
from workbench.judge.states import BEARS, standings
from workbench.model.event import (
    Actor,
    Bearing,
    Body,
    EvidenceGiven,
    Grade,
    Note,
    Proposed,
    Reopened,
    Role,
    Ruling,
    VerdictGiven,
)
from workbench.model.standing import Standing, State
from workbench.model.verdict import Verdict

FOR, AGAINST, NEUTRAL = Bearing.FOR, Bearing.AGAINST, Bearing.NEUTRAL


def standing(*bodies: Body) -> Standing:
    return standings(log(bodies), ["H1"])["H1"]


def state(*bodies: Body) -> State:
    return standing(*bodies).state


def run(word: Verdict, number: int = 1, digest: str = "") -> VerdictGiven:
    return verdict(word, run=f"r{number}", digest=digest)


def ruling(*strikes: str, role: Role | None = None, replaced_by: str = "") -> Ruling:
    return Ruling(hypothesis="H1", because="so", strikes=strikes, role=role, replaced_by=replaced_by)


PRESENT, FALSIFIED = run(Verdict.PRESENT, 1), run(Verdict.FALSIFIED, 2)
NEITHER, BROKEN = run(Verdict.INCONCLUSIVE, 3), run(Verdict.INVALID, 4)
ARGUED_FOR, READ_AGAINST = by_hand(Grade.ARGUED, FOR), by_hand(Grade.READ, AGAINST)
SEEN_FOR, SEEN_NEUTRAL = by_hand(Grade.OBSERVED, FOR), by_hand(Grade.OBSERVED, NEUTRAL)


@pytest.mark.parametrize(
    ("bodies", "expected"),
    [
        ([], "open"),
        ([BROKEN], "open"),
        ([by_hand(Grade.READ, NEUTRAL)], "open"),
        ([PRESENT], "supported"),
        ([run(Verdict.PRESENT_BUT_SMALL)], "supported"),
        ([FALSIFIED], "falsified"),
        ([run(Verdict.PREDICTION_REFUTED)], "falsified"),
        ([NEITHER], "inconclusive"),
        ([run(Verdict.NOT_REPRODUCED)], "inconclusive"),
        ([SEEN_NEUTRAL], "inconclusive"),
        ([ARGUED_FOR], "supported"),
        ([READ_AGAINST], "falsified"),
        ([ARGUED_FOR, READ_AGAINST], "contested"),
        ([PRESENT, FALSIFIED], "contested"),
        ([PRESENT, READ_AGAINST], "supported"),  # words are objections to a run
        ([READ_AGAINST, PRESENT], "supported"),
        ([ARGUED_FOR, FALSIFIED], "overturned"),  # words had supported it
        ([NEITHER, ARGUED_FOR], "supported"),  # a neutral run outranks no words
        ([SEEN_FOR, READ_AGAINST], "supported"),
        ([SEEN_FOR, FALSIFIED], "contested"),
        ([PRESENT, NEITHER], "supported"),
        ([FALSIFIED, BROKEN], "falsified"),
        ([FALSIFIED, run(Verdict.PRESENT, 5, digest="digest of r2")], "supported"),
        ([run(Verdict.PRESENT, 5, digest="d"), run(Verdict.FALSIFIED, 6, digest="d")], "overturned"),
        ([FALSIFIED, run(Verdict.INVALID, 5, digest="digest of r2")], "falsified"),
        ([PRESENT, ruling("n0000"), FALSIFIED], "overturned"),
        ([PRESENT, ruling("n0000")], "open"),
        ([PRESENT, ruling(replaced_by="H2")], "superseded"),
        ([PRESENT, ruling(replaced_by="H1")], "supported"),  # it cannot replace itself
        ([PRESENT, ruling(role=Role.EXPOSER)], "supported"),
        ([PRESENT, Reopened(hypothesis="H1", because="doubt")], "supported"),
    ],
)
def test_the_table(bodies: list[Body], expected: str) -> None:
    assert state(*bodies) == expected


def test_every_verdict_bears_as_the_rules_say() -> None:
    assert BEARS.keys() == set(Verdict)
    assert {word for word, bears in BEARS.items() if bears is FOR} == {
        Verdict.PRESENT,
        Verdict.PRESENT_BUT_SMALL,
    }
    assert {word for word, bears in BEARS.items() if bears is AGAINST} == {
        Verdict.FALSIFIED,
        Verdict.PREDICTION_REFUTED,
    }


def by_the_rules(history: Sequence[Body]) -> State:
    """Read RULES 7 once more, for histories without rulings in which every run is a test of its own."""
    sides = {"run": set(), "word": set()}  # type: dict[str, set[Bearing]]
    for body in history:
        if isinstance(body, VerdictGiven) and body.verdict is not Verdict.INVALID:
            sides["run"].add(BEARS[body.verdict])
        if isinstance(body, EvidenceGiven):
            kind = "word" if body.grade in (Grade.ARGUED, Grade.READ) else "run"
            sides[kind].add(body.bears["H1"])
    decided = sides["run"] - {NEUTRAL} or sides["word"] - {NEUTRAL}
    if decided == {FOR, AGAINST}:
        return State.CONTESTED
    if decided == {FOR}:
        return State.SUPPORTED
    if decided == {AGAINST}:
        up = any(by_the_rules(history[:n]) is State.SUPPORTED for n in range(len(history)))
        return State.OVERTURNED if up else State.FALSIFIED
    return State.INCONCLUSIVE if NEUTRAL in sides["run"] else State.OPEN


KINDS: list[Body] = [
    *(run(word) for word in Verdict),
    *(by_hand(grade, bearing) for grade in (Grade.ARGUED, Grade.INTERVENED) for bearing in Bearing),
]


@pytest.mark.parametrize("length", [1, 2, 3])
def test_every_history_of_up_to_three_items(length: int) -> None:
    for number, history in enumerate(product(KINDS, repeat=length)):
        fresh = [
            replace(body, run=f"r{at}", digest=f"d{at}") if isinstance(body, VerdictGiven) else body
            for at, body in enumerate(history)
        ]
        assert state(*fresh) is by_the_rules(fresh), (number, fresh)


def test_of_one_process_only_the_last_word_counts_and_the_others_say_so() -> None:
    seen = standing(run(Verdict.INCONCLUSIVE, 1, "d"), run(Verdict.PRESENT, 2, "d"))
    assert [(item.counts, item.why_not) for item in seen.items] == [
        (False, "continued by r2"),
        (True, ""),
    ]
    assert seen.was == (State.OPEN, State.INCONCLUSIVE, State.SUPPORTED)


def test_striking_the_last_word_of_a_process_does_not_bring_the_earlier_one_back() -> None:
    seen = standing(run(Verdict.PRESENT, 1, "d"), run(Verdict.PRESENT, 2, "d"), ruling("n0001"))
    assert seen.state is State.OPEN
    assert [item.why_not for item in seen.items] == ["continued by r2", "struck by n0002"]


def test_words_are_shown_as_objections_once_a_run_speaks() -> None:
    seen = standing(READ_AGAINST, PRESENT)
    assert not seen.items[0].counts
    assert "objection" in seen.items[0].why_not
    assert standing(READ_AGAINST, NEITHER).items[0].counts


def test_evidence_given_by_hand_is_worth_a_comparison_at_most() -> None:
    seen = standing(by_hand(Grade.INTERVENED, FOR))
    assert (seen.grade, seen.items[0].grade) == (Grade.COMPARED, Grade.COMPARED)
    assert standing(SEEN_FOR).grade is Grade.OBSERVED


def test_the_grade_is_the_best_of_what_the_state_rests_on() -> None:
    assert standing(ARGUED_FOR, by_hand(Grade.READ, FOR)).grade is Grade.READ
    assert standing(SEEN_FOR, PRESENT).grade is Grade.COMPARED
    assert standing(ARGUED_FOR, SEEN_NEUTRAL).grade is Grade.ARGUED
    assert standing(SEEN_NEUTRAL).grade is Grade.OBSERVED
    assert standing(BROKEN).grade is None


def test_a_small_effect_suggests_an_amplifier_until_a_ruling_says_what_it_is() -> None:
    small = run(Verdict.PRESENT_BUT_SMALL, 7)
    assert (standing(small).role, standing(small).role_suggested) == (Role.AMPLIFIER, True)
    assert standing(small, PRESENT).role is None
    ruled = standing(small, ruling(role=Role.CAUSE), ruling(role=Role.EXPOSER), ruling())
    assert (ruled.role, ruled.role_suggested) == (Role.EXPOSER, False)


def test_a_ruling_by_the_author_is_marked() -> None:
    proposed = Proposed(hypothesis="H1", file="hypotheses/H01-x.yaml", title="x")
    rulings = [event(proposed), event(ruling(), 1), event(ruling(), 2, by=Actor(name="ben"))]
    seen = standings(rulings, [])["H1"]
    assert [ruled.self_ruled for ruled in seen.rulings] == [True, False]
    assert seen.author == ANA.name
    assert not standing(ruling()).rulings[0].self_ruled  # nobody is known to have proposed it


def test_reopened_stays_until_the_next_run_that_was_one() -> None:
    reopened = Reopened(hypothesis="H1", because="doubt")
    assert standing(PRESENT, reopened).reopened
    assert standing(PRESENT, reopened, READ_AGAINST).reopened
    assert standing(PRESENT, reopened, BROKEN).reopened
    assert not standing(PRESENT, reopened, NEITHER).reopened


def test_one_item_bears_on_many_and_is_struck_for_the_one_that_was_ruled_on() -> None:
    both = EvidenceGiven(grade=Grade.OBSERVED, bears={"H1": AGAINST, "H5": FOR})
    seen = standings(log([both, ruling("E-0000")]), ["H9"])
    assert {id: each.state for id, each in seen.items()} == {
        "H1": State.OPEN,
        "H5": State.SUPPORTED,
        "H9": State.OPEN,
    }


def test_standings_come_by_number_for_files_and_for_what_only_the_log_knows() -> None:
    seen = standings(log([of(PRESENT, "H10"), of(PRESENT, "H2")]), ["H3", "H1"])
    assert list(seen) == ["H1", "H2", "H3", "H10"]


BODIES = st.one_of(
    st.builds(
        lambda word, run, digest: verdict(word, run=f"r{run}", digest=f"d{digest}"),
        st.sampled_from(Verdict),
        st.integers(0, 9),
        st.integers(0, 3),
    ),
    st.builds(by_hand, st.sampled_from(Grade), st.sampled_from(Bearing)),
    st.builds(
        lambda at: ruling(f"n{at:04}", f"E-{at:04}"),
        st.integers(0, 9),
    ),
    st.just(Reopened(hypothesis="H1", because="doubt")),
    st.just(Note(text="remember")),
)
HISTORIES = st.lists(BODIES, max_size=10)


def about(body: Body, id: str) -> Body:
    if isinstance(body, EvidenceGiven):
        return replace(body, bears={id: next(iter(body.bears.values()))})
    if isinstance(body, VerdictGiven | Ruling | Reopened):
        return replace(body, hypothesis=id)
    return body


@given(HISTORIES, HISTORIES, st.randoms(use_true_random=False))
def test_what_is_said_of_others_does_not_matter(
    mine: list[Body], theirs: list[Body], draw: random.Random
) -> None:
    own = [event(body, at) for at, body in enumerate(mine)]
    other = [event(about(body, "H2"), 100 + at) for at, body in enumerate(theirs)]
    merged, left, right = [], list(own), list(other)
    while left or right:
        take = left if not right or (left and draw.random() < 0.5) else right
        merged.append(take.pop(0))
    assert standings(merged, ["H1"])["H1"] == standings(own, ["H1"])["H1"]


@given(HISTORIES.flatmap(lambda history: st.tuples(st.just(history), st.permutations(history))))
def test_the_order_of_independent_events_does_not_matter(
    orders: tuple[list[Body], list[Body]],
) -> None:
    """Every run a test of its own: only whether it had been up before it fell may depend on order."""

    def independent(history: Sequence[Body]) -> State:
        apart = [
            replace(body, digest=f"d{number}") if isinstance(body, VerdictGiven) else body
            for number, body in enumerate(history)
            if not isinstance(body, Ruling)
        ]
        fallen = {State.OVERTURNED: State.FALSIFIED}
        return fallen.get(state(*apart), state(*apart))

    assert independent(orders[0]) is independent(orders[1])


@given(HISTORIES)
def test_a_ruling_never_adds_evidence(history: list[Body]) -> None:
    def counted(bodies: Sequence[Body]) -> set[str]:
        items = standing(*bodies).items
        # words that a run outranked come back when that run is struck: they were evidence all along
        return {item.id for item in items if item.counts or "objection" in item.why_not}

    for strike in {item.id for item in standing(*history).items}:
        assert counted([*history, ruling(strike)]) <= counted(history) - {strike}


@given(HISTORIES)
def test_striking_everything_leaves_it_open(history: list[Body]) -> None:
    everything = [item.id for item in standing(*history).items]
    assert state(*history, ruling(*everything)) is State.OPEN


@given(HISTORIES)
def test_a_state_follows_from_what_is_shown_to_count(history: list[Body]) -> None:
    seen = standing(*history)
    sides = {item.bearing for item in seen.items if item.counts} - {NEUTRAL}
    expected = {
        frozenset(): {State.OPEN, State.INCONCLUSIVE},
        frozenset({FOR}): {State.SUPPORTED},
        frozenset({AGAINST}): {State.FALSIFIED, State.OVERTURNED},
        frozenset({FOR, AGAINST}): {State.CONTESTED},
    }
    assert seen.state in expected[frozenset(sides)]
    assert (seen.state is State.OVERTURNED) <= (State.SUPPORTED in seen.was)
    assert all(item.counts != bool(item.why_not) for item in seen.items)
    assert seen.was[-1] is seen.state
    assert all(before is not after for before, after in zip(seen.was, seen.was[1:], strict=False))


@given(HISTORIES)
def test_nothing_but_a_ruling_and_nobody_makes_it_confirmed(history: list[Body]) -> None:
    assert State.CONFIRMED not in standing(*history, ruling(role=Role.CAUSE)).was


def test_states_need_no_numbers() -> None:
    probe = "import sys, workbench.judge.states; print({'numpy', 'scipy'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"
