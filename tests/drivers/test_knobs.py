"""Knobs: what a level makes of a launch, and what is refused before anything runs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench import plugins
from workbench.conduct.knobs import Knobs, part_of
from workbench.engines.command import CommandEngine, CommandEngineOptions
from workbench.errors import ArmCouldNotStart, PluginError
from workbench.model.campaign import Knob
from workbench.model.ids import SessionKey
from workbench.model.plan import Arm, Part
from workbench.ports import Launch, SessionRequest
from workbench.workloads.command import CommandWorkload, CommandWorkloadOptions

MODE = Part(kind="env", options={"name": "MODE", "levels": {"on": "1", "off": None, "many": 3}})
FAST = Part(kind="flag", options={"flag": "--fast", "levels": {"on": True, "off": False, "n": 2}})
HOSTILE = "; rm -rf / $(id) `id` \n -rf \"'"


def apply(part: Part, level: str, launch: Launch | None = None, component: str = "") -> Launch:
    arm = Arm(name="control", settings={"it": level})
    return Knobs({"it": part}).apply(arm, launch or Launch(), component)


def test_a_variable_is_a_text_or_is_taken_out() -> None:
    assert apply(MODE, "on").env == {"MODE": "1"}
    assert apply(MODE, "many").env == {"MODE": "3"}
    assert apply(MODE, "off").env == {"MODE": None}


def test_a_flag_is_there_or_not_or_has_a_value() -> None:
    base = Launch(argv=("./run",))
    assert apply(FAST, "on", base).argv == ("./run", "--fast")
    assert apply(FAST, "off", base).argv == ("./run",)
    assert apply(FAST, "n", base).argv == ("./run", "--fast", "2")


@given(st.text().filter(lambda text: "\0" not in text))
def test_a_value_is_one_word_whatever_it_holds(text: str) -> None:
    flag = Part(kind="flag", options={"flag": "-x", "levels": {"it": text}})
    assert apply(flag, "it").argv == ("-x", text)
    variable = Part(kind="env", options={"name": "X", "levels": {"it": text}})
    assert apply(variable, "it").env == {"X": text}


@pytest.mark.parametrize(
    ("kind", "options", "what"),
    [
        ("env", {"name": "A=B"}, "'='"),
        ("env", {"name": "A\0B"}, "a NUL byte"),
        ("env", {"name": "A\nB"}, "a newline"),
        ("env", {"name": ""}, "name is empty"),
        ("flag", {"flag": "fast"}, "begins with a dash"),
        ("flag", {"flag": "--"}, "begins with a dash"),
        ("flag", {"flag": "--a=b"}, "'='"),
        ("flag", {"flag": "--a b"}, "blanks"),
        ("flag", {"flag": "--a\nb"}, "newlines"),
        ("flag", {"flag": "--a\0b"}, "NUL"),
        ("env", {"nam": "MODE"}, "no option 'nam'"),
    ],
)
def test_a_name_that_could_be_something_else_is_refused(
    kind: str, options: Mapping[str, Any], what: str
) -> None:
    with pytest.raises(PluginError, match=what):
        plugins.build(plugins.Group.KNOB, Part(kind=kind, options=options))


@pytest.mark.parametrize(
    ("kind", "value", "what"),
    [
        ("env", True, "quote it"),
        ("env", ["a"], "is a text"),
        ("env", "a\0b", "NUL byte"),
        ("flag", None, "cannot be followed by None"),
        ("flag", {"a": 1}, "cannot be followed by"),
        ("flag", "a\0b", "NUL byte"),
    ],
)
def test_a_value_that_cannot_be_set_names_the_knob(kind: str, value: object, what: str) -> None:
    options = {"name" if kind == "env" else "flag": "-x" if kind == "flag" else "X"}
    part = Part(kind=kind, options={**options, "levels": {"bad": value}})
    with pytest.raises(ValueError, match=rf"knob it: .*{what}"):
        apply(part, "bad")


@pytest.mark.parametrize("word", ["--fast", "--fast=1"])
@pytest.mark.parametrize("level", ["on", "off"])
def test_a_flag_that_stands_in_the_command_is_refused(word: str, level: str) -> None:
    with pytest.raises(ValueError, match="take it out there"):
        apply(FAST, level, Launch(argv=("./run", word)))


def test_a_level_that_there_is_not_is_named_with_those_that_there_are() -> None:
    with pytest.raises(ValueError, match="knob it: it has no level 'of'; known: on, off, many"):
        apply(MODE, "of")


def test_a_knob_turns_the_components_that_it_is_for() -> None:
    part = Part(kind="env", options={**MODE.options, "components": ["prefill"]})
    assert apply(part, "on", component="prefill").env == {"MODE": "1"}
    assert apply(part, "on", component="decode").env == {}


def test_a_knob_may_be_another_kind_on_another_engine() -> None:
    knob = Knob(
        name="cache",
        kind="flag",
        levels={"on": True, "off": False},
        options={"flag": "--cache"},
        on={"prod": {"kind": "env", "name": "CACHE", "levels": {"on": "1", "off": "0"}}},
    )
    assert apply(part_of(knob, "local"), "on").argv == ("--cache",)
    assert apply(part_of(knob, "prod"), "off").env == {"CACHE": "0"}


def test_the_turn_of_an_arm_ends_it_as_one_that_could_not_start() -> None:
    turn = Knobs({"mode": MODE}).turn(Arm(name="control", settings={"mode": "of"}))
    with pytest.raises(ArmCouldNotStart, match="control: knob mode: it has no level"):
        turn(Launch())


SHOW = """#!/usr/bin/env python3
import json, os, sys
print(json.dumps([sys.argv[1:], os.environ.get("MODE"), os.environ.get("HOME")]))
"""


def test_a_command_gets_its_flags_and_variables_as_they_are(tmp_path: Path) -> None:
    script = tmp_path / "show.py"
    script.write_text(SHOW)
    script.chmod(0o755)
    engine = CommandEngine(
        CommandEngineOptions(argv=("./show.py", "--seed", "{seed}"), cwd=str(tmp_path))
    )
    parts = {
        "home": Part(kind="env", options={"name": "HOME", "levels": {"none": None}}),
        "mode": Part(kind="env", options={"name": "MODE", "levels": {"x": HOSTILE}}),
        "word": Part(kind="flag", options={"flag": "--word", "levels": {"x": HOSTILE}}),
    }
    arm = Arm(name="control", settings={"home": "none", "mode": "x", "word": "x"})
    turn = Knobs(parts).turn(arm)

    async def once() -> str:
        endpoint = await engine.start(arm, turn)
        session = SessionRequest(run="r", key=SessionKey("control", 1, 0), seed=7)
        workload = CommandWorkload(CommandWorkloadOptions())
        (exchange,) = [exchange async for exchange in workload.drive(endpoint, session)]
        return exchange.text

    assert json.loads(asyncio.run(once())) == [["--seed", "7", "--word", HOSTILE], HOSTILE, None]


def test_what_is_read_back_shows_flags_and_variables_and_moves_with_its_folder(tmp_path: Path) -> None:
    found = []
    for name in ("here", "there"):
        home = tmp_path / name
        home.mkdir()
        script = home / "run.sh"
        script.write_text("#!/bin/sh\n")
        script.chmod(0o755)
        engine = CommandEngine(CommandEngineOptions(argv=("./run.sh",), cwd=str(home)))
        arm = Arm(name="control", settings={"fast": "n", "mode": "off"})
        turn = Knobs({"fast": FAST, "mode": MODE}).turn(arm)
        found.append(asyncio.run(engine.fingerprint(arm, turn)))
    assert found[0].config == {"command": "./run.sh --fast 2", "env MODE": "(not set)"}
    assert list(found[0].files) == ["run.sh"]
    assert found[0] == found[1]


def test_an_argv_must_name_a_command() -> None:
    for argv in (["", "x"], ["a\0b"]):
        with pytest.raises(PluginError, match="argv"):
            plugins.build(plugins.Group.ENGINE, Part(kind="command", options={"argv": argv}))
