"""A campaign of the template `llamacpp`: made once as the page says it, and copied for each test."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.campaigns import succeeded
from tests.realengine.campaigns import commands, follow, servers_in


@pytest.fixture(scope="session")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Follow the page up to its first test."""
    pytest.importorskip("xllamacpp", reason="pip install 'bisection-workbench[llamacpp]'")
    home = tmp_path_factory.mktemp("llamacpp")
    install, *steps, test = commands("Two suspects")
    assert (install[0], test) == ("pip", ["workbench", "test", "H1"])
    for words in steps:
        if words[0] == "cd":
            home /= words[1]
        else:
            succeeded(follow(words, home))
    return home


@pytest.fixture
def home(ready: Path, tmp_path: Path) -> Iterator[Path]:
    """A campaign of the test's own; no server of it may be left when the test is over."""
    copy = Path(shutil.copytree(ready, tmp_path / "greedy"))
    yield copy
    assert servers_in(copy) == []
