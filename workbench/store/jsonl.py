"""Append-only JSON lines: a writer that leaves whole lines, and a reader that nothing can stop.

A line is one JSON object whose last member is its checksum, `"crc":"8 hex"`: the crc32 of the line as
it would read without that member. It finds a line that is valid JSON and yet not what was written.

The writer gives each line to the kernel in one `write()`, so a killed process leaves at most one torn
line, the last; a reader counts it and never parses it. When the disk takes only part of a line the
writer cuts that part off again, or the next line would be glued to it once there is room.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeVar
from zlib import crc32

from workbench.errors import StorageFull, StoreError
from workbench.store.atomic import replace_file
from workbench.store.damage import Damage
from workbench.store.disk import APPEND, MODIFY, REAL_OS, Os, refusal, sync_folder
from workbench.store.groupsync import GroupSync

T = TypeVar("T")

_CRC = b',"crc":"'
_CRC_LENGTH = len(_CRC) + 8 + len(b'"}')


class BadLine(ValueError):
    """A whole line that is not what was written; the message says how one can tell."""


def seal(body: bytes) -> bytes:
    """Add checksum and newline to one non-empty JSON object."""
    return b'%b,"crc":"%08x"}\n' % (body[:-1], crc32(body))


def unseal(line: bytes) -> bytes:
    """Give the JSON object of a line without its newline. Raises BadLine when it is damaged."""
    head = line[:-_CRC_LENGTH]
    if line[-_CRC_LENGTH:-10] != _CRC or line[-2:] != b'"}':
        raise BadLine("no checksum")
    body = head + b"}"
    if line[-10:-2] != b"%08x" % crc32(body):
        raise BadLine("the checksum differs")
    return body


class LineWriter:
    """Appends sealed lines to one file of which this process is the only writer.

    Args:
        path: The file; made when it is not there. An existing one must end with a whole line (`mend`).
        sync_every: Greatest age in seconds of a line that is not on the disk yet; 0 syncs each line
            before `append` returns.
        disk: System calls.

    Raises:
        StoreError: The file cannot be opened.
    """

    def __init__(self, path: Path, *, sync_every: float = 0.05, disk: Os = REAL_OS) -> None:
        self._path = path
        self._disk = disk
        self._broken: StoreError | None = None
        try:
            self._fd = disk.open(str(path), APPEND, 0o644)
            self._size = os.fstat(self._fd).st_size
            sync_folder(disk, path.parent)  # a synced line in a file whose name is lost is lost
        except OSError as error:
            raise refusal(path, error) from error
        self._sync = GroupSync(disk, self._fd, sync_every)

    def append(self, line: bytes) -> None:
        """Write one sealed line; when this returns, the line survives the death of the process.

        Raises:
            StorageFull: The disk refused; the file ends with the last whole line.
        """
        if self._broken is not None:
            raise self._broken
        try:
            taken = self._disk.write(self._fd, line)
            if taken != len(line):
                raise OSError(errno.ENOSPC, f"the disk took {taken} of {len(line)} bytes")
        except OSError as error:
            raise self._retreat(error) from error
        self._size += taken
        try:
            self._sync.touched()
        except OSError as error:
            raise self._break(error) from error

    def flush(self) -> None:
        """Return once every line is on the disk. Raises StorageFull when the disk lost one."""
        try:
            self._sync.flush()
        except OSError as error:
            raise self._break(error) from error

    def close(self) -> None:
        """Flush and close; closes also when the flush fails."""
        try:
            self.flush()
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Let go of the file as a dying process would: close it and do nothing else."""
        self._sync.stop()
        self._broken = self._broken or StoreError(f"{self._path}: is closed")
        fd, self._fd = self._fd, -1
        if fd >= 0:
            with suppress(OSError):
                self._disk.close(fd)

    def _retreat(self, error: OSError) -> StoreError:
        try:
            self._disk.ftruncate(self._fd, self._size)
        except OSError:
            # The torn part stays. It may only ever be the last line, so nothing may follow it.
            return self._break(error)
        return refusal(self._path, error)

    def _break(self, error: OSError) -> StoreError:
        # After a failed sync the kernel may have dropped the pages and will report success next time;
        # a writer that went on would acknowledge lines which are gone.
        problem = refusal(self._path, error)
        self._broken = (
            problem
            if isinstance(problem, StorageFull)
            else StorageFull(problem.what, hint=problem.hint)
        )
        return self._broken


def read_lines(path: Path, decode: Callable[[bytes], T], damage: Damage) -> Iterator[T]:
    """Yield every whole line that is what was written; report all others to `damage`.

    Lines end at the newline byte alone: U+2028 and its kin inside a text are no line ends.

    Args:
        path: The file; a missing one has no lines.
        decode: Reads a line's object; raises ValueError when it is not one of the expected kind.
        damage: Collects what could not be read.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    except OSError as error:
        damage.unreadable(path.name, error.strerror or str(error))
        return
    with file:
        lines = iter(file)
        number = 0
        while True:
            number += 1
            try:
                raw = next(lines)
            except StopIteration:
                return
            except OSError as error:
                damage.unreadable(path.name, error.strerror or str(error))
                return
            if raw[-1:] != b"\n":
                damage.torn_tail(path.name, len(raw))
                return
            try:
                value = decode(unseal(raw[:-1]))
            except (ValueError, RecursionError) as error:
                damage.bad_line(path.name, number, str(error))
                continue
            yield value


def torn_tail(path: Path) -> bytes:
    """Give the bytes after the last newline of a file, usually none."""
    tail = b""
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        while end > 0:
            start = max(0, end - 65536)
            file.seek(start)
            chunk = file.read(end - start)
            newline = chunk.rfind(b"\n")
            tail = chunk[newline + 1 :] + tail
            if newline >= 0:
                break
            end = start
    return tail


def mend(path: Path, *, disk: Os = REAL_OS) -> int:
    """Move the torn tail of `path` aside, to the same name ending in `.torn`; give its length.

    The tail is copied before it is cut: killed in between, the next opener copies it once more, and
    nothing that was on the disk is ever lost.

    Raises:
        StoreError: The file cannot be read or cut.
    """
    try:
        tail = torn_tail(path)
        if not tail:
            return 0
        aside = path.with_suffix(".torn")
        earlier = aside.read_bytes() if aside.exists() else b""
        replace_file(aside, earlier + tail + b"\n", disk=disk)
        fd = disk.open(str(path), MODIFY, 0)
        try:
            disk.ftruncate(fd, os.fstat(fd).st_size - len(tail))
            disk.fsync(fd)
        finally:
            disk.close(fd)
    except OSError as error:
        raise refusal(path, error) from error
    return len(tail)
