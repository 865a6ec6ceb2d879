"""What was found in a campaign's files, remembered by their content in `.workbench/files.cache`.

Nothing rests on it: it may be deleted, and one that is damaged, or of another version of the
workbench, counts as none. Entries are kept by the digest of the bytes that they were made from, and
those bytes are read every time, so an edit is seen however quickly it follows, whatever the clock says.
What it saves is YAML and validation, which cost a hundred times more than reading.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path
from zlib import crc32

import msgspec

from workbench._version import __version__
from workbench.errors import StoreError
from workbench.model.campaign import CampaignSpec
from workbench.model.hypothesis import Hypothesis, Problem
from workbench.store.atomic import replace_file
from workbench.store.known import Known
from workbench.store.layout import WORK, work_folder
from workbench.store.references import Facts

CACHE_FILE = Path(WORK, "files.cache")
_HEAD = f"workbench files {__version__} ".encode()


class FileEntry(msgspec.Struct, frozen=True, kw_only=True):
    """What one hypothesis file says by itself, and what is wrong with it by itself."""

    sha256: str
    id: str
    hypothesis: Hypothesis | None
    facts: Facts
    problems: tuple[Problem, ...]


class CampaignEntry(msgspec.Struct, frozen=True, kw_only=True):
    """What `campaign.yaml` says, plug-ins not asked."""

    sha256: str
    spec: CampaignSpec
    known: Known
    problems: tuple[Problem, ...]


class Remembered(msgspec.Struct, kw_only=True):
    """All that is remembered of a campaign.

    Attributes:
        campaign: `campaign.yaml`.
        files: Path of a hypothesis file to what it says.
        between: What is wrong between the files, by path of the file to blame.
        key: Digest of all the files that `between` was found in.
    """

    campaign: CampaignEntry | None = None
    files: dict[str, FileEntry] = {}
    between: dict[str, tuple[Problem, ...]] = {}
    key: str = ""


def recall(root: Path, cache: Path = CACHE_FILE) -> Remembered:
    """Give what is remembered of the campaign at `root`; nothing where that cannot be trusted."""
    with suppress(OSError, ValueError, msgspec.MsgspecError):
        head, _, body = (root / cache).read_bytes().partition(b"\n")
        if head == _HEAD + b"%08x" % crc32(body):
            return msgspec.msgpack.decode(body, type=Remembered)
    return Remembered()


def remember(root: Path, remembered: Remembered, cache: Path = CACHE_FILE) -> None:
    """Remember it, whole or not at all; a disk that refuses costs the next reader some time."""
    with suppress(OSError, StoreError):
        work_folder(root)
        body = msgspec.msgpack.encode(remembered)
        replace_file(root / cache, _HEAD + b"%08x\n" % crc32(body) + body)


def digest(data: bytes) -> str:
    """Give the sha256 of a file's bytes."""
    return hashlib.sha256(data).hexdigest()
