"""Bodies from a file: sent as they stand, in turns, the same in both arms; bad files named by line."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.drivers.serving import build, drive, request
from workbench.errors import PluginError, UsageError
from workbench.model.ids import SessionKey
from workbench.ports import Workload
from workbench.workloads import replay

BODIES = str(ROOT / "tests" / "drivers" / "bodies.jsonl")


def of(path: Path, *lines: object, raw: bytes = b"", **options: Any) -> Workload:
    text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
    (path / "bodies.jsonl").write_bytes(text.encode() + raw)
    return build("replay", file="bodies.jsonl", cwd=str(path), **options)


def test_lines_of_one_name_are_the_turns_of_a_session() -> None:
    driven = drive(build("replay", file=BODIES), sessions=[request(n, block=0) for n in range(3)])
    said = [body["messages"][0]["content"] for body in driven.bodies]
    assert said == ["hello", "one", "two", "hello"]
    assert [exchange.expected for exchange in driven.exchanges] == ["", "", "three", ""]
    assert [exchange.last for exchange in driven.exchanges] == [True, False, True, True]


def test_lines_of_a_session_need_not_stand_together(tmp_path: Path) -> None:
    lines = [{"body": {"n": n}, "session": name} for n, name in enumerate("aba")]
    driven = drive(of(tmp_path, *lines), sessions=[request(0, block=0), request(1, block=0)])
    assert [body["n"] for body in driven.bodies] == [0, 2, 1]


def test_what_a_body_says_of_itself_holds_and_options_lie_over_it(tmp_path: Path) -> None:
    told = {"stream": False, "model": "recorded", "n": {"é": 0.70, "big": 10**30}, "top_p": 1}
    assert drive(of(tmp_path, told)).bodies == [told]
    (sent,) = drive(of(tmp_path, told, model="mine", body={"top_p": None})).bodies
    assert sent == {"stream": False, "model": "mine", "n": told["n"]}


def places(workload: Workload, block: int, sessions: int, arm: str = "control") -> list[int]:
    asked = [request(n, block=block, arm=arm) for n in range(sessions)]
    return [body["n"] for body in drive(workload, sessions=asked).bodies]


def test_a_block_goes_around_from_a_place_of_its_own_the_same_in_each_arm(tmp_path: Path) -> None:
    workload = of(tmp_path, *({"n": n} for n in range(100)))
    first = places(workload, 1, 3)
    assert first == [61, 62, 63]
    assert places(workload, 1, 3, arm="treatment") == first
    assert places(workload, 2, 3) == [22, 23, 24]
    assert places(of(tmp_path, {"n": 0}, {"n": 1}), 1, 3) == [1, 0, 1]


@given(size=st.integers(1, 500), block=st.integers(0, 60), session=st.integers(0, 999))
def test_a_block_as_long_as_the_file_sends_all_of_it(size: int, block: int, session: int) -> None:
    sent = [replay.entry_of(SessionKey("control", block, session + each), size) for each in range(size)]
    assert sorted(sent) == list(range(size))
    assert sent == [
        replay.entry_of(SessionKey("a", block, session + each), size) for each in range(size)
    ]


def test_ten_short_blocks_see_all_of_a_long_file() -> None:
    sent = {
        replay.entry_of(SessionKey("control", block, each), 1000)
        for block in range(1, 11)
        for each in range(200)
    }
    assert len(sent) == 1000


@pytest.mark.parametrize(
    ("raw", "what"),
    [
        (b"{}\n", ":1: is no JSON object with something in it"),
        (b'\n{"a": 1}\n[1]\n', ":3: is no JSON object"),
        (b'{"a": 1}\n{"a": \n', ":2: is not JSON"),
        (b'{"a": NaN}\n', ":1: is not JSON"),
        (b'{"a": "\xff"}\n', ":1: is not JSON"),
        (b"[" * 100_000, ":1: is not JSON"),
        (b'{"body": 3}\n', ":1: body must be an object"),
        (b'{"body": {}, "session": 3}\n', ":1: body must be an object, and session a text"),
        (b'{"body": {}, "expeced": 3}\n', ":1: has no field 'expeced' beside body; did you mean"),
        (b" \n\n", ": holds no request"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, raw: bytes, what: str) -> None:
    with pytest.raises(UsageError, match=f"bodies.jsonl{what}") as raised:
        of(tmp_path, raw=raw)
    assert raised.value.hint.startswith("a line is, say")


def test_a_file_that_will_not_do_is_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")  # which nobody writes to: it must not be waited for
    with (tmp_path / "large").open("wb") as large:
        large.truncate(replay.LARGEST + 1)
    told = {
        "none": "No such file",
        "pipe": "no plain file",
        "large": "larger than 64 MiB",
        ".": "plain",
    }
    for name, what in told.items():
        with pytest.raises(UsageError, match=what):
            build("replay", file=name, cwd=str(tmp_path))
    with pytest.raises(PluginError, match="name a file"):
        build("replay", file="")


def test_the_file_is_read_once(tmp_path: Path) -> None:
    workload = of(tmp_path, {"n": 1})
    (tmp_path / "bodies.jsonl").unlink()
    assert places(workload, 1, 2) == [1, 1]
