"""Two files with one id after a merge: one of them gets another number, and nothing else changes.

No line of the log and no manifest is altered. A `renumbered` event says which events and runs speak
of the file's hypothesis, and readers read them under the new id. The event comes first and the file
second: killed in between, the same call finds the event and finishes the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.errors import StoreError, UsageError
from workbench.model.event import Actor, Event, Proposed, Renumbered
from workbench.model.hypothesis import HYPOTHESIS_ID, Problem
from workbench.store.allocate import (
    file_name,
    hypothesis_files,
    id_lines,
    id_of,
    ids_of_files,
    next_id,
    swept_folder,
)
from workbench.store.atomic import create_file
from workbench.store.disk import refusal, sync_folder
from workbench.store.eventlog import EventLog, Log
from workbench.store.eventorder import descendants
from workbench.store.find import list_runs
from workbench.store.layout import HYPOTHESES, RUNS
from workbench.store.mentions import mentioned
from workbench.store.runs import Writing

_PREFIX = re.compile(r"^H[0-9]+(?:-|(?=\.))")
_KEY = re.compile(r"^([A-Za-z_]+)[ \t]*:")


@dataclass(frozen=True, kw_only=True, slots=True)
class _File:
    """The file that is renumbered: where it stands, and the bytes that were seen."""

    path: Path
    data: bytes

    @property
    def name(self) -> str:
        return f"{HYPOTHESES}/{self.path.name}"


def renumber(
    root: Path, id: str, file: str, by: Actor, writing: Writing | None = None, *, to: str | None = None
) -> Renumbered:
    """Give a hypothesis file another id.

    Run again after a crash, it finishes what it had begun.

    Args:
        root: The campaign's folder.
        id: The id that the file has.
        file: The file, relative to the campaign's folder.
        by: Who decides so.
        writing: How to write.
        to: The new id; None for the next one that is free.

    Returns:
        What was done, as the log has it.

    Raises:
        UsageError: The file is not one of that id, or the new id is taken.
        LockHeld: Other processes wrote to the log all the time.
        StorageFull: The disk refused; run it again once there is room.
        StoreError: The file was changed meanwhile, or cannot be read or written.
    """
    writing = writing or Writing()
    for name in (id, to or id):
        if not HYPOTHESIS_ID.fullmatch(name):
            raise UsageError(f"{name!r} is not the id of a hypothesis", hint="give one such as H7")
    log = EventLog(root, writing)
    with log.locked():
        swept_folder(root, writing.disk)
        target = _target(root, file)
        now = log.read()
        change = _begun(now, id, file)
        if change is None:
            found = _read(target, id)
            change = _plan(root, now, id, found, to)
            log.append(change, by)
        elif to not in (None, change.to):
            raise UsageError(f"{file} is on its way to {change.to} since an earlier call")
        if target.exists():
            _move(root, _read(target, id), change, writing)
    return change


def naming(root: Path, id: str) -> tuple[Problem, ...]:
    """Give the places where hypothesis files name an id as `parent` or in `also`.

    After a renumbering each may mean the one or the other; only a person can tell.
    """
    word = re.compile(rf"(?<![A-Za-z0-9]){re.escape(id)}(?![0-9])")
    return tuple(
        Problem(
            file=f"{HYPOTHESES}/{path.name}",
            line=line,
            column=column,
            what=f"names {id}, which two hypotheses had",
            hint="see which one is meant",
        )
        for path in hypothesis_files(root)
        for line, column in _places(path, word)
    )


# --- what is to be done ---------------------------------------------------------------------------


def _begun(log: Log, id: str, file: str) -> Renumbered | None:
    """Give the event of an earlier call for the same file that may not have come to its end."""
    name = Path(file).name
    for event in reversed(log.events):
        change = event.body
        if (
            isinstance(change, Renumbered)
            and change.was == id
            and change.file == f"{HYPOTHESES}/{_renamed(name, change.to)}"
        ):
            return change
    return None


def _plan(root: Path, log: Log, id: str, file: _File, to: str | None) -> Renumbered:
    new = to or next_id(root, log)
    renamed = file.path.with_name(_renamed(file.path.name, new))
    taken = set(ids_of_files(root).values())
    taken |= {name for event in log.events for name in mentioned(event.body)}
    if new in taken or renamed.exists():
        raise UsageError(f"{new} is taken", hint="leave the new id out to get one that is free")
    runs = _runs(root, log, id, file.name)
    return Renumbered(
        file=f"{HYPOTHESES}/{renamed.name}",
        was=id,
        to=new,
        events=_events(root, log, id, file.name, runs),
        runs=tuple(sorted(runs)),
    )


def _events(root: Path, log: Log, id: str, file: str, runs: set[str]) -> tuple[str, ...]:
    """Give the events that speak of a file's hypothesis, and of no other of the same id.

    Those are the ones that follow its `proposed` event and not that of another file, and those of its
    runs. With no other file of that id all events that name it are meant.
    """
    naming_it = [event for event in log.events if id in mentioned(event.body)]
    ours, others = _proposals(naming_it, id, file)
    rivals = [name for name, other in ids_of_files(root).items() if other == id and name != file]
    alone = not others and not rivals
    after_ours, after_others = descendants(log.events, ours), descendants(log.events, others)
    return tuple(
        event.id
        for event in naming_it
        if not isinstance(event.body, Renumbered)
        and (
            alone
            or _run_of(event) in runs
            or (event.digest in after_ours and event.digest not in after_others)
        )
    )


def _run_of(event: Event) -> str:
    """Give the run that an event reports on or cites; empty for none."""
    source = getattr(event.body, "source", None)
    run: str = source.run if source else getattr(event.body, "run", "")
    return run


def _proposals(events: Sequence[Event], id: str, file: str) -> tuple[set[str], set[str]]:
    ours: set[str] = set()
    others: set[str] = set()
    for event in events:
        if isinstance(event.body, Proposed) and event.body.hypothesis == id:
            (ours if event.body.file == file else others).add(event.digest)
    return ours, others


def _runs(root: Path, log: Log, id: str, file: str) -> set[str]:
    """Give the runs that served a file under an id, also by what it was called before."""
    found = {
        run.manifest.id
        for run in list_runs(root / RUNS)
        if run.manifest
        and any(served.hypothesis == id and served.file == file for served in run.manifest.serves)
    }
    for event in log.events:
        change = event.body
        if isinstance(change, Renumbered) and change.to == id and change.file == file:
            found.update(change.runs)
    return found


# --- the file -------------------------------------------------------------------------------------


def _target(root: Path, file: str) -> Path:
    given, path = root / file, root / HYPOTHESES / Path(file).name
    if (
        not file.isprintable()
        or path.suffix not in (".yaml", ".yml")
        or given.parent.resolve() != (root / HYPOTHESES).resolve()
    ):
        raise UsageError(
            f"{file!r} is not in {HYPOTHESES}/", hint="name a hypothesis file of this campaign"
        )
    if path.is_symlink():
        raise UsageError(f"{file}: is a symbolic link", hint="name the file itself")
    return path


def _read(path: Path, id: str) -> _File:
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise UsageError(f"{HYPOTHESES}/{path.name}: there is no such file") from error
    except OSError as error:
        raise refusal(path, error) from error
    lines = id_lines(data)
    if len(lines) != 1:
        count = "no line" if not lines else f"{len(lines)} lines"
        raise UsageError(
            f"{HYPOTHESES}/{path.name}: {count} of the form `id: {id}`",
            hint="write the id on one line of its own, at its beginning",
        )
    if id_of(data) != id:
        raise UsageError(f"{HYPOTHESES}/{path.name}: has the id {id_of(data)}, not {id}")
    return _File(path=path, data=data)


def _move(root: Path, file: _File, change: Renumbered, writing: Writing) -> None:
    """Put the file under its new name, with its new id, in the place of the old one."""
    line = id_lines(file.data)[0]
    data = file.data[: line.start(2)] + change.to.encode() + file.data[line.end(2) :]
    new, disk = root / change.file, writing.disk
    try:
        if not new.exists():
            create_file(new, data, disk=disk)
        elif new.read_bytes() != data:
            raise StoreError(
                f"{change.file}: differs from {file.name}",
                hint=f"the same suspect? then keep one of them; else give {file.name} another name",
            )
        if file.path.read_bytes() != file.data:
            disk.unlink(str(new))
            raise StoreError(f"{file.name}: was changed meanwhile", hint="run the same command again")
        disk.unlink(str(file.path))
        sync_folder(disk, file.path.parent)
    except OSError as error:
        raise refusal(file.path, error) from error


def _renamed(name: str, id: str) -> str:
    rest = _PREFIX.sub("", name)
    return file_name(id, rest.rpartition(".")[0])


def _places(path: Path, word: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    key = ""
    for place, line in enumerate(text.split("\n"), start=1):
        found = _KEY.match(line)
        key = found[1] if found else key
        hit = word.search(line.partition("#")[0]) if key in ("parent", "also") else None
        if hit:
            yield place, hit.start() + 1
