"""What JSON cannot hold survives the way to the disk and back, and no file of ours holds a NaN."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.store.tags import tag, untag

TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=8)  # lone surrogates included
KEYS = (
    TEXT | st.sampled_from(["$text", "$nonfinite", "$pairs", "$bytes", "$integer", "$"]) | st.integers()
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXT | st.binary(max_size=8)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)


def same(left: Any, right: Any) -> bool:
    if isinstance(left, float) and math.isnan(left):
        return isinstance(right, float) and math.isnan(right)
    if isinstance(left, list):
        return isinstance(right, list) and len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return (
            isinstance(right, dict)
            and left.keys() == right.keys()
            and all(same(left[k], right[k]) for k in left)
        )
    return type(left) is type(right) and bool(left == right)


def refuse(word: str) -> NoReturn:
    raise AssertionError(f"{word} is not JSON")


@given(VALUES)
def test_values_come_back(value: Any) -> None:
    encoded = msgspec.json.encode(tag(value))
    assert same(untag(msgspec.json.decode(encoded)), value)
    json.loads(encoded, parse_constant=refuse)  # and another strict reader takes them too


def test_the_tags_are_those_of_the_documentation() -> None:
    assert tag([math.nan, math.inf, -math.inf]) == [
        {"$nonfinite": word} for word in ("nan", "inf", "-inf")
    ]
    assert tag("a\ud800") == {"$text": "Ye2ggA=="}
    assert tag(b"a\xff") == {"$bytes": "Yf8="}
    assert tag(2**64) == {"$integer": "18446744073709551616"}
    assert tag({"$text": 1}) == {"$pairs": [["$text", 1]]}


@pytest.mark.parametrize(
    "value",
    [{"$text": "!"}, {"$bytes": "?"}, {"$integer": "x"}, {"$pairs": [1]}, {"$pairs": [[[1], 2]]}],
)
def test_a_tag_that_says_nothing_is_a_value_error(value: Any) -> None:
    with pytest.raises(ValueError):
        untag(value)


def test_what_is_no_json_value_is_refused() -> None:
    with pytest.raises(TypeError, match="set"):
        tag({"a": {1, 2}})
