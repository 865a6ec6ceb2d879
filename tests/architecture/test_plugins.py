"""Plug-ins: registered like a stranger's, built from options, refused with a hint."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import ROOT
from workbench import plugins
from workbench.errors import PluginError, UsageError
from workbench.model.plan import Part
from workbench.ports import Classifier, Dialect, Engine, KnobKind, Workload

PORTS = {
    plugins.Group.ENGINE: Engine,
    plugins.Group.DIALECT: Dialect,
    plugins.Group.WORKLOAD: Workload,
    plugins.Group.KNOB: KnobKind,
    plugins.Group.CLASSIFIER: Classifier,
}
NEEDED: dict[plugins.Group, dict[str, dict[str, Any]]] = {
    plugins.Group.ENGINE: {
        "attach": {"url": "http://127.0.0.1:9", "dialect": "openai"},
        "process": {"components": {"server": {"argv": ["serve", "{port}"]}}, "dialect": "openai"},
    },
    plugins.Group.WORKLOAD: {
        "simulated": {"rates": {"control": 0.1}},
        "single": {"prompt": "hello"},
        "replay": {"file": str(ROOT / "tests" / "drivers" / "bodies.jsonl")},
    },
    plugins.Group.KNOB: {
        "env": {"name": "MODE"},
        "file": {"path": "serve.sh", "line": "--mode"},
        "flag": {"flag": "--mode"},
        "load": {"field": "in_flight"},
        "request": {"field": "temperature"},
    },
    plugins.Group.CLASSIFIER: {
        "regex": {"patterns": {"garbled": "DSML"}},
        "tool_call": {"family": "deepseek_v4"},
    },
}


@pytest.mark.parametrize("group", plugins.Group)
def test_every_plug_in_of_the_tree_can_be_built_and_meets_its_port(group: plugins.Group) -> None:
    assert plugins.names(group)
    for name in plugins.names(group):
        options = NEEDED.get(group, {}).get(name, {})
        part = Part(kind=name, options=options)
        engine = group is plugins.Group.ENGINE
        built = plugins.build_engine(part) if engine else plugins.build(group, part)
        assert isinstance(built, PORTS[group])


@pytest.mark.parametrize(
    ("part", "what", "hint"),
    [
        (Part(kind="comand"), "no workload 'comand'", "did you mean 'command'?"),
        (Part(kind="xyzzy"), "no workload 'xyzzy'", "known: command, replay"),
        (Part(kind="command", options={"timout": 3}), "no option 'timout'", "did you mean 'timeout'?"),
        (Part(kind="command", options={"timeout": "soon"}), "Expected `float`", ""),
        (Part(kind="command", options={"timeout": -1}), "timeout must be positive", ""),
        (Part(kind="simulated"), "missing required field `rates`", ""),
    ],
)
def test_what_cannot_be_built_says_why(part: Part, what: str, hint: str) -> None:
    with pytest.raises(PluginError) as raised:
        plugins.build(plugins.Group.WORKLOAD, part)
    assert what in raised.value.what
    assert hint in raised.value.hint


def test_options_that_an_engine_shares_with_its_dialect_go_to_both() -> None:
    options = {"url": "http://127.0.0.1:9", "dialect": "sglang", "api_key_env": "NO_SUCH_VARIABLE"}
    with pytest.raises(UsageError, match="NO_SUCH_VARIABLE is not set"):
        plugins.build_engine(Part(kind="attach", options=options))
