"""The verdict table, row by row and as a whole."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from workbench.model.verdict import Verdict
from workbench.stats.table import Findings, first_match

NOTHING: dict[str, bool] = {
    "effect": False,
    "below_margin": False,
    "leans_below_margin": False,
    "control_shows": False,
    "control_silent": False,
    "removal_refuted": False,
    "enough_blocks": True,
    "exhausted": False,
}


def found(**change: bool) -> Findings:
    return Findings(**{**NOTHING, **change})


@pytest.mark.parametrize(
    ("change", "word", "row"),
    [
        ({}, None, 0),
        ({"removal_refuted": True, "leans_below_margin": True}, Verdict.PREDICTION_REFUTED, 2),
        (
            {"removal_refuted": True, "leans_below_margin": True, "enough_blocks": False},
            Verdict.PREDICTION_REFUTED,
            2,
        ),
        ({"removal_refuted": True}, None, 0),  # the data lean to "most was removed": go on
        ({"removal_refuted": True, "leans_below_margin": True, "effect": True}, Verdict.PRESENT, 4),
        ({"enough_blocks": False, "effect": True}, None, 3),
        ({"enough_blocks": False, "effect": True, "exhausted": True}, Verdict.INCONCLUSIVE, 7),
        ({"effect": True}, Verdict.PRESENT, 4),
        ({"effect": True, "control_silent": True}, Verdict.PRESENT, 4),
        ({"effect": True, "below_margin": True}, Verdict.PRESENT_BUT_SMALL, 4),
        ({"below_margin": True}, None, 0),  # zero over zero is never falsified
        ({"below_margin": True, "control_shows": True}, Verdict.FALSIFIED, 5),
        ({"below_margin": True, "control_silent": True}, Verdict.NOT_REPRODUCED, 6),
        ({"control_silent": True}, Verdict.NOT_REPRODUCED, 6),
        ({"exhausted": True}, Verdict.INCONCLUSIVE, 7),
        ({"exhausted": True, "effect": True}, Verdict.PRESENT, 4),
    ],
)
def test_rows(change: dict[str, Any], word: Verdict | None, row: int) -> None:
    assert first_match(found(**change)) == (word, row)


def test_every_combination_obeys_the_rules() -> None:
    for bits in itertools.product((False, True), repeat=len(NOTHING)):
        f = Findings(**dict(zip(NOTHING, bits, strict=True)))
        word, row = first_match(f)
        assert (word is None) == (row in (0, 3))
        if f.exhausted:
            assert word is not None
        if not f.enough_blocks:
            assert word in (None, Verdict.PREDICTION_REFUTED, Verdict.INCONCLUSIVE)
        if word is Verdict.FALSIFIED:
            assert f.control_shows
            assert not f.effect
        if word is Verdict.PREDICTION_REFUTED:
            assert f.removal_refuted
            assert not f.effect
