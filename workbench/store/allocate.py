"""New hypotheses: a number that nobody has, a file that is whole or not there, an event that says so.

All of it happens under the log's lock. Killed in between, a campaign is left with a hypothesis that has
no event yet, as if a person had written the file, or with a stray temporary file that the next call
clears away.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from workbench.errors import StoreError, UsageError
from workbench.model.event import Actor, Proposed
from workbench.model.hypothesis import HYPOTHESIS_ID, number
from workbench.store.atomic import create_file
from workbench.store.disk import Os, refusal
from workbench.store.eventlog import EventLog, Log
from workbench.store.layout import HYPOTHESES, log_folder
from workbench.store.mentions import mentioned
from workbench.store.names import check_slug
from workbench.store.runs import Writing

_FILE = re.compile(r"^H0*([1-9][0-9]{0,8})(?![0-9])")
_ID_LINE = re.compile(rb"""^id:[ \t]*(["']?)(H[1-9][0-9]{0,8})\1[ \t]*(?:#.*)?\r?$""", re.MULTILINE)
_TITLE_LINE = re.compile(r"""^title:[ \t]+(.*?)[ \t]*$""", re.MULTILINE)
_TEMPORARY = re.compile(r"^\.(?:H[0-9].*|events\.torn)\.[0-9a-f]{8}\.tmp$")

Render = Callable[[str], tuple[str, str]]
"""Given an id, gives the slug of the file's name and the file's text."""


def add_hypothesis(
    root: Path, render: Render, by: Actor, writing: Writing | None = None, *, title: str | None = None
) -> tuple[str, str]:
    """Add a hypothesis under the next number.

    Args:
        root: The campaign's folder.
        render: Gives slug and text for the id.
        by: Who proposes it.
        writing: How to write.
        title: The title for the log; None to take it from the line `title:` of the text.

    Returns:
        The id, and the file's path relative to the campaign's folder.

    Raises:
        LockHeld: Other processes wrote to the log all the time.
        UsageError: The slug cannot be part of a file name, or the text cannot be written.
        StorageFull: The disk refused. A file that is there by then stays: it is valid without an event.
        StoreError: The folder of hypotheses is a symbolic link or cannot be written.
    """
    log = EventLog(root, writing)
    disk = (writing or Writing()).disk
    with log.locked():
        folder = swept_folder(root, disk)
        id = next_id(root, log.read())
        slug, text = render(id)
        path = folder / file_name(id, check_slug(slug))
        create_file(path, _encode(text), disk=disk)
        file = f"{HYPOTHESES}/{path.name}"
        proposed = Proposed(hypothesis=id, file=file, title=_title(text) if title is None else title)
        try:
            log.append(proposed, by)
        except StoreError as error:
            hint = f"{file} is written and stands, without an event in the log"
            raise type(error)(error.what, hint=hint) from error
    return id, file


def next_id(root: Path, log: Log) -> str:
    """Give the id after the greatest that any file or event has; hold the log's lock.

    Raises:
        StoreError: There is no number left, or the folder cannot be listed.
    """
    greatest = max([*_numbers_of_files(root), *_numbers_of_events(log)], default=0)
    id = f"H{greatest + 1}"
    if not HYPOTHESIS_ID.fullmatch(id):
        raise StoreError(f"no number is left after H{greatest}", hint="who uses numbers like that?")
    return id


def id_of(data: bytes) -> str:
    """Give the id that a hypothesis file states on a line of its own; empty if it does not."""
    lines = id_lines(data)
    return lines[0][2].decode() if len(lines) == 1 else ""


def id_lines(data: bytes) -> list[re.Match[bytes]]:
    """Give the lines of a hypothesis file that state an id; group 2 is the id."""
    return list(_ID_LINE.finditer(data))


def hypothesis_files(root: Path) -> list[Path]:
    """Give the hypothesis files of a campaign by name.

    Raises:
        StoreError: The folder cannot be listed.
    """
    folder = root / HYPOTHESES
    try:
        names = sorted(path.name for path in folder.iterdir() if path.suffix in (".yaml", ".yml"))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise refusal(folder, error) from error
    return [folder / name for name in names if not name.startswith(".")]


def ids_of_files(root: Path) -> dict[str, str]:
    """Give the id that each hypothesis file states, by its path relative to the campaign's folder.

    The id is empty where none can be read: that is reported by whoever reads hypotheses.

    Raises:
        StoreError: The folder cannot be listed.
    """
    found: dict[str, str] = {}
    for path in hypothesis_files(root):
        data = b""
        with suppress(OSError):
            data = path.read_bytes() if path.is_file() else b""
        found[f"{HYPOTHESES}/{path.name}"] = id_of(data)
    return found


def file_name(id: str, slug: str) -> str:
    """Give the name of the file of a hypothesis: `H05-slug.yaml`."""
    return f"H{number(id):02d}-{slug}.yaml" if slug else f"H{number(id):02d}.yaml"


def swept_folder(root: Path, disk: Os) -> Path:
    """Give the folder of hypotheses, cleared of what killed writers left; hold the log's lock.

    Raises:
        StoreError: It is a symbolic link, or cannot be made.
    """
    folder = log_folder(root, disk=disk)
    try:
        for entry in folder.iterdir():
            if _TEMPORARY.match(entry.name):
                disk.unlink(str(entry))
    except OSError as error:
        raise refusal(folder, error) from error
    return folder


def _numbers_of_files(root: Path) -> Iterator[int]:
    for file, id in ids_of_files(root).items():
        found = _FILE.match(Path(file).name)
        if found:
            yield int(found[1])
        if id:
            yield number(id)


def _numbers_of_events(log: Log) -> Iterator[int]:
    for event in log.events:
        for id in mentioned(event.body):
            yield number(id)


def _encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise UsageError("the text holds half of a character pair, which no file can hold") from error


def _title(text: str) -> str:
    found = _TITLE_LINE.search(text)
    return found[1].strip("\"'") if found else ""
