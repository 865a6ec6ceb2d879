"""The matrix: patterns by the conditions of a suspect, cells by the verdict, and what tells apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.judge.events import by_hand, log, verdict
from workbench.judge.matrix import Cell, Matrix, cell, matrix, tells_any_apart
from workbench.judge.patterns import PATTERNS, Claimed, Pattern, fails, is_known, pattern
from workbench.judge.states import standings
from workbench.model.event import ArmResult, Bearing, Body, Grade, Ruling, VerdictGiven
from workbench.model.outcome import Counts
from workbench.model.verdict import Verdict

BF16, FP8 = {"index_k": "bf16", "hicache": "on"}, {"index_k": "fp8", "hicache": "on"}
COLD = {"index_k": "bf16", "hicache": "off"}


def arm(settings: Mapping[str, str], **load: int) -> ArmResult:
    return ArmResult(settings=settings, counts=Counts(0, 0), interval=(0.0, 1.0), load=load)


def run(
    word: Verdict,
    control: Mapping[str, str] = BF16,
    treatment: Mapping[str, str] = FP8,
    hypothesis: str = "H1",
    number: int = 1,
) -> VerdictGiven:
    results = {"control": arm(control), "treatment": arm(treatment)}
    return replace(verdict(word, hypothesis=hypothesis, run=f"r{number}"), arms=results)


def laid(suspects: Sequence[Claimed], *bodies: Body) -> Matrix:
    found = standings(log(bodies), [each.id for each in suspects])
    return matrix(suspects, {id: each.items for id, each in found.items()})


@pytest.mark.parametrize(
    ("fails_when", "expected"),
    [
        ({}, None),
        ({"index_k": "bf16"}, True),
        ({"index_k": "fp8"}, False),
        ({"index_k": "fp8|bf16"}, True),  # any of the levels that are named will do
        ({"index_k": "fp8|nvfp4"}, False),
        ({"index_k": "bf16", "hicache": "on"}, True),
        ({"index_k": "bf16", "hicache": "off"}, False),
        ({"index_k": "bf16", "build": "broken"}, None),
        ({"index_k": "fp8", "build": "broken"}, False),  # one condition that is broken is enough
        ({"in_flight": ">=30"}, True),
        ({"in_flight": ">= 61"}, False),
        ({"in_flight": "<60"}, False),
        ({"in_flight": "<=60"}, True),
        ({"in_flight": ">59"}, True),
        ({"in_flight": "60"}, True),
        ({"in_flight": "=59"}, False),
        ({"turns": ">=2"}, None),
        ({"turns": "many"}, None),
        ({"index_k": ">=30"}, False),  # a level of a knob is a name
    ],
)
def test_an_arm_fails_if_it_meets_all_conditions(
    fails_when: Mapping[str, str], expected: bool | None
) -> None:
    assert fails(fails_when, arm(BF16, in_flight=60)) is expected


def test_a_pattern_is_what_a_suspect_says_of_both_arms() -> None:
    given_ = run(Verdict.PRESENT)
    assert pattern(Claimed(id="H5", fails_when={"index_k": "bf16"}), given_) == (True, False)
    assert pattern(Claimed(id="H5", fails_when={"hicache": "on"}), given_) == (True, True)
    assert pattern(Claimed(id="H5", fails_when={"build": "x"}), given_) == (None, None)
    assert pattern(Claimed(id="H5"), given_) == (None, None)
    assert pattern(Claimed(id="H1"), given_) == (True, False)  # its own test says so by its making
    assert pattern(Claimed(id="H5", control=BF16, treatment=FP8), given_) == (True, False)
    wedged = replace(given_, symptom="wedged")
    about = Claimed(id="H5", symptom="garbled", fails_when={"index_k": "bf16"})
    assert pattern(about, wedged) == (None, None)
    assert pattern(about, replace(given_, arms={})) == (None, None)


def test_cells_follow_from_pattern_and_verdict() -> None:
    """The whole table, by the rules: `present` is (1, 0), falsified (1, 1), not reproduced (0, any)."""
    values = (True, False, None)
    for control, treatment in product(values, values):
        says: Pattern = (control, treatment)
        for word in Verdict:
            found = cell(says, word)
            if word in (Verdict.INCONCLUSIVE, Verdict.INVALID):
                assert found is Cell.NEUTRAL
            elif word is Verdict.NOT_REPRODUCED:
                by = {True: Cell.AGAINST, False: Cell.FOR, None: Cell.UNKNOWN}
                assert found is by[control]
            elif None in says:
                assert found is Cell.UNKNOWN
            else:
                effect = word in (Verdict.PRESENT, Verdict.PRESENT_BUT_SMALL)
                fits = says == ((True, False) if effect else (True, True))
                assert found is (Cell.FOR if fits else Cell.AGAINST)


def test_two_ab_tests_that_fit_all_suspects_tell_nothing() -> None:
    """As it was: fp8 is clean, and so is it without the cache, and three suspects fit both."""
    both = {"index_k": "bf16", "hicache": "on"}
    suspects = [Claimed(id=id, fails_when=both) for id in ("H1", "H5", "H7")]
    found = laid(
        suspects,
        run(Verdict.PRESENT, hypothesis="H1"),
        run(Verdict.PRESENT, BF16, COLD, hypothesis="H5", number=2),
    )
    assert found.diagnostic == 0
    assert found.alike == (("H1", "H5", "H7"),)
    assert {one for row in found.rows for one in row.cells.values()} == {Cell.FOR}
    gate = replace(run(Verdict.PRESENT, number=3, hypothesis="H1"))
    gate = replace(
        gate,
        arms={
            "control": arm({**BF16, "gate": "off"}),
            "treatment": arm({**BF16, "gate": "on"}),
        },
    )
    told = laid([replace(suspects[0], fails_when={**both, "gate": "off"}), *suspects[1:]], gate)
    assert told.diagnostic == 1
    (row,) = told.rows
    assert row.tells == (("H1",), ("H5", "H7"))
    assert (row.cells["H1"], row.cells["H5"]) == (Cell.FOR, Cell.AGAINST)
    assert row.splits("H1", "H7")
    assert not row.splits("H5", "H7")


def test_what_does_not_count_is_no_row_and_words_that_runs_outrank_are_marked() -> None:
    suspects = [Claimed(id="H1"), Claimed(id="H2")]
    spoken = by_hand(Grade.READ, Bearing.AGAINST)
    struck = by_hand(Grade.OBSERVED, Bearing.AGAINST)
    ruling = Ruling(hypothesis="H1", because="so", strikes=("E-0001",))
    found = laid(suspects, spoken, struck, run(Verdict.PRESENT), run(Verdict.INVALID, number=2), ruling)
    assert [row.id for row in found.rows] == ["E-0000", "n0002"]
    assert found.rows[0].cells == {"H1": Cell.AGAINST}
    assert found.rows[0].idle == {"H1"}
    assert found.rows[1].idle == frozenset()


def test_suspects_that_share_a_run_share_its_row() -> None:
    suspects = [Claimed(id="H1"), Claimed(id="H2")]
    found = laid(
        suspects,
        run(Verdict.PRESENT),
        run(Verdict.PRESENT, hypothesis="H2"),
        run(Verdict.FALSIFIED, BF16, COLD, number=2),
    )
    assert [row.served for row in found.rows] == [("H1", "H2"), ("H1",)]
    assert found.rows[0].cells == {"H1": Cell.FOR, "H2": Cell.FOR}


KNOBS = st.dictionaries(st.sampled_from(["index_k", "hicache"]), st.sampled_from(["a", "b"]))
SUSPECTS = st.lists(
    st.builds(
        lambda fails_when, symptom, live: Claimed(
            id="", symptom=symptom, fails_when=fails_when, control={"x": "1"}, live=live
        ),
        KNOBS,
        st.sampled_from(["", "garbled"]),
        st.booleans(),
    ),
    max_size=5,
).map(lambda found: [replace(each, id=f"H{n}") for n, each in enumerate(found, 1)])
RUNS = st.lists(
    st.builds(
        lambda word, control, treatment, id, symptom: replace(
            run(word, control, treatment, hypothesis=f"H{id}"), symptom=symptom
        ),
        st.sampled_from(Verdict),
        KNOBS,
        KNOBS,
        st.integers(1, 5),
        st.sampled_from(["", "garbled", "wedged"]),
    ),
    max_size=5,
).map(lambda found: [replace(each, run=f"r{n}", digest=f"d{n}") for n, each in enumerate(found)])


@given(SUSPECTS, RUNS)
def test_cells_agree_with_verdict_and_pattern(
    suspects: list[Claimed], runs: list[VerdictGiven]
) -> None:
    for row in laid(suspects, *runs).rows:
        assert row.verdict is not None
        for each in suspects:
            assert row.cells[each.id] is cell(row.patterns[each.id], row.verdict.verdict)
            assert row.patterns[each.id] in PATTERNS or not is_known(row.patterns[each.id])


@given(SUSPECTS, RUNS)
def test_a_run_tells_two_apart_exactly_if_both_say_something_else_of_it(
    suspects: list[Claimed], runs: list[VerdictGiven]
) -> None:
    found = laid(suspects, *runs)
    for row in found.rows:
        for one, other in combinations(suspects, 2):
            says = row.patterns[one.id], row.patterns[other.id]
            differ = says[0] != says[1] and all(map(is_known, says))
            assert row.splits(one.id, other.id) is (differ and one.live and other.live)
    seen = standings(log(runs), [each.id for each in suspects])
    evidence = {id: each.items for id, each in seen.items()}
    assert tells_any_apart(suspects, evidence) is (found.diagnostic > 0)


@given(SUSPECTS, RUNS)
def test_suspects_alike_are_split_by_no_run(suspects: list[Claimed], runs: list[VerdictGiven]) -> None:
    found = laid(suspects, *runs)
    for ids in found.alike:
        for one, other in combinations(ids, 2):
            assert not any(row.splits(one, other) for row in found.rows)
