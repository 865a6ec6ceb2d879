"""Every number shown, against the reference implementation on the same blocks.

`test_yardsticks` compares words on many trials; here the e-values themselves are compared, so that an
error which changes no word is seen too.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.bench.abtest import verdict as yardstick
from tests.bench.abtest.product import Factory

WORLDS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("removes, m 20", {}, {"pc": 0.17, "pt": 0.0, "m": 20, "rho": 0.05}),
    ("removes, errors", {}, {"pc": 0.17, "pt": 0.05, "m": 60, "rho": 0.05, "err": (0.1, 0.3)}),
    ("equal arms", {"removes": False}, {"pc": 0.3, "pt": 0.3, "m": 20}),
    ("absolute margin", {"removes": False, "margin": 0.05}, {"pc": 0.4, "pt": 0.3, "m": 20}),
    ("no prediction", {"removes": False, "predicted": None}, {"pc": 0.4, "pt": 0.6, "m": 20}),
    ("no hit", {}, {"pc": 0.0, "pt": 0.0, "m": 20}),
    ("design effect off", {"design_effect": None}, {"pc": 0.17, "pt": 0.1, "m": 20, "rho": 0.1}),
    (
        "single starts",
        {"lifecycle": "command"},
        {"pc": 0.17, "pt": 0.05, "m": 20, "lifecycle": "command"},
    ),
]


@pytest.mark.parametrize(("change", "world"), [w[1:] for w in WORLDS], ids=[w[0] for w in WORLDS])
def test_every_number_equals_the_reference(change: dict[str, Any], world: dict[str, Any]) -> None:
    cfg = yardstick.config(lean=True, steady=True, **change)
    statuses, orders = yardstick.world(np.random.default_rng(9), 6, cfg["max_blocks"], **world)
    for trial in range(len(statuses)):
        reference, product = yardstick.Reference(), Factory()
        reference.start(dict(cfg))
        product.start(dict(cfg))
        for block in range(cfg["max_blocks"]):
            message = yardstick.message(statuses[trial], orders[trial], block)
            compare(reference.block(message), product, message, cfg)


def compare(
    expected: dict[str, Any], product: Factory, message: dict[str, Any], cfg: dict[str, Any]
) -> None:
    product.block(message)
    test = product.test
    evidence = test.evidence
    pairs = {
        "E0": evidence.no_effect,
        "EM": evidence.margin,
        "R": evidence.control_low,
        "N": evidence.control_high,
        "X": evidence.treatment_clean,
    }
    for name, got in pairs.items():
        assert got is not None
        # The reference rounds to a thousandth of a nat; exp(-700) is the smallest that is told from 0.
        assert math.log(max(got, 1e-300)) == pytest.approx(
            max(expected["log_e"][name], -690.8), abs=1e-3
        )
    assert test.design_effect == pytest.approx(expected["design_effect"])
    assert test.harmful == expected["reversed"]
    if evidence.across_restarts is not None:
        assert math.log(evidence.across_restarts) == pytest.approx(
            expected["across_restarts"], abs=1e-9
        )
    # The product does not call a prediction refuted by a single start; the reference does.
    if cfg["removes"] and test.tally.treatment_starts_hit != 1:
        assert str(test.held) == expected["prediction"]
