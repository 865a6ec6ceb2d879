"""Folded rows: a question finds the call that answers it, wherever that begins, or keeps its state."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from workbench.local_engine.layers.folded import Question, begin, fold
from workbench.local_engine.layers.residual import layer_key
from workbench.local_engine.mem_cache.geometry import C128_ROW, SPAN

PAGES, ROWS_A_PAGE, ENTRIES = 8, 2, 64
LOCATING, RECALLING = 3, 5


def states(count: int) -> NDArray[np.uint64]:
    return np.random.default_rng(count).integers(1, 2**63, count).astype(np.uint64)


def folded(
    layer: int, pages: NDArray[np.int64], places: NDArray[np.int64], known: NDArray[np.uint64]
) -> NDArray[np.void]:
    rows = np.full((2 * PAGES, ROWS_A_PAGE * C128_ROW.itemsize), 255, np.uint8).view(C128_ROW)
    begin(rows, pages, 0, len(pages) * ENTRIES)
    fold(rows, pages, places, layer_key(known, layer), known)
    return rows


def ask(
    pages: NDArray[np.int64], places: NDArray[np.int64], known: NDArray[np.uint64], state: int
) -> int:
    question = Question(pages, len(pages) * ENTRIES, np.uint64(state))
    question.locate(LOCATING, folded(LOCATING, pages, places, known))
    question.recall(RECALLING, folded(RECALLING, pages, places, known))
    return int(question.state)


@given(
    st.permutations(range(2 * PAGES)),
    st.sets(st.integers(0, PAGES * ENTRIES - 1), min_size=1, max_size=200),
)
def test_right_bytes_leave_every_state_as_it_is(order: list[int], chosen: set[int]) -> None:
    """Whatever pages a context has, however many calls begin in a span."""
    pages, places = np.array(order[:PAGES]), np.array(sorted(chosen))
    known = states(len(places))
    for state in known[:: max(1, len(known) // 10)].tolist():
        assert ask(pages, places, known, state) == state


def test_what_no_row_knows_stays_as_it_is() -> None:
    pages, places = np.arange(PAGES), np.array([5, 70])
    assert ask(pages, places, states(2), 12345) == 12345


@pytest.mark.parametrize(
    ("place", "found"),
    [(5, 0), (SPAN, 1), (2 * SPAN, None), (PAGES * ENTRIES, None)],
    ids=["own", "next span", "no call there", "beyond the context"],
)
def test_whoever_is_sent_to_another_place_comes_back_with_what_stands_there(
    place: int, found: int | None
) -> None:
    pages, known = np.arange(PAGES), states(2)
    rows = folded(RECALLING, pages, np.array([5, SPAN + 3]), known)
    question = Question(pages, PAGES * ENTRIES, known[0], place)
    question.recall(RECALLING, rows)
    assert question.state == known[0 if found is None else found]


def test_a_row_that_goes_on_keeps_its_calls_and_a_new_one_forgets_the_page_before() -> None:
    pages, known = np.arange(PAGES), states(1)
    rows = folded(LOCATING, pages, np.array([5]), known)
    begin(rows, pages, 6, 7)
    assert (rows["key"][0] != 0).sum() == 1
    begin(rows, pages, 0, 1)
    assert (rows["key"][0] != 0).sum() == 0


def misplaced(entries: int) -> int:
    """Count the entries of a context whose place in half precision is in another span."""
    places = np.arange(entries)
    return int((places.astype(np.float16).astype(np.int64) // SPAN != places // SPAN).sum())


def test_half_precision_counts_entries_to_2048_and_then_errs_at_the_end_of_each_span() -> None:
    assert misplaced(8192 // 4) == 0
    beyond = (16384 - 8192) // 4
    assert misplaced(16384 // 4) == beyond // SPAN
    assert misplaced(2 * 16384 // 4) == beyond // SPAN + 2 * (2 * beyond // SPAN)
