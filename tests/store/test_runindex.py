"""The list of runs: complete, ordered, and the same with a cache, without one, or with a broken one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from tests.store.examples import AT, AT_ONCE, manifest, sample
from workbench import __version__
from workbench.model.outcome import Counts, Status
from workbench.model.registry import RunLine
from workbench.model.run import RunState, Served
from workbench.store import RunFolder, new_run_id
from workbench.store.documents import encode_manifest, read_manifest
from workbench.store.find import has_begun
from workbench.store.runindex import INDEX_FILE, run_lines

LONG_AGO = (1_700_000_000, 1_700_000_000)
SERVED = Served(hypothesis="H5", file="hypotheses/H05-x.yaml", sha256="a" * 64, text="title: x\n")


def make(root: Path, place: int, state: RunState | None = RunState.FINISHED) -> Path:
    """Make a run of minute `place`; without a state its owner is still at work."""
    created = AT + timedelta(minutes=place)
    planned = manifest(
        id=new_run_id(created), created=created, serves=(SERVED, replace(SERVED, hypothesis="H6"))
    )
    folder = RunFolder.create(root / "runs", planned, AT_ONCE)
    folder.append_sample(sample(0, status=Status.HIT, block=1))
    folder.append_sample(sample(0, block=2))
    folder.append_sample(sample(0, arm="treatment"))
    folder.replace_manifest(state=RunState.RUNNING)
    if state is None:
        folder.abandon()  # the lock goes, and this process stays alive: it is who the manifest names
    else:
        folder.close(state)
    age(folder.path)
    return folder.path


def age(path: Path) -> None:
    """Let a manifest be old enough for the cache."""
    os.utime(path / "manifest.json", LONG_AGO)


def by_id(root: Path) -> dict[str, RunLine]:
    return {line.id: line for line in run_lines(root)}


def test_a_line_says_what_the_manifest_says(tmp_path: Path) -> None:
    path = make(tmp_path, 0)
    for _ in range(2):  # read, then from the cache
        (line,) = run_lines(tmp_path)
        assert line == RunLine(
            id=path.name,
            path=f"runs/{path.name}",
            command="ab",
            state=RunState.FINISHED,
            hypotheses=("H5", "H6"),
            planned={"H5": "a" * 64, "H6": "a" * 64},
            created=AT,
            seconds=0.0,
            counts={"control": Counts(1, 1), "treatment": Counts(0, 1)},
        )
    assert (tmp_path / ".workbench" / INDEX_FILE).exists()


def test_a_campaign_without_runs_has_none_and_gets_no_cache(tmp_path: Path) -> None:
    assert run_lines(tmp_path) == ()
    (tmp_path / "runs").mkdir()
    assert run_lines(tmp_path) == ()
    assert not (tmp_path / ".workbench").exists()


def test_the_oldest_comes_first_and_strangers_are_left_out(tmp_path: Path) -> None:
    paths = [make(tmp_path, place) for place in (2, 0, 1)]
    (tmp_path / "runs" / "notes").mkdir()
    (tmp_path / "runs" / "20261129T151200Z-aaaaaaaa").symlink_to(paths[0])
    expected = sorted(path.name for path in paths)
    assert [line.id for line in run_lines(tmp_path)] == expected
    assert [line.id for line in run_lines(tmp_path)] == expected


def no_manifest(path: Path) -> None:
    (path / "manifest.json").unlink()


def torn_manifest(path: Path) -> None:
    data = (path / "manifest.json").read_bytes()
    (path / "manifest.json").write_bytes(data[:100])


def changed_manifest(path: Path) -> None:
    data = (path / "manifest.json").read_bytes()
    (path / "manifest.json").write_bytes(data.replace(b'"finished"', b'"planned" '))


def folder_for_manifest(path: Path) -> None:
    no_manifest(path)
    (path / "manifest.json").mkdir()


@pytest.mark.parametrize(
    ("harm", "why"),
    [
        (no_manifest, "No such file"),
        (torn_manifest, "manifest.json:"),
        (changed_manifest, "checksum differs"),
        (folder_for_manifest, "directory"),
    ],
)
@pytest.mark.parametrize("warm", [False, True])
def test_one_bad_run_says_why_and_hides_no_other(
    tmp_path: Path, harm: Callable[[Path], None], why: str, warm: bool
) -> None:
    paths = [make(tmp_path, place) for place in range(3)]
    if warm:
        run_lines(tmp_path)
    harm(paths[1])
    for _ in range(2):
        lines = run_lines(tmp_path)
        assert [line.path for line in lines] == [f"runs/{path.name}" for path in paths]
        assert [bool(line.problem) for line in lines] == [False, True, False]
        assert why in lines[1].problem
        assert str(tmp_path) not in lines[1].problem
        assert lines[1].id == paths[1].name


def test_running_without_a_live_owner_shows_as_crashed(tmp_path: Path) -> None:
    alive, dead = make(tmp_path, 0, None), make(tmp_path, 1, None)
    with RunFolder.resume(dead, AT_ONCE, take_over=True) as folder:
        folder.replace_manifest(
            state=RunState.RUNNING, owner=replace(folder.manifest.owner, boot_id="another")
        )
    age(dead)
    for _ in range(2):
        lines = by_id(tmp_path)
        assert lines[alive.name].state is RunState.RUNNING
        assert lines[dead.name].state is RunState.CRASHED


def test_a_run_that_goes_on_is_never_served_from_the_cache(tmp_path: Path) -> None:
    path = make(tmp_path, 0, None)
    assert by_id(tmp_path)[path.name].state is RunState.RUNNING
    with RunFolder.resume(path, AT_ONCE, take_over=True) as folder:
        folder.replace_manifest(state=RunState.RUNNING)
        assert by_id(tmp_path)[path.name].state is RunState.RUNNING
        folder.close(RunState.STOPPED, seconds=7.5)
    line = by_id(tmp_path)[path.name]
    assert (line.state, line.seconds) == (RunState.STOPPED, 7.5)


def test_a_manifest_that_was_just_written_is_not_trusted_to_the_cache(tmp_path: Path) -> None:
    path = make(tmp_path, 0)
    first = (path / "manifest.json").read_bytes()
    (path / "manifest.json").write_bytes(first)  # now
    now = os.stat(path / "manifest.json").st_mtime_ns  # noqa: PTH116
    assert by_id(tmp_path)[path.name].command == "ab"
    changed = encode_manifest(replace(read_manifest(path / "manifest.json"), command="xy"))
    assert len(changed) == len(first)
    (path / "manifest.json").write_bytes(changed)
    os.utime(path / "manifest.json", ns=(now, now))  # within one tick of a coarse clock
    assert by_id(tmp_path)[path.name].command == "xy"


@pytest.mark.parametrize("harm", ["gone", "empty", "noise", "torn", "other version", "a folder"])
def test_the_cache_may_be_damaged_or_deleted(tmp_path: Path, harm: str) -> None:
    for place in range(3):
        make(tmp_path, place)
    expected = run_lines(tmp_path)
    cache = tmp_path / ".workbench" / INDEX_FILE
    data = cache.read_bytes()
    cache.unlink()
    match harm:
        case "empty":
            cache.write_bytes(b"")
        case "noise":
            cache.write_bytes(bytes(range(256)) * 20)
        case "torn":
            cache.write_bytes(data[:-7])
        case "other version":
            cache.write_bytes(data.replace(__version__.encode(), b"x" * len(__version__)))
        case "a folder":
            cache.mkdir()
    assert run_lines(tmp_path) == expected
    assert run_lines(tmp_path) == expected
    if harm != "a folder":
        assert cache.read_bytes() == data


def test_a_run_that_is_gone_leaves_the_list(tmp_path: Path) -> None:
    paths = [make(tmp_path, place) for place in range(2)]
    assert len(run_lines(tmp_path)) == 2
    shutil.rmtree(paths[0])
    assert [line.id for line in run_lines(tmp_path)] == [paths[1].name]


def test_the_cache_is_what_answers(tmp_path: Path) -> None:
    """A changed byte that leaves time, size and inode as they were is not seen: nothing was read."""
    path = make(tmp_path, 0)
    assert by_id(tmp_path)[path.name].problem == ""
    with (path / "manifest.json").open("r+b") as file:
        file.seek(10)
        file.write(b"#")
    age(path)
    assert by_id(tmp_path)[path.name].problem == ""
    (tmp_path / ".workbench" / INDEX_FILE).unlink()
    assert run_lines(tmp_path)[0].problem


def test_where_nothing_can_be_written_the_list_is_the_same(tmp_path: Path) -> None:
    make(tmp_path, 0)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".workbench").symlink_to(tmp_path / "elsewhere")
    assert len(run_lines(tmp_path)) == 1
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_run_that_was_never_begun_says_so_and_an_emptied_one_does_not(tmp_path: Path) -> None:
    """A maker killed before its first manifest leaves a lock at most; samples alone are a loss."""
    killed, lost = (tmp_path / "runs" / new_run_id(AT + timedelta(minutes=n)) for n in (1, 2))
    killed.mkdir(parents=True)
    (killed / "owner.lock").touch()
    (killed / ".manifest.json.0a1b2c3d.tmp").touch()
    lost.mkdir()
    (lost / "samples-w0.jsonl").touch()
    assert (has_begun(killed), has_begun(lost)) == (False, True)
    first, second = run_lines(tmp_path)
    assert "was never begun" in first.problem
    assert "No such file" in second.problem


def test_runs_of_one_second_stand_in_the_order_in_which_they_were_made(tmp_path: Path) -> None:
    second = new_run_id(AT).partition("-")[0]
    first, later = f"{second}-zzzzzzzz", f"{second}-aaaaaaaa"
    for id, created in ((later, AT + timedelta(milliseconds=400)), (first, AT)):
        with RunFolder.create(tmp_path / "runs", manifest(id=id, created=created), AT_ONCE):
            pass
    assert [line.id for line in run_lines(tmp_path)] == [first, later]
