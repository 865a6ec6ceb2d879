"""Each verb says what it does, shows an example, and has JSON or a reason not to."""

from __future__ import annotations

import importlib

import click
import pytest

from workbench.cli import VERBS

# they print JSON, a script, and what --format says; the last one draws
NO_JSON = {"schema", "completion", "export", "tui"}


def verb(name: str) -> click.Command:
    module, attribute, _ = VERBS[name]
    command = getattr(importlib.import_module(f"workbench.cli.{module}"), attribute)
    assert isinstance(command, click.Command)
    return command


@pytest.mark.parametrize("name", VERBS)
def test_each_verb_shows_an_example_of_itself(name: str) -> None:
    assert f"workbench {name}" in (verb(name).help or "").partition("Example:")[2]


@pytest.mark.parametrize("name", VERBS)
def test_each_verb_has_json(name: str) -> None:
    options = {option for each in verb(name).params for option in each.opts}
    assert ("--json" in options) is (name not in NO_JSON)


@pytest.mark.parametrize("name", VERBS)
def test_each_verb_is_called_by_its_name(name: str) -> None:
    assert verb(name).name == name
