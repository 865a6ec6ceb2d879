"""Whether a setting took effect: what is found, held against what its level stands for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.judge.readback import NOT_SET, SOURCES, Readback, find_key, flag_in, spelled


def readback(**written: Any) -> Readback:
    found = Readback.of({"server_info": "key", **written})
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("level", "value", "found", "met"),
    [
        ("bf16", "1", "bf16", True),  # by its name
        ("bf16", "1", "1", True),  # by its value
        ("bf16", "1", "fp8", False),
        ("on", True, "true", True),
        ("on", True, "True", True),  # as Python's servers spell it
        ("on", True, "false", False),
        ("off", False, "false", True),
        ("off", False, "", False),  # what is found nowhere is never right
        ("high", 0.9, "0.90", True),
        ("high", 0.9, "0.91", False),
        ("none", None, NOT_SET, True),
        ("none", None, "null", True),
        ("none", None, "1", False),
    ],
)
def test_a_level_is_found_by_its_name_or_its_value(
    level: str, value: Any, found: str, met: bool
) -> None:
    assert readback().met(level, value, found) is met


def test_what_is_expected_of_a_level_overrules_its_name() -> None:
    told = readback(expect={"bf16": "torch.bfloat16"})
    assert told.met("bf16", "1", "torch.bfloat16")
    assert not told.met("bf16", "1", "bf16")
    assert told.met("fp8", "0", "fp8")
    assert told.due("bf16", "1") == "torch.bfloat16"


@pytest.mark.parametrize(("found", "met"), [("16548.45", True), ("15897.45", False), ("many", False)])
def test_numbers_have_bounds(found: str, met: bool) -> None:
    told = readback(at_least={"bf16": 16000}, at_most={"bf16": 17000})
    assert told.met("bf16", "1", found) is met
    assert told.due("bf16", "1") == "at least 16000 and at most 17000"


def test_a_file_may_be_named_by_the_beginning_of_its_digest() -> None:
    told = Readback.of({"file": "serve.py", "expect": {"old": "0123456789"}})
    assert told is not None
    assert told.met("old", None, "0123456789abcdef")
    assert not told.met("old", None, "ffff456789abcdef")


def test_a_knob_without_a_readback_has_none() -> None:
    assert Readback.of({}) is None
    for source in SOURCES:
        assert Readback.of({source: "x"}) == Readback(source=source, what="x")


@pytest.mark.parametrize(
    ("argv", "found"),
    [
        (("serve", "--parallel", "4"), "4"),
        (("serve", "--parallel=4"), "4"),
        (("serve", "--parallel"), "true"),
        (("serve", "--parallel", "--other"), "true"),
        (("serve", "--parallel", "-1"), "-1"),
        (("serve", "--parallels", "4"), "false"),
        ((), "false"),
    ],
)
def test_flags_are_found_as_they_are_written(argv: tuple[str, ...], found: str) -> None:
    assert flag_in(argv, "--parallel") == found


def test_a_key_is_found_by_its_end_when_there_is_only_one() -> None:
    info = {"prefill.dtype": "bf16", "decode.dtype": "bf16", "prefill.size": "1", "decode.size": "2"}
    assert find_key(info, "prefill.size") == "1"
    assert find_key(info, "dtype") == "bf16"
    assert find_key(info, "size") == ""  # which of the two?
    assert find_key(info, "type") == ""


@given(st.one_of(st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(min_size=1)))
def test_every_value_is_found_as_it_is_spelled(value: Any) -> None:
    assert readback().met("level", value, spelled(value))
