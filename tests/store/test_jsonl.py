"""Lines: sealed, appended whole, cut back when the disk refuses, and read whatever the file holds."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path
from zlib import crc32

import msgspec
import pytest

from workbench.errors import StorageFull, StoreError
from workbench.store.damage import Damage
from workbench.store.disk import REAL_OS
from workbench.store.faults import Fault, FaultyOs
from workbench.store.jsonl import BadLine, LineWriter, mend, read_lines, seal, torn_tail, unseal

LINES = [seal(b'{"n":%d,"text":"a\xe2\x80\xa8b\xc2\x85c\\u0000"}' % n) for n in range(40)]


def read(path: Path) -> tuple[list[bytes], Damage]:
    damage = Damage()
    return list(read_lines(path, bytes, damage)), damage


def test_the_checksum_is_that_of_the_line_without_it() -> None:
    line = seal(b'{"k":"control/1/0/0"}')
    assert line == b'{"k":"control/1/0/0","crc":"%08x"}\n' % crc32(b'{"k":"control/1/0/0"}')
    assert unseal(line[:-1]) == b'{"k":"control/1/0/0"}'
    with pytest.raises(BadLine):
        unseal(b'{"k":"control/1/0/0"}')


def test_every_flipped_bit_of_a_line_is_found_and_hides_no_other(tmp_path: Path) -> None:
    whole = LINES[0]
    for at in range(len(whole) - 1):
        for bit in range(8):
            flipped = bytearray(whole)
            flipped[at] ^= 1 << bit
            path = tmp_path / "samples.jsonl"
            path.write_bytes(LINES[1] + bytes(flipped) + LINES[2])
            lines, damage = read(path)
            assert lines[0] == unseal(LINES[1][:-1])
            assert lines[-1] == unseal(LINES[2][:-1])
            assert len(lines) == 2
            assert set(damage.bad) <= {("samples.jsonl", 2), ("samples.jsonl", 3)}
            assert ("samples.jsonl", 2) in damage.bad


def test_a_file_cut_at_any_byte_gives_its_whole_lines(tmp_path: Path) -> None:
    data = b"".join(LINES)
    path = tmp_path / "samples.jsonl"
    path.write_bytes(data)
    for cut in range(len(data), -1, -1):
        os.truncate(path, cut)
        lines, damage = read(path)
        assert len(lines) == data[:cut].count(b"\n")
        tail = cut - (data[:cut].rfind(b"\n") + 1)
        assert damage.torn == ({"samples.jsonl": tail} if tail else {})
        assert not damage.bad


def test_garbage_between_lines_is_reported_by_line_number(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    garbage = [
        b"\n",
        b"\0" * 4096 + b"\n",
        b"\xff\xfe\n",
        b"[" * 5000 + b"\n",
        b"{}\n",
        b'"crc":"00000000"}\n',
    ]
    path.write_bytes(LINES[0] + b"".join(garbage) + LINES[1] + b"\0" * 100)
    lines, damage = read(path)
    assert len(lines) == 2
    assert [line for _, line in sorted(damage.bad)] == [2, 3, 4, 5, 6, 7]
    assert damage.torn == {"samples.jsonl": 100}
    assert any("samples.jsonl:3:" in sentence for sentence in damage)


def test_a_line_nested_without_end_is_damage_and_hides_no_other(tmp_path: Path) -> None:
    deep = b'{"k":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    path = tmp_path / "lines.jsonl"
    path.write_bytes(seal(b'{"n":1}') + seal(deep) + seal(b'{"n":2}'))
    damage = Damage()
    assert list(read_lines(path, msgspec.json.decode, damage)) == [{"n": 1}, {"n": 2}]
    assert len(list(damage)) == 1


def test_a_folder_in_place_of_the_file_is_damage_and_not_an_error(tmp_path: Path) -> None:
    (tmp_path / "samples.jsonl").mkdir()
    lines, damage = read(tmp_path / "samples.jsonl")
    assert lines == []
    assert "samples.jsonl" in damage.files


def test_a_line_of_a_megabyte_is_a_line(tmp_path: Path) -> None:
    line = seal(b'{"text":"%b"}' % (b"x" * 1_000_000))
    writer = LineWriter(tmp_path / "a.jsonl")
    writer.append(line)
    writer.append(LINES[0])
    writer.close()
    assert (tmp_path / "a.jsonl").read_bytes() == line + LINES[0]
    assert len(read(tmp_path / "a.jsonl")[0]) == 2


@pytest.mark.parametrize("fault", [Fault.SHORT_WRITE, Fault.NO_SPACE, Fault.IO_ERROR])
def test_a_refused_line_leaves_no_trace_and_the_next_one_is_whole(tmp_path: Path, fault: Fault) -> None:
    path = tmp_path / "a.jsonl"
    probe = FaultyOs()
    writer = LineWriter(tmp_path / "probe.jsonl", sync_every=0, disk=probe)
    writer.append(LINES[0])
    second_write = len(probe.log)
    writer.close()

    writer = LineWriter(path, sync_every=0, disk=FaultyOs(second_write, fault))
    writer.append(LINES[0])
    with pytest.raises(StorageFull):
        writer.append(LINES[1])
    assert path.read_bytes() == LINES[0]
    writer.append(LINES[2])  # there is room again
    writer.close()
    assert path.read_bytes() == LINES[0] + LINES[2]


class RefusesToCut(FaultyOs):
    """A disk that takes half a line and then cannot even shorten the file."""

    def write(self, fd: int, data: bytes | memoryview, /) -> int:
        return REAL_OS.write(fd, memoryview(data)[: len(data) // 2])

    def ftruncate(self, fd: int, length: int, /) -> None:
        raise OSError(errno.EIO, "no")


def test_when_the_torn_part_cannot_be_cut_nothing_is_written_after_it(tmp_path: Path) -> None:
    writer = LineWriter(tmp_path / "a.jsonl", sync_every=0, disk=RefusesToCut())
    for line in LINES[:2]:
        with pytest.raises(StorageFull):
            writer.append(line)
    writer.abandon()
    assert (tmp_path / "a.jsonl").read_bytes() == LINES[0][: len(LINES[0]) // 2]


def test_after_a_failed_sync_the_writer_acknowledges_nothing_more(tmp_path: Path) -> None:
    class FailsOnce(FaultyOs):
        failed = threading.Event()

        def fdatasync(self, fd: int, /) -> None:
            if not self.failed.is_set():
                self.failed.set()
                raise OSError(errno.EIO, "lost")

    disk = FailsOnce()
    writer = LineWriter(tmp_path / "a.jsonl", sync_every=0.001, disk=disk)
    writer.append(LINES[0])
    assert disk.failed.wait(10)  # by the thread of the group sync: no further line was needed
    with pytest.raises(StorageFull):
        writer.close()
    with pytest.raises(StorageFull):
        writer.append(LINES[1])


def test_a_line_whose_sync_failed_is_refused_and_so_is_the_next(tmp_path: Path) -> None:
    class FailsOnce(FaultyOs):
        failed = False

        def fdatasync(self, fd: int, /) -> None:
            if not self.failed:
                self.failed = True
                raise OSError(errno.EIO, "lost")

    writer = LineWriter(tmp_path / "a.jsonl", sync_every=0, disk=FailsOnce())
    for line in LINES[:2]:
        with pytest.raises(StorageFull):
            writer.append(line)
    writer.abandon()


def test_a_lone_line_is_synced_although_none_follows(tmp_path: Path) -> None:
    class Announces(FaultyOs):
        synced = threading.Event()

        def fdatasync(self, fd: int, /) -> None:
            self.synced.set()

    disk = Announces()
    writer = LineWriter(tmp_path / "a.jsonl", sync_every=0.01, disk=disk)
    writer.append(LINES[0])
    assert disk.synced.wait(10)
    writer.abandon()


def test_many_lines_share_a_sync(tmp_path: Path) -> None:
    disk = FaultyOs()
    writer = LineWriter(tmp_path / "a.jsonl", sync_every=3600, disk=disk)
    for line in LINES:
        writer.append(line)
    writer.close()
    assert [call for call, _ in disk.log].count("fdatasync") == 1
    disk.cut_power()
    assert (tmp_path / "a.jsonl").read_bytes() == b"".join(LINES)


def test_without_a_sync_a_power_cut_takes_the_lines(tmp_path: Path) -> None:
    disk = FaultyOs()  # this is what makes the test above worth something
    writer = LineWriter(tmp_path / "a.jsonl", sync_every=3600, disk=disk)
    writer.append(LINES[0])
    writer.abandon()
    disk.cut_power()
    assert (tmp_path / "a.jsonl").read_bytes() == b""


def test_a_writer_follows_no_symbolic_link(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="symbolic link"):
        LineWriter(tmp_path / "a.jsonl")
    assert not (tmp_path / "elsewhere").exists()


def test_mending_moves_the_torn_tail_aside_and_keeps_earlier_ones(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(LINES[0] + b'{"torn')
    assert mend(path) == 6
    assert path.read_bytes() == LINES[0]
    assert mend(path) == 0
    with path.open("ab") as file:
        file.write(b"again")
    assert mend(path) == 5
    assert (tmp_path / "events.torn").read_bytes() == b'{"torn\nagain\n'


@pytest.mark.parametrize("size", [0, 1, 65535, 65536, 65537, 200_000])
def test_a_torn_tail_is_found_whatever_its_length(tmp_path: Path, size: int) -> None:
    path = tmp_path / "a.jsonl"
    for head in (b"", b"x\n"):
        path.write_bytes(head + b"t" * size)
        assert torn_tail(path) == b"t" * size
