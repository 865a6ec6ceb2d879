"""Guards of a start, one by one: each by the fact that trips it, and by one that does not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from workbench.judge import starts
from workbench.model.run import Fingerprint
from workbench.model.start import Load, Reading, Start
from workbench.ports import Component, Sighting

INFO = {"decode info dtype": "bf16", "decode info pages": "20", "prefill info dtype": "bf16"}


def found(arm: str, info: dict[str, str] | None = None, *read: str, **more: Any) -> Fingerprint:
    readings = tuple(Reading(about="knob k", source="s", due="", found=each, ok=True) for each in read)
    config = {"serve argv": f"serve {arm}", **(INFO if info is None else info)}
    start = Start(arm=arm, block=1, readbacks=readings)
    return Fingerprint(arm=arm, config=config, start=start, **more)


def names(guards: tuple[Any, ...]) -> list[str]:
    return [guard.name for guard in guards]


def test_a_flag_without_effect_is_told_with_what_was_due() -> None:
    wrong = Reading(about="knob index_k", source="server_info dtype", due="bf16", found="fp8", ok=False)
    (guard,) = starts.readbacks("control", [wrong, replace(wrong, ok=True)])
    assert guard.name == "readback-differs"
    assert guard.detail == "control: knob index_k: server_info dtype is fp8, not bf16"
    (guard,) = starts.exposure("control", [wrong])
    assert guard.name == "exposure-not-reached"


def test_arms_that_were_only_started_differently_have_one_effect() -> None:
    assert names(starts.same_effect(found("control"), found("treatment"))) == ["same-config"]


@pytest.mark.parametrize(
    "other",
    [
        found("treatment", {**INFO, "decode info dtype": "fp8"}),
        found("treatment", INFO, "off"),
        found("treatment", {**INFO, "request temperature": "0"}),
        found("treatment", {**INFO, "url": "http://127.0.0.1:2"}),
        found("treatment", INFO, files={"serve.py": "1"}),
    ],
    ids=["info", "readback", "request", "url", "files"],
)
def test_anything_that_was_read_back_makes_two_arms_of_them(other: Fingerprint) -> None:
    assert not starts.same_effect(found("control", INFO), other)


@pytest.mark.parametrize(
    ("moved", "stands"),
    [
        ([], False),
        (["dtype"], False),
        (["dtype", "pages"], True),
        (["--dtype", "PAGES"], True),  # a flag, and a variable, are called after their keys
        (["*"], True),
    ],
)
def test_what_differs_beside_the_knob_must_be_said_to_move(moved: list[str], stands: bool) -> None:
    other = found("treatment", {**INFO, "decode info dtype": "fp8", "decode info pages": "38"})
    guards = starts.elsewhere(found("control"), other, moved)
    assert names(guards) == ([] if stands else ["differs-elsewhere"])


def test_keys_with_dots_are_meant_by_their_end() -> None:
    one = found("control", {"router info decode.pages": "1"})
    other = found("treatment", {"router info decode.pages": "2"})
    assert not starts.elsewhere(one, other, ["pages"])
    assert not starts.elsewhere(one, other, ["decode.*"])
    one, other = (found(arm, {"router info prefill.pools.a": arm}) for arm in ("control", "treatment"))
    assert not starts.elsewhere(one, other, ["pools.*"])
    assert starts.elsewhere(one, other, ["ages"])


def test_a_file_of_one_arm_alone_is_a_difference() -> None:
    assert starts.elsewhere(found("control", files={"a": "1"}), found("treatment"), ["*"])


def sighting(
    pid: int | None = 7, started: float | None = 100.0, newest: float | None = None
) -> Sighting:
    return Sighting(components={"decode": Component(pid=pid, started=started, newest=newest)})


@pytest.mark.parametrize(
    ("now", "tripped"),
    [
        (sighting(), False),
        (sighting(pid=8), True),
        (sighting(started=200.0), True),  # the number of a process is used again
        (sighting(pid=None), False),  # nobody knows
        (Sighting(components={}), False),
    ],
)
def test_another_process_is_a_restart(now: Sighting, tripped: bool) -> None:
    assert names(starts.restarted("control", sighting(), now)) == (["restarted"] if tripped else [])


def test_a_process_older_than_its_files_does_not_run_them() -> None:
    assert not starts.stale("control", sighting(newest=99.0))
    early = Component(pid=7, started=100.0, newest=100.9, early=0.95)
    assert not starts.stale("control", Sighting(components={"decode": early}))
    assert starts.stale("control", Sighting(components={"decode": replace(early, early=0.5)}))
    (guard,) = starts.stale("control", sighting(newest=101.0))
    assert guard.name == "older-than-its-files"
    assert "component decode" in guard.detail


FINE = Load(
    asked=60,
    sessions=60,
    exchanges=240,
    requests=240,
    client_peak=60,
    server_peak=60,
    exact=True,
    served=240,
)


@pytest.mark.parametrize(
    ("changes", "lost", "tripped"),
    [
        ({}, 0, []),
        ({"lag_mean": 0.2}, 0, ["client-bottleneck"]),
        ({"server_peak": 53}, 0, ["load-not-reached"]),
        ({"server_peak": 54}, 0, []),
        ({"server_peak": 6, "sessions": 6}, 0, []),  # no more were left to be sent
        ({"server_peak": 40, "exact": False, "samples": 40}, 0, []),
        ({"server_peak": 20, "exact": False, "samples": 40}, 0, ["load-not-reached"]),
        ({"server_peak": 20, "exact": False, "samples": 3}, 0, []),
        ({"server_peak": None, "served": None}, 0, []),
        ({"server_peak": 61}, 0, ["foreign-traffic"]),
        ({"server_peak": 61}, 1, []),  # one that was given up may still have been under way
        ({"served": 241}, 0, ["foreign-traffic"]),
        ({"served": 239}, 0, []),  # one never got there
    ],
)
def test_a_load_is_the_one_asked_for_and_ours_alone(
    changes: dict[str, Any], lost: int, tripped: list[str]
) -> None:
    load = replace(FINE, **changes)
    assert names(starts.load("control", load, lost, allow_foreign=False)) == tripped
    allowed = names(starts.load("control", load, lost, allow_foreign=True))
    assert allowed == [each for each in tripped if each != "foreign-traffic"]


def test_what_means_nothing_is_recorded_and_not_compared() -> None:
    info = {"port": "3", "dtype": "bf16", "internal.load_now": "4"}
    seen = Sighting(
        components={"decode": Component(pid=7, started=0.0, url="http://x", info=info)},
        volatile=("port", "internal.*"),
    )
    same, volatile = starts.comparable(seen)
    assert same == {"decode info dtype": "bf16"}
    assert volatile == {
        "decode info port": "3",
        "decode info internal.load_now": "4",
        "decode url": "http://x",
        "decode pid": "7",
        "decode started": "1970-01-01 00:00:00Z",
    }
