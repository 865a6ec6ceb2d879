"""The page on the engine names every flag, variable and metric that there is."""

from __future__ import annotations

import dataclasses

import pytest

from tests.conftest import ROOT
from workbench.local_engine import environ, metrics
from workbench.local_engine.server_args import ServerArgs

PAGE = (ROOT / "docs" / "local-engine.md").read_text(encoding="utf-8")
FLAGS = [f"--{field.name.replace('_', '-')}" for field in dataclasses.fields(ServerArgs)]


@pytest.mark.parametrize("name", [*FLAGS, *environ.KNOWN, *sorted(metrics.OWN)])
def test_it_is_on_the_page(name: str) -> None:
    assert f"| `{name}` |" in PAGE


def test_defaults_are_as_told() -> None:
    rows = [line.split(" | ") for line in PAGE.splitlines() if line.startswith("| `--")]
    told = {row[0].strip("| `"): row[1] for row in rows}
    silent: tuple[object, ...] = (None, False, "")
    for flag, field in zip(FLAGS, dataclasses.fields(ServerArgs), strict=True):
        default = "" if field.default in silent else str(field.default)
        assert told[flag] == default.replace("True", "on")
