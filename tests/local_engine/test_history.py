"""The engine's own history: it ends in the shipped tree, byte by byte, and its patches fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.local_engine.history import refresh, shipped
from workbench.local_engine.history import series as declared
from workbench.local_engine.history.build import Built, build
from workbench.local_engine.history.git import git


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(tmp_path_factory.mktemp("history") / "minisgl")


def test_patches_are_in_step_with_the_engine() -> None:
    """If not: `python -m workbench.local_engine.history.refresh`."""
    series = declared.read(shipped.HERE)
    assert refresh.stale(refresh.refresh(series, shipped.tree()), shipped.HERE) == []


@pytest.mark.parametrize("name", ["gate", "half-mirror"])
def test_what_refresh_writes_out_it_reads_back(tmp_path: Path, name: str) -> None:
    """A tree that nobody edited makes an empty patch."""
    assert refresh.main(["--begin", name, str(tmp_path)]) == 0
    series, tree = declared.read(shipped.HERE), shipped.tree()
    again = refresh.record(series, name, tree, shipped.read(tmp_path))
    assert again.patches[name] == ""


def test_main_is_the_shipped_tree_byte_by_byte(built: Built) -> None:
    repo = Path(built.path)
    names = git(repo, "ls-tree", "-r", "-z", "--name-only", "main").split("\0")[:-1]
    tree = shipped.tree()
    assert sorted(names) == sorted(tree)
    assert {name: (repo / name).read_bytes() for name in names} == {
        name: text.encode() for name, text in tree.items()
    }
    assert git(repo, "status", "--porcelain") == ""


def test_a_second_build_gives_the_same_ids(built: Built, tmp_path: Path) -> None:
    assert build(tmp_path / "again").commits == built.commits
