"""Lists of runs, and what a user may call a run by."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.store.examples import AT_ONCE, RUN, manifest
from workbench.errors import StoreError, UsageError
from workbench.store import RunFolder, find_run, list_runs

OTHER = "20261129T151300Z-aaaaaaaa"
THIRD = "20261130T000000Z-k3bbbbbb"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    parent = tmp_path / "runs"
    for name in (THIRD, RUN, OTHER):
        with RunFolder.create(parent, manifest(id=name), AT_ONCE):
            pass
    return parent


def test_runs_are_listed_oldest_first_and_bad_ones_hide_no_other(runs: Path) -> None:
    (runs / OTHER / "manifest.json").write_bytes(b'{"schema": "workbench/run@1"')
    (runs / "20261129T151400Z-cccccccc").mkdir()
    (runs / "20261129T151500Z-dddddddd").write_text("a file")
    (runs / "notes").mkdir()
    (runs / "20261129T151600Z-eeeeeeee").symlink_to(runs / RUN)
    listed = list(list_runs(runs))
    assert [(each.path.name, each.manifest is not None) for each in listed] == [
        (RUN, True),
        (OTHER, False),
        ("20261129T151400Z-cccccccc", False),
        ("20261129T151500Z-dddddddd", False),
        (THIRD, True),
    ]
    assert all(isinstance(each.problem, StoreError) for each in listed if each.manifest is None)


def test_no_folder_of_runs_is_no_runs(tmp_path: Path) -> None:
    assert list(list_runs(tmp_path / "runs")) == []


def test_a_run_goes_by_path_id_or_the_start_of_either_part(runs: Path) -> None:
    assert find_run(RUN, runs) == runs / RUN
    assert find_run(str(runs / RUN), runs) == runs / RUN
    assert find_run("20261130", runs) == runs / THIRD
    assert find_run("k3m7", runs) == runs / RUN
    with RunFolder.create_at(runs.parent / "mine", manifest(), AT_ONCE):
        pass
    assert find_run(str(runs.parent / "mine"), runs) == runs.parent / "mine"


def test_a_damaged_run_can_still_be_named(runs: Path) -> None:
    (runs / RUN / "manifest.json").write_bytes(b"")
    assert find_run("k3m7", runs) == runs / RUN


@pytest.mark.parametrize("name", ["20261129", "nothing", "", "k3", "../runs", "a\0b", "*", "x" * 5000])
def test_what_names_no_run_or_several_is_refused(runs: Path, name: str) -> None:
    with pytest.raises(UsageError) as caught:
        find_run(name, runs)
    assert caught.value.hint
