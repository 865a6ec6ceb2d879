"""Knobs of the tree keep to their contract, and the contract finds those that do not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from tests.contracts.knobs import hold_to_contract
from workbench import plugins
from workbench.model.plan import Part
from workbench.ports import Launch

KINDS: Mapping[str, list[tuple[Mapping[str, Any], list[Any]]]] = {
    "commit": [({}, ["main", "0c16cace8"]), ({"build": ["make", "-j"]}, ["v1^", "--help", "a\nb"])],
    "endpoint": [({}, ["http://127.0.0.1:30000", "https://engine.example/base"])],
    "env": [({"name": "A"}, ["1", 2, None])],
    "file": [
        ({"path": "serve.sh", "line": "--fast"}, [True, False, "a b", 3]),
        ({"path": "config.yaml", "key": "a.b"}, ["fp8", None, 1.5, True]),
    ],
    "flag": [({"flag": "--fast"}, [True, False, "x", 3])],
    "load": [({"field": "in_flight"}, [1, 60]), ({"field": "turns"}, [4, "many"])],
    "patch": [
        ({}, [None, "patches/a.patch"]),
        ({"onto": "main", "build": ["make"], "build_timeout": 60}, [None, "-a.patch", "../b.patch"]),
    ],
    "request": [({"field": "temperature"}, [0, 0.7, None, {"a": [1]}])],
}
CASES = [
    pytest.param(Part(kind=kind, options=options), values, id=f"{kind}-{place}")
    for kind in plugins.names(plugins.Group.KNOB)
    for place, (options, values) in enumerate(KINDS.get(kind, [({}, [])]))
]


@pytest.mark.parametrize(("part", "values"), CASES)
def test_those_of_the_tree_keep_to_it(part: Part, values: list[Any]) -> None:
    hold_to_contract(lambda: plugins.build(plugins.Group.KNOB, part), values=values)


class Good:
    def apply(self, value: Any, launch: Launch) -> Launch:
        if not isinstance(value, str):
            raise ValueError("a text is due")
        return replace(launch, env={**launch.env, "A": value})


class Raises(Good):
    def apply(self, value: Any, launch: Launch) -> Launch:
        return replace(launch, env={**launch.env, "A": value.upper()})


class SaysNothing(Good):
    def apply(self, value: Any, launch: Launch) -> Launch:
        if not isinstance(value, str):
            raise ValueError
        return super().apply(value, launch)


class InPlace(Good):
    def apply(self, value: Any, launch: Launch) -> Launch:
        new = super().apply(value, launch)
        launch.env["A"] = value  # type: ignore[index]
        return new


class Others(Good):
    def apply(self, value: Any, launch: Launch) -> Launch:
        return replace(super().apply(value, launch), url="")


class Piles(Good):
    def apply(self, value: Any, launch: Launch) -> Launch:
        if not isinstance(value, str):
            raise ValueError("a text is due")
        return replace(launch, argv=(*launch.argv, value))


class Counts(Good):
    _calls = count()

    def apply(self, value: Any, launch: Launch) -> Launch:
        return super().apply(f"{value} {next(self._calls)}", launch)


class GivesNothing(Good):
    def apply(self, value: Any, launch: Launch) -> Any:
        super().apply(value, launch)
        return {"env": value}


class ByValue(Good):
    def apply(self, value: Any, launch: Launch) -> Launch:
        if value == "a":
            return replace(launch, request={"a": 1})
        return super().apply(value, launch)


def test_a_good_one_passes() -> None:
    hold_to_contract(Good, values=["a", "b"])


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (Raises, "it raises"),
        (SaysNothing, "without a reason"),
        (InPlace, "changes the launch"),
        (Others, "at once"),
        (Piles, "neither refused nor the same"),
        (Counts, "not the same each time"),
        (GivesNothing, "no launch"),
        (ByValue, "one thing is due"),
    ],
)
def test_what_breaks_it_is_found(broken: type[Good], why: str) -> None:
    with pytest.raises(AssertionError, match=why):
        hold_to_contract(broken, values=["a", "b"])


def test_a_value_that_it_should_take_and_refuses_is_told() -> None:
    with pytest.raises(AssertionError, match="it refuses 3 for an empty launch"):
        hold_to_contract(Good, values=["a", 3])
