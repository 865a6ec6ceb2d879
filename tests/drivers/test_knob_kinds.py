"""Knobs of files, requests, the load and the endpoint: what they make of a launch, and refuse."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from workbench import plugins
from workbench.conduct.knobs import Knobs
from workbench.errors import PluginError
from workbench.model.plan import Arm, Part
from workbench.ports import Edit, Launch


def build(kind: str, **options: Any) -> Any:
    return plugins.build(plugins.Group.KNOB, Part(kind=kind, options=options))


def test_a_field_is_laid_over_the_body_or_taken_out() -> None:
    knob = build("request", field="chat_template_kwargs.thinking")
    assert knob.apply(True, Launch()).request == {"chat_template_kwargs.thinking": True}
    assert knob.apply(None, Launch(request={"top_p": 1})).request == {
        "top_p": 1,
        "chat_template_kwargs.thinking": None,
    }


def test_the_load_is_another_than_the_plans() -> None:
    assert build("load", field="in_flight").apply(60, Launch()).load == {"in_flight": 60}
    assert build("load", field="turns").apply(4, Launch()).load == {"turns": 4}


def test_sessions_go_to_another_url() -> None:
    launch = build("endpoint").apply("http://127.0.0.1:30001/", Launch())
    assert launch == Launch(url="http://127.0.0.1:30001")


def test_an_edit_says_what_becomes_of_a_file() -> None:
    line = build("file", path="./serve.sh", line="--cache").apply(True, Launch())
    assert line.edits == (Edit(path="serve.sh", line="--cache", value=True),)
    key = build("file", path="a.yaml", key="cache.dtype").apply("fp8", line)
    assert key.edits == (*line.edits, Edit(path="a.yaml", key="cache.dtype", value="fp8"))


@pytest.mark.parametrize(
    ("kind", "options", "what"),
    [
        ("request", {"field": ""}, "field is empty"),
        ("request", {"field": "a..b"}, "no dotted name"),
        ("request", {"field": "a. b"}, "no dotted name"),
        ("request", {"field": "a\x1b"}, "no dotted name"),
        ("load", {"field": "sessions"}, "same for all arms"),
        ("load", {"field": ""}, "field is empty"),
        ("endpoint", {"url": "http://x"}, "no option 'url'"),
        ("file", {"path": "a.sh"}, "name one of the two"),
        ("file", {"path": "a.yaml", "key": "a", "line": "b"}, "name one of the two"),
        ("file", {"path": "", "line": "b"}, "no path"),
        ("file", {"path": "a\0", "line": "b"}, "no path"),
        ("file", {"path": "folder/", "line": "b"}, "no path"),
        ("file", {"path": "a.toml", "key": "a"}, "has no keys that are known"),
        ("file", {"path": "a.sh", "line": " b"}, "leave blanks"),
        ("file", {"path": "a.sh", "line": "a\nb"}, "control characters"),
        ("file", {"path": "a.sh", "line": "# b"}, "is a comment"),
        ("file", {"path": "a.sh", "line": "--a \\"}, "ends with a backslash"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    kind: str, options: Mapping[str, Any], what: str
) -> None:
    with pytest.raises(PluginError, match=what):
        build(kind, **options)


@pytest.mark.parametrize(
    ("kind", "options", "value", "what"),
    [
        ("request", {"field": "t"}, float("nan"), "finite"),
        ("request", {"field": "t"}, {1: 2}, "mapping of such"),
        ("load", {"field": "in_flight"}, 0, "from 1 on"),
        ("load", {"field": "in_flight"}, True, "from 1 on"),
        ("load", {"field": "in_flight"}, "6", "from 1 on"),
        ("endpoint", {}, 30000, "is no URL"),
        ("endpoint", {}, "127.0.0.1:30000", "is no URL"),
        ("endpoint", {}, "http://", "is no URL of a server"),
        ("endpoint", {}, "file:///etc/passwd", "is no URL of a server"),
        ("endpoint", {}, "http://x:99999", "is no URL"),
        ("endpoint", {}, "http://me:secret@x", "holds no user or password"),
        ("endpoint", {}, "http://x/?key=1", "only the base URL"),
        ("endpoint", {}, "http://x/\n", "is no URL"),
        ("file", {"path": "a", "line": "--a"}, None, "cannot be followed"),
        ("file", {"path": "a", "line": "--a"}, [1], "cannot be followed"),
        ("file", {"path": "a", "line": "--a"}, "b\nc", "a control character"),
        ("file", {"path": "a", "line": "--a"}, "\ud800", "cannot be followed"),
        ("file", {"path": "a.json", "key": "a"}, float("inf"), "finite"),
    ],
)
def test_values_that_cannot_be_set_are_refused(
    kind: str, options: Mapping[str, Any], value: object, what: str
) -> None:
    with pytest.raises(ValueError, match=what):
        build(kind, **options).apply(value, Launch())


def test_the_secret_of_a_url_is_not_shown_when_it_is_refused() -> None:
    with pytest.raises(ValueError) as raised:
        build("endpoint").apply("http://me:hunter2@x", Launch())
    assert "hunter2" not in str(raised.value)


def test_what_is_beside_the_engine_is_that_of_all_components() -> None:
    parts = {
        "prefill": Part(
            kind="flag", options={"flag": "--x", "levels": {"on": True}, "components": ["prefill"]}
        ),
        "decode": Part(
            kind="flag", options={"flag": "--x", "levels": {"on": True}, "components": ["decode"]}
        ),
        "file": Part(
            kind="file",
            options={"path": "a.sh", "line": "-x", "levels": {"on": 1}, "components": ["decode"]},
        ),
        "load": Part(kind="load", options={"field": "in_flight", "levels": {"on": 8}}),
        "request": Part(kind="request", options={"field": "t", "levels": {"on": 0}}),
    }
    arm = Arm(name="control", settings=dict.fromkeys(parts, "on"))
    assert Knobs(parts).beside(arm) == Launch(
        edits=(Edit(path="a.sh", line="-x", value=1),), load={"in_flight": 8}, request={"t": 0}
    )
    assert Knobs(parts).beside_in_words(arm) == {
        "edit a.sh -x": "1",
        "load in_flight": "8",
        "request t": "0",
    }


def test_a_level_that_there_is_not_names_its_knob_beside_the_engine_too() -> None:
    knobs = Knobs({"t": Part(kind="request", options={"field": "t", "levels": {"on": 0}})})
    with pytest.raises(ValueError, match="knob t: it has no level 'off'"):
        knobs.beside(Arm(name="control", settings={"t": "off"}))
