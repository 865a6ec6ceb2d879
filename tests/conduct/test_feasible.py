"""What an arm asks for is refused at plan time when it cannot be had, and both knobs are named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.campaign.simulated_tests import campaign, plan, suspect
from workbench.conduct.feasible import check
from workbench.conduct.knobs import Knobs
from workbench.errors import UsageError
from workbench.model.campaign import EngineSpec, Knob, WorkloadSpec
from workbench.model.hypothesis import Test
from workbench.model.plan import Arm, Part

ENGINE = EngineSpec(name="prod", lifecycle="command")
WORKLOAD = WorkloadSpec(name="w", kind="command")


def knob(kind: str, levels: Mapping[str, Any] | None = None, **options: Any) -> Part:
    return Part(kind=kind, options={**options, "levels": levels or {"it": "x", "off": False}})


def checked(one: Part, other: Part, **engine: Any) -> None:
    arm = Arm(name="control", settings={"one": "it", "other": "it"})
    spec = EngineSpec(name="prod", lifecycle="command", options=engine)
    check(Knobs({"one": one, "other": other}), arm, spec, WORKLOAD)


@pytest.mark.parametrize(
    ("one", "other", "what"),
    [
        (knob("env", name="A"), knob("env", name="A"), "variable A"),
        (knob("flag", flag="--a"), knob("flag", {"it": False, "on": True}, flag="--a"), "flag --a"),
        (knob("request", field="a"), knob("request", field="a"), "field a"),
        (knob("request", field="a"), knob("request", field="a.b"), "field a"),
        (
            knob("load", {"it": 1}, field="in_flight"),
            knob("load", {"it": 2}, field="in_flight"),
            "load in_flight",
        ),
        (
            knob("endpoint", {"it": "http://a"}),
            knob("endpoint", {"it": "http://b"}),
            "endpoint",
        ),
        (
            knob("file", path="a.sh", line="-x"),
            knob("file", path="./a.sh", line="-x"),
            "line a.sh: -x",
        ),
        (
            knob("file", path="a.yaml", key="a"),
            knob("file", path="a.yaml", key="a.b"),
            "key a.yaml: a",
        ),
    ],
)
def test_two_knobs_that_set_one_thing_are_refused(one: Part, other: Part, what: str) -> None:
    for first, second in ((one, other), (other, one)):
        with pytest.raises(ValueError, match=f"knobs one and other both set {what}"):
            checked(first, second)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (knob("env", name="A"), knob("env", name="AB")),
        (knob("env", name="A", components=["p"]), knob("env", name="A", components=["d"])),
        (knob("request", field="a"), knob("request", field="ab")),
        (knob("file", path="a.sh", line="-x"), knob("file", path="b.sh", line="-x")),
        (knob("file", path="a.sh", line="-x"), knob("flag", flag="-x")),
        (knob("request", field="a"), knob("load", {"it": 1}, field="timeout")),
    ],
)
def test_two_knobs_that_set_two_things_are_not(one: Part, other: Part) -> None:
    checked(one, other)


def test_components_that_overlap_clash() -> None:
    with pytest.raises(ValueError, match="both set variable A"):
        checked(knob("env", name="A", components=["p", "d"]), knob("env", name="A", components=["d"]))
    with pytest.raises(ValueError, match="both set variable A"):
        checked(knob("env", name="A"), knob("env", name="A", components=["d"]))


def test_an_option_that_the_workload_has_not_is_named_with_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"has no option 'timeot' for a load; did you mean 'timeout'"):
        checked(knob("env", name="A"), knob("load", {"it": 1}, field="timeot"))


def test_a_file_of_another_host_is_not_looked_for_here() -> None:
    with pytest.raises(ValueError, match=r"a\.sh would be changed on this host.* ops@gpu-host"):
        checked(knob("env", name="A"), knob("file", path="a.sh", line="-x"), ssh="ops@gpu-host")


def test_a_plan_is_refused_for_it() -> None:
    spec = campaign({"control": 0.3})
    twice = Knob(name="again", kind="env", levels={"on": "1"}, options={"name": "CACHE"})
    spec.knobs["again"] = twice  # type: ignore[index]
    settings = {"cache": "on", "again": "on"}
    hypothesis = suspect()
    test = Test(control=settings, treatment={**settings, "cache": "off"})

    with pytest.raises(
        UsageError, match=r"campaign\.yaml: knobs again and cache both set variable CACHE"
    ):
        plan(spec, replace(hypothesis, test=test))
