"""`docs/knobs.md` names every kind with its options, as they are, and its examples can be had."""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import Any

import pytest

from tests.conftest import ROOT
from workbench import plugins
from workbench.conduct.knobs import part_of
from workbench.model.campaign import Knob
from workbench.model.plan import Part
from workbench.ports import Launch
from workbench.store.putback import Record
from workbench.store.schema.campaign import KnobShape
from workbench.store.yamltext import read_yaml

DOCUMENT = (ROOT / "docs" / "knobs.md").read_text(encoding="utf-8")
KINDS = plugins.names(plugins.Group.KNOB)


def section(title: str) -> str:
    return DOCUMENT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def rows(text: str) -> dict[str, list[str]]:
    found = re.findall(r"^\| `(\w+)` \| (.*) \|$", text, re.MULTILINE)
    return {name: rest.split(" | ") for name, rest in found}


def documented(options: type) -> dict[str, str]:
    """Give the options of a plug-in with what its docstring says of each, on one line."""
    text = inspect.getdoc(options) or ""
    told = text.partition("Attributes:\n")[2]
    found = re.findall(r"^    (\w+): (.*(?:\n        .*)*)", told, re.MULTILINE)
    return {name: " ".join(meaning.split()) for name, meaning in found}


def examples() -> list[Any]:
    knobs: dict[str, Any] = {}
    for block in re.findall(r"```yaml\n(.*?)```", DOCUMENT, re.DOTALL):
        if "kind:" in block:
            text = "knobs:\n" + block.removeprefix("knobs:\n")
            read = read_yaml(text.encode(), "knobs.md", is_field=lambda keys: keys[-1] == "on")
            assert not read.problems
            knobs.update(read.value["knobs"])
    return [pytest.param(name, written, id=name) for name, written in knobs.items()]


def test_every_kind_is_in_the_table_with_its_options() -> None:
    table = rows(DOCUMENT.partition("\n## ")[0])
    assert sorted(table) == KINDS
    for kind, (_, options) in table.items():
        fields = dataclasses.fields(plugins.options_type(plugins.Group.KNOB, kind))
        assert re.findall(r"`(\w+)`", options) == [field.name for field in fields]


@pytest.mark.parametrize("kind", KINDS)
def test_every_option_is_told_as_its_class_does(kind: str) -> None:
    options = plugins.options_type(plugins.Group.KNOB, kind)
    table = section(kind).partition("| record |")[0]
    told = {name: cells[-1] for name, cells in rows(table).items()}
    assert told == documented(options)
    assert list(told) == [field.name for field in dataclasses.fields(options)]


def test_every_field_of_a_record_is_told_as_its_class_does() -> None:
    table = section("file").partition("| record |")[2]
    assert {name: cells[-1] for name, cells in rows(table).items()} == documented(Record)
    assert list(documented(Record)) == [field.name for field in dataclasses.fields(Record)]


def test_every_field_of_a_knob_is_told() -> None:
    fields = [name for name in KnobShape.model_fields if name != "kind"]
    assert sorted(rows(section("For all kinds"))) == sorted(fields)


@pytest.mark.parametrize(("name", "written"), examples())
def test_every_example_can_be_had(name: str, written: dict[str, Any]) -> None:
    knob: Knob = KnobShape.model_validate(written).noun(name)
    for engine in ("", *knob.on):
        part = part_of(knob, engine)
        beside = ("levels", "components", "readback", "moves")
        options = {key: value for key, value in part.options.items() if key not in beside}
        built = plugins.build(plugins.Group.KNOB, Part(kind=part.kind, options=options))
        for value in part.options["levels"].values():
            assert isinstance(built.apply(value, Launch()), Launch)
