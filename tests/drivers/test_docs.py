"""`docs/workloads.md` has every option with its default and meaning, and its examples can be built."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT
from workbench import plugins
from workbench.model.outcome import Ending
from workbench.model.plan import Part
from workbench.workloads import harness
from workbench.workloads.command import CommandWorkloadOptions
from workbench.workloads.replay import ReplayOptions, read_entries
from workbench.workloads.server import ServerOptions
from workbench.workloads.sessions import SessionsOptions
from workbench.workloads.single import SingleOptions

DOCUMENT = (ROOT / "docs" / "workloads.md").read_text(encoding="utf-8")
OPTIONS: dict[str, type[Any]] = {
    "What single, sessions and replay share": ServerOptions,
    "single": SingleOptions,
    "sessions": SessionsOptions,
    "replay": ReplayOptions,
    "command": CommandWorkloadOptions,
}
CONDUCTORS = ("kind", "sessions", "in_flight", "seed", "keep_texts")


def section(title: str) -> str:
    return DOCUMENT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def shown(field: dataclasses.Field[Any]) -> str:
    """Write a default as the document does."""
    if field.default_factory is not dataclasses.MISSING:
        return f"`{field.default_factory()}`"
    if field.default is dataclasses.MISSING:
        return "needed"
    if isinstance(field.default, str) and field.default:
        return f"`{field.default}`"
    default = list(field.default) if isinstance(field.default, tuple) else field.default
    return f"`{json.dumps(default)}`"


def meanings(options: type[Any]) -> dict[str, str]:
    """Read what the docstring says of each option."""
    text = inspect.cleandoc(options.__doc__ or "").partition("Attributes:\n")[2]
    found = re.findall(r"^    (\w+): (.*(?:\n        .*)*)", text, re.MULTILINE)
    return {name: " ".join(told.split()) for name, told in found}


@pytest.mark.parametrize("title", OPTIONS)
def test_every_option_is_there_with_its_default_and_meaning(title: str) -> None:
    options = OPTIONS[title]
    shared = {each.name for each in dataclasses.fields(ServerOptions)}
    own = [
        each
        for each in dataclasses.fields(options)
        if options is ServerOptions or not issubclass(options, ServerOptions) or each.name not in shared
    ]
    told = meanings(options)
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*) \|$", section(title), re.MULTILINE)
    assert rows == [(each.name, shown(each), told[each.name]) for each in own]


def test_the_examples_of_campaigns_can_be_built(tmp_path: Path) -> None:
    (line,) = re.findall(r'^\{"messages".*$', DOCUMENT, re.MULTILINE)
    (tmp_path / "bodies.jsonl").write_text(line)
    kinds = set()
    for text in re.findall(r"```yaml\n(.*?)```", DOCUMENT, re.DOTALL):
        for spec in yaml.safe_load(text)["workloads"].values():
            options = {name: value for name, value in spec.items() if name not in CONDUCTORS}
            options |= {"cwd": str(tmp_path)} if spec["kind"] == "replay" else {}
            plugins.build(plugins.Group.WORKLOAD, Part(kind=spec["kind"], options=options))
            kinds.add(spec["kind"])
    assert kinds == set(plugins.names(plugins.Group.WORKLOAD)) - {"simulated"}


def lines(title: str) -> str:
    return section(title).partition("```json\n")[2].partition("```")[0]


def test_the_example_of_a_file_to_replay_is_one(tmp_path: Path) -> None:
    (tmp_path / "bodies.jsonl").write_text(lines("replay"))
    first, second = read_entries(tmp_path / "bodies.jsonl")
    assert [turn.expected for turn in (*first, *second)] == ["", "42"]


def test_the_example_of_a_harness_is_read_and_its_fields_are_named() -> None:
    told = [harness.read_line(line.encode()) for line in lines("command").splitlines()]
    assert [line.ending for line in told] == [Ending.COMPLETED, Ending.TIMEOUT]
    fields = re.findall(r"`(\w+)`", section("command").partition("Fields are ")[2].partition(";")[0])
    assert fields == list(harness.Line.__struct_fields__)
    assert "16 MiB or 10,000 lines" in section("command")
    assert (harness.LARGEST, harness.MOST_LINES) == (16 << 20, 10_000)


def test_the_endings_of_a_reply_are_named() -> None:
    for ending in set(Ending) - {Ending.ENGINE_DIED}:
        assert f"`{ending}`" in DOCUMENT
