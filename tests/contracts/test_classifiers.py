"""Classifiers of the tree keep to their contract, and the contract finds those that do not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from tests.contracts.classifiers import hold_to_contract
from workbench import plugins
from workbench.model.outcome import Exchange, Label
from workbench.model.plan import Part

OPTIONS: Mapping[str, list[Mapping[str, Any]]] = {
    "regex": [
        {"patterns": {"garbled": "DSML"}, "within": "content"},
        {"patterns": {"lost": "x"}, "void": ("lost",)},
    ],
    "expected": [
        {"compare": compare, "answer": "7"} for compare in ("exact", "words", "contains", "json")
    ],
    "tool_call": [
        {"family": family, "call": call, "tools": {"x": {"properties": {"a": {"multipleOf": 0.5}}}}}
        for family, call in [
            *(("deepseek_v4", "optional"), ("deepseek_v32", "required"), ("kimi_k2", "optional")),
            *(("glm", "optional"), ("hermes", "required"), ("llama3", "optional")),
        ]
    ],
}
CASES = [
    pytest.param(Part(kind=kind, options=options), id=f"{kind}-{place}")
    for kind in plugins.names(plugins.Group.CLASSIFIER)
    for place, options in enumerate(OPTIONS.get(kind, [{}]))
]


@pytest.mark.parametrize("part", CASES)
def test_those_of_the_tree_keep_to_it(part: Part) -> None:
    hold_to_contract(plugins.build(plugins.Group.CLASSIFIER, part))


class Good:
    words: Mapping[str, str] = {"fine": "it is", "bad": "it is not"}
    clean: tuple[str, ...] = ("fine",)
    void: tuple[str, ...] = ()

    def label(self, exchange: Exchange) -> Label:
        return Label(word="fine", rule="always")


class Raises(Good):
    def label(self, exchange: Exchange) -> Label:
        return Label(word="fine", rule=str(len(exchange.text.encode())))


class Unlisted(Good):
    def label(self, exchange: Exchange) -> Label:
        return Label(word="odd" if "\0" in exchange.text else "fine", rule="")


class CleanNowhere(Good):
    clean = ("clean",)


class VoidNowhere(Good):
    void = ("skipped",)


class Both(Good):
    void = ("fine",)


class NeverClean(Good):
    clean = ()


class OfItsKey(Good):
    def label(self, exchange: Exchange) -> Label:
        return Label(word="fine", rule=str(exchange.key))


class OfTime(Good):
    def label(self, exchange: Exchange) -> Label:
        return Label(word="bad" if exchange.seconds > 10 else "fine", rule="")


class Remembers(Good):
    _seen: Iterator[int] = count()

    def label(self, exchange: Exchange) -> Label:
        return Label(word="fine", rule=str(next(self._seen)))


class Verbose(Good):
    def label(self, exchange: Exchange) -> Label:
        return replace(super().label(exchange), signature=exchange.text)


def test_a_good_one_passes() -> None:
    hold_to_contract(Good())


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (Raises, "it raises"),
        (Unlisted, "none of its words"),
        (CleanNowhere, "a clean label is none"),
        (VoidNowhere, "a void label is none"),
        (Both, "clean and void"),
        (NeverClean, "nothing is ever clean"),
        (OfItsKey, "key or timings"),
        (OfTime, "key or timings"),
        (Remembers, "key or timings|the next time"),
        (Verbose, "too long"),
    ],
)
def test_a_broken_one_is_found(broken: type[Good], why: str) -> None:
    with pytest.raises(AssertionError, match=why):
        hold_to_contract(broken())
