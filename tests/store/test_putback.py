"""Files that are changed and put back: a fault at every system call, and people who come between."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from workbench.errors import StorageFull, StoreError
from workbench.store.faults import Fault, FaultyOs, Killed
from workbench.store.putback import Kept, Restored, change, kept, restore

OLD, NEW, THEIRS = b"#!/bin/sh\nold\n", b"#!/bin/sh\nnew\n", b"somebody's\n"
RUN = "20261129T151200Z-k3m7q2xa"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "campaign"
    folder.mkdir()
    return folder


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "serve.sh"
    path.write_bytes(OLD)
    path.chmod(0o751)
    return path


def everything(_: Kept) -> bool:
    return True


def to_new(old: bytes) -> bytes:
    assert old == OLD
    return NEW


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def is_as_it_was(root: Path, script: Path) -> None:
    assert (script.read_bytes(), mode(script)) == (OLD, 0o751)
    assert [entry.name for entry in script.parent.iterdir() if entry.name.startswith(".")] == []
    folder = root / ".workbench" / "putback"
    assert list(folder.iterdir() if folder.exists() else []) == []


def test_a_file_is_changed_and_put_back_with_its_mode(root: Path, script: Path) -> None:
    change(root, script, to_new, RUN)
    assert (script.read_bytes(), mode(script)) == (NEW, 0o751)
    (found,) = kept(root)
    assert found.record is not None
    assert (found.record.path, found.record.run, found.live) == (str(script), RUN, True)
    assert restore(root) == []  # a living process will do that itself
    assert script.read_bytes() == NEW
    (done,) = restore(root, everything)
    assert done == Restored(
        path=str(script),
        ok=True,
        what=f"{script}: has been put back as it was before run {RUN}",
    )
    is_as_it_was(root, script)
    assert restore(root, everything) == []


def test_nobody_else_can_read_what_was_kept(root: Path, script: Path) -> None:
    change(root, script, to_new, RUN)
    folder = root / ".workbench" / "putback"
    assert [mode(folder), *map(mode, folder.iterdir())] == [0o700, 0o600, 0o600]


def test_an_edit_that_changes_nothing_leaves_no_trace(root: Path, script: Path) -> None:
    inode = script.stat().st_ino
    change(root, script, lambda old: old, RUN)
    assert list(kept(root)) == []
    assert script.stat().st_ino == inode


def test_what_cannot_be_made_of_it_leaves_it_as_it_is(root: Path, script: Path) -> None:
    def refuses(old: bytes) -> bytes:
        raise ValueError("no such line")

    with pytest.raises(ValueError, match="no such line"):
        change(root, script, refuses, RUN)
    is_as_it_was(root, script)


def test_of_a_link_what_it_leads_to_is_changed(root: Path, script: Path) -> None:
    link = script.with_name("link.sh")
    link.symlink_to(script)
    change(root, link, to_new, RUN)
    assert link.is_symlink()
    assert script.read_bytes() == NEW
    restore(root, everything)
    is_as_it_was(root, script)


def test_a_file_that_is_changed_already_is_refused(root: Path, script: Path) -> None:
    change(root, script, to_new, RUN)
    with pytest.raises(StoreError, match=f"is changed for run {RUN}, and has not been put back"):
        change(root, script, lambda old: old + b"more", "another")
    assert script.read_bytes() == NEW


def a_fifo(path: Path) -> None:
    os.mkfifo(path)


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def a_second_name(path: Path) -> None:
    path.write_bytes(OLD)
    path.with_name("other").hardlink_to(path)


def a_large_file(path: Path) -> None:
    path.write_bytes(b"x" * (2**20 + 1))


def a_circle(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: None, "No such file"),
        (Path.mkdir, "is a folder"),
        (a_fifo, "no plain file"),
        (a_socket, "cannot be read|no plain file"),
        (a_second_name, "has 2 names"),
        (a_circle, "circle|symbolic link|symlink"),
        (a_large_file, "is larger than 1 MiB"),
    ],
)
def test_what_is_no_plain_file_of_one_name_is_refused(
    root: Path, tmp_path: Path, make: Callable[[Path], None], why: str
) -> None:
    path = tmp_path / "it"
    make(path)
    with pytest.raises(StoreError, match=why):
        change(root, path, to_new, RUN)
    assert list(kept(root)) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_an_owner_stays_the_owner(root: Path, script: Path) -> None:
    os.chown(script, 12345, 54321)
    script.chmod(0o4751)
    change(root, script, to_new, RUN)
    changed = script.stat()
    restore(root, everything)
    for found in (changed, script.stat()):
        assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (12345, 54321, 0o4751)


def test_what_another_host_has_changed_is_not_ours_to_put_back(root: Path, script: Path) -> None:
    """A campaign on a shared disk: the file of that name here is another one."""
    change(root, script, to_new, RUN)
    (found,) = kept(root)
    assert found.record is not None
    owner = replace(found.record.owner, host="elsewhere", boot_id="another")
    found.file.write_bytes(msgspec.json.encode(replace(found.record, owner=owner)))
    (there,) = kept(root)
    assert (there.live, there.left) == (False, False)
    assert restore(root) == []
    rebooted = replace(found.record.owner, boot_id="another")
    found.file.write_bytes(msgspec.json.encode(replace(found.record, owner=rebooted)))
    assert [each.ok for each in restore(root)] == [True]
    is_as_it_was(root, script)


# --- people who come between ----------------------------------------------------------------------


def test_what_somebody_has_changed_since_is_left_alone_and_both_are_named(
    root: Path, script: Path
) -> None:
    change(root, script, to_new, RUN)
    script.write_bytes(THEIRS)
    for _ in range(2):  # the record stays, so it is told again
        (done,) = restore(root, everything)
        assert not done.ok
        (record,) = kept(root)
        assert str(script) in done.what
        assert str(record.original) in done.what
        assert record.original.read_bytes() == OLD
        assert script.read_bytes() == THEIRS
    script.write_bytes(OLD)  # they put it back themselves
    (done,) = restore(root, everything)
    assert (done.ok, done.what) == (True, f"{script}: is as it was before run {RUN}")
    is_as_it_was(root, script)


@pytest.mark.parametrize("gone", ["removed", "linked", "named twice"])
def test_what_has_become_something_else_is_left_alone(root: Path, script: Path, gone: str) -> None:
    change(root, script, to_new, RUN)
    other = script.with_name("other.sh")
    if gone == "removed":
        script.unlink()
    elif gone == "linked":
        script.rename(other)
        script.symlink_to(other)
    else:
        other.hardlink_to(script)
    (done,) = restore(root, everything)
    assert not done.ok
    assert str(next(kept(root)).original) in done.what
    assert not other.exists() or other.read_bytes() == NEW


def test_a_damaged_original_is_not_put_back(root: Path, script: Path) -> None:
    change(root, script, to_new, RUN)
    next(kept(root)).original.write_bytes(THEIRS)
    (done,) = restore(root, everything)
    assert not done.ok
    assert "is damaged" in done.what
    assert script.read_bytes() == NEW


def test_a_damaged_record_hides_no_other(root: Path, script: Path, tmp_path: Path) -> None:
    change(root, script, to_new, RUN)
    second = tmp_path / "second.sh"
    second.write_bytes(OLD)
    change(root, second, to_new, RUN)
    next(kept(root)).file.write_bytes(b"{}")
    done = restore(root, everything)
    assert sorted(each.ok for each in done) == [False, True]
    assert sorted([script.read_bytes(), second.read_bytes()]) == [NEW, OLD]


def test_a_mode_that_was_changed_is_put_back_with_the_bytes(root: Path, script: Path) -> None:
    change(root, script, to_new, RUN)
    script.chmod(0o600)
    restore(root, everything)
    is_as_it_was(root, script)


# --- a fault at every system call -----------------------------------------------------------------


def there_and_back(root: Path, script: Path, disk: FaultyOs) -> list[Restored]:
    change(root, script, to_new, RUN, disk=disk)
    return restore(root, everything, disk=disk)


def calls(root: Path, script: Path) -> list[tuple[str, str]]:
    disk = FaultyOs()
    assert [each.ok for each in there_and_back(root, script, disk)] == [True]
    assert {name for name, _ in disk.log} >= {"fchmod", "fsync", "link", "rename", "unlink"}
    return disk.log


def fresh(parent: Path) -> tuple[Path, Path]:
    root, script = parent / "campaign", parent / "serve.sh"
    root.mkdir(parents=True)
    script.write_bytes(OLD)
    script.chmod(0o751)
    return root, script


@pytest.mark.parametrize("fault", [Fault.KILL, Fault.KILL_AFTER])
@pytest.mark.parametrize("power", [False, True])
def test_a_death_at_any_system_call_can_be_made_good(tmp_path: Path, fault: Fault, power: bool) -> None:
    for at in range(len(calls(*fresh(tmp_path / "good")))):
        root, script = fresh(tmp_path / f"{at}")
        disk = FaultyOs(at, fault)
        with pytest.raises(Killed):
            there_and_back(root, script, disk)
        if power:
            disk.cut_power()
        assert script.read_bytes() in (OLD, NEW), at  # whole, whatever happened
        assert script.read_bytes() == OLD or list(kept(root)), at
        assert all(each.ok for each in restore(root, everything)), at
        is_as_it_was(root, script)


FAULTS = [(Fault.SHORT_WRITE, False), (Fault.NO_SPACE, False), (Fault.NO_SPACE, True)]
FAULTS += [(Fault.IO_ERROR, False), (Fault.IO_ERROR, True)]


@pytest.mark.parametrize(("fault", "sticky"), FAULTS)
def test_a_refused_system_call_can_be_made_good(tmp_path: Path, fault: Fault, sticky: bool) -> None:
    told = 0
    for at in range(len(calls(*fresh(tmp_path / "good")))):
        root, script = fresh(tmp_path / f"{at}")
        disk = FaultyOs(at, fault, sticky=sticky)
        with told_as_a_full_disk() as failed:
            change(root, script, to_new, RUN, disk=disk)
        if not failed:
            failed += [each.what for each in restore(root, everything, disk=disk) if not each.ok]
        told += bool(failed)
        assert script.read_bytes() in (OLD, NEW), at
        assert script.read_bytes() == OLD or list(kept(root)), at
        assert all(each.ok for each in restore(root, everything)), at
        is_as_it_was(root, script)
    assert (told == 0) == (fault is Fault.SHORT_WRITE)


@contextmanager
def told_as_a_full_disk() -> Iterator[list[str]]:
    failed: list[str] = []
    try:
        yield failed
    except StorageFull as error:
        failed.append(error.what)
