"""Facts of many commits, packed: as columns of numbers in memory, and as one file on the disk.

Twenty thousand commits with their files are read back in a few milliseconds, since nothing becomes an
object before it is asked for. The file carries a digest of itself; what is not whole is not believed.
"""

from __future__ import annotations

import hashlib
import sys
from array import array
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from workbench._version import __version__
from workbench.errors import StoreError
from workbench.model.commits import Undoing
from workbench.store.atomic import own_folder, replace_file
from workbench.vcs.titles import Claim

_MAGIC = f"workbench commits 2 {__version__} {sys.byteorder}\n".encode()
_DIGEST = 32


class Ragged:
    """Lists of numbers, one a commit, packed into one.

    Args:
        code: Kind of number, as `array` has it.
    """

    def __init__(self, code: str) -> None:
        self.values = array(code)
        self.ends = array("Q")

    def add(self, numbers: Iterable[int]) -> None:
        """Add the list of the next commit."""
        self.values.extend(numbers)
        self.ends.append(len(self.values))

    def bounds(self, place: int) -> tuple[int, int]:
        """Give where the list of a commit begins, and where it ends."""
        return (self.ends[place - 1] if place else 0), self.ends[place]

    def __getitem__(self, place: int) -> Sequence[int]:
        first, last = self.bounds(place)
        return self.values[first:last]

    def packed(self) -> tuple[bytes, bytes]:
        """Give it as bytes."""
        return self.values.tobytes(), self.ends.tobytes()

    def load(self, packed: tuple[bytes, bytes]) -> None:
        """Take what `packed` gave."""
        self.values.frombytes(packed[0])
        self.ends.frombytes(packed[1])


class Stored(msgspec.Struct, array_like=True):
    """The file. Lists hold one entry a commit, parents before children.

    Attributes:
        cut: Where the history was cut off when it was read.
        ancestry: Ids and parents; see `ancestry`.
        keys: Keys of titles.
        numbers: Numbers of pull requests; 0 for none.
        paths: All paths that commits change.
        files: For each file that a commit changes: place of its path.
        before: First 64 bits of ids of contents before.
        after: The same, after.
        claims: What messages claim.
        patch_ids: Ids of changes, as far as they were asked for; empty where there is none.
        inverse_ids: The same of changes turned round.
        undoings: What was found out, as far as it was asked for.
    """

    cut: tuple[str, ...]
    ancestry: tuple[bytes, bytes, dict[int, tuple[int, ...]]]
    keys: list[str]
    numbers: bytes
    paths: list[bytes]
    files: tuple[bytes, bytes]
    before: bytes
    after: bytes
    claims: dict[int, Claim]
    patch_ids: dict[int, bytes]
    inverse_ids: dict[int, bytes]
    undoings: dict[int, Undoing | None]


_decode = msgspec.msgpack.Decoder(Stored).decode


def read(file: Path) -> Stored | None:
    """Give what a file holds; None if there is none, or it is damaged or of another version."""
    try:
        content = file.read_bytes()
    except OSError:
        return None
    begins = len(_MAGIC) + _DIGEST
    payload = memoryview(content)[begins:]
    if content[:begins] != _MAGIC + _digest(payload):
        return None
    with suppress(msgspec.DecodeError, ValueError):
        return _decode(payload)
    return None


def write(file: Path, stored: Stored) -> bool:
    """Keep it, and say whether that was possible: it is worth time only."""
    payload = msgspec.msgpack.encode(stored)
    with suppress(StoreError):
        own_folder(file.parent, "the index of commits is kept in a folder of its own")
        replace_file(file, _MAGIC + _digest(payload) + payload)
        return True
    return False


def _digest(payload: bytes | memoryview) -> bytes:
    return hashlib.sha256(payload).digest()
