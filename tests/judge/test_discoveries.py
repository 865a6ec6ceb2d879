"""e-BH: the effects that survive that a campaign made many tests."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from workbench.judge.discoveries import SHARE, discoveries

evidence = st.dictionaries(st.text("abc", min_size=1, max_size=3), st.floats(0, 1e6), max_size=12)


@given(evidence)
def test_it_names_the_largest_set_whose_every_member_is_strong_enough_for_its_size(
    values: dict[str, float],
) -> None:
    kept = discoveries(values)
    needed = {size: len(values) / (SHARE * size) for size in range(1, len(values) + 1)}
    strong = {size: sum(value >= needed[size] for value in values.values()) for size in needed}
    assert len(kept) == max((size for size in needed if strong[size] >= size), default=0)
    assert all(values[test] >= needed[len(kept)] for test in kept)


@given(evidence, st.randoms(use_true_random=False))
def test_the_order_of_tests_does_not_matter(values: dict[str, float], order: random.Random) -> None:
    shuffled = list(values.items())
    order.shuffle(shuffled)
    assert discoveries(dict(shuffled)) == discoveries(values)


def test_one_test_alone_needs_twenty_and_many_need_more() -> None:
    assert discoveries({"a": 20.0}) == {"a"}
    assert discoveries({"a": 19.9}) == frozenset()
    rest = {str(number): 1.0 for number in range(9)}
    assert discoveries({"a": 100.0, **rest}) == frozenset()
    assert discoveries({"a": 200.0, **rest}) == {"a"}


def test_false_ones_are_few_among_many_tests_without_an_effect() -> None:
    draw = random.Random(7)
    false = 0
    for _ in range(2000):
        # under the null: E is 100 with probability 0.01, else 0
        values = {str(test): 100.0 * (draw.random() < 0.01) for test in range(20)}
        false += bool(discoveries(values))
    assert false / 2000 <= SHARE
