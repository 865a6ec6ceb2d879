"""The journal of a run as a reader sees it: all whole lines of all shards, and the counts they give.

Reading needs no lock and changes nothing, so it also works while the run is going on.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from operator import itemgetter
from pathlib import Path

from workbench.model.ids import SessionKey
from workbench.model.outcome import Counts, Status
from workbench.model.run import RunEvent, Sample, Shard
from workbench.store.blobs import read_blob
from workbench.store.damage import Damage
from workbench.store.disk import refusal
from workbench.store.jsonl import read_lines
from workbench.store.lines import decode_event, decode_sample

EVENTS_FILE = "events.jsonl"
BLOBS_FOLDER = "blobs"
_SHARD = re.compile(r"^samples-w(0|[1-9][0-9]{0,8})\.(jsonl|torn)$")
_Line = tuple[Sample, str]  # and the digest of the blob that holds its text, or nothing
_PRECEDENCE = {status: place for place, status in enumerate(Status)}


def shard_paths(folder: Path) -> list[Path]:
    """Give the samples files of a run in the order of its openings.

    Raises:
        StoreError: The folder cannot be listed.
    """
    return [
        folder / found[0]
        for _, found in sorted(_shards(folder), key=itemgetter(0))
        if found[2] == "jsonl"
    ]


def next_shard(folder: Path) -> Path:
    """Give a samples file that no opening has had: one writer a shard, ever.

    Raises:
        StoreError: The folder cannot be listed.
    """
    last = max((number for number, _ in _shards(folder)), default=-1)
    return folder / f"samples-w{last + 1}.jsonl"


def read_samples(folder: Path, damage: Damage) -> Iterator[Sample]:
    """Yield the samples of a run, each session's together, in the order in which sessions ended.

    Of a session the lines of one attempt count, the first that ended it: a killed opening leaves some
    turns of what it had in flight, and the next one runs all of them again. Of a session that no
    attempt has ended yet the newest lines come last. Within an attempt the first line of a key counts.

    Args:
        folder: The run folder.
        damage: Collects what could not be read.
    """
    for sample, blob in _attempts_that_count(_lines(folder, damage), damage):
        yield _with_text(folder, sample, blob, damage) if blob else sample


def read_events(folder: Path, damage: Damage) -> Iterator[RunEvent]:
    """Yield the events of a run in the order written."""
    return read_lines(folder / EVENTS_FILE, decode_event, damage)


def recount(samples: Iterable[Sample]) -> dict[str, Counts]:
    """Count sessions by `arm/block`, in assignment order, whatever order they ended in.

    The status of a session is the first, in order of precedence, that any of its turns has; one that
    has not ended is not counted.
    """
    under_way: dict[SessionKey, Status] = {}
    ended: dict[SessionKey, Status] = {}
    for sample in samples:
        key, status = sample.exchange.key.session, sample.status
        known = under_way.pop(key, status)
        worst = status if _PRECEDENCE[status] < _PRECEDENCE[known] else known
        (ended if sample.exchange.last else under_way)[key] = worst
    blocks: dict[tuple[str, int], list[Status]] = {}
    for key in sorted(ended):
        blocks.setdefault((key.arm, key.block), []).append(ended[key])
    return {f"{arm}/{block}": Counts.of(statuses) for (arm, block), statuses in blocks.items()}


def digest_shards(folder: Path) -> tuple[Shard, ...]:
    """Digest every samples file as it stands.

    Raises:
        StoreError: A file cannot be read.
    """
    return tuple(_digest(path) for path in shard_paths(folder))


def _lines(folder: Path, damage: Damage) -> Iterator[_Line]:
    for path in shard_paths(folder):
        yield from read_lines(path, decode_sample, damage)


def _attempts_that_count(lines: Iterable[_Line], damage: Damage) -> Iterator[_Line]:
    """Leave out lines of attempts that did not end their session, and what comes after the end.

    Only the turns of sessions under way are held; what a session needs once it has ended is its key.
    """
    ended: set[SessionKey] = set()
    under_way: dict[SessionKey, list[_Line]] = {}
    for line in lines:
        sample = line[0]
        key, last = sample.exchange.key, sample.exchange.last
        session = key.session
        if session in ended:
            damage.duplicates += 1
            continue
        turns = under_way.get(session)
        if turns is None and last:  # a session of one turn, as most are
            ended.add(session)
            yield line
            continue
        if turns is None or turns[0][0].attempt != sample.attempt:
            turns = under_way[session] = []  # what an earlier attempt had begun is as if it never was
        elif any(key.turn == before.exchange.key.turn for before, _ in turns):
            damage.duplicates += 1
            continue
        turns.append(line)
        if last:
            ended.add(session)
            yield from under_way.pop(session)
    for turns in under_way.values():
        yield from turns


def _shards(folder: Path) -> list[tuple[int, re.Match[str]]]:
    try:
        names = [entry.name for entry in folder.iterdir()]
    except OSError as error:
        raise refusal(folder, error) from error
    return [(int(found[1]), found) for found in map(_SHARD.match, names) if found]


def _digest(path: Path) -> Shard:
    digest, lines = hashlib.sha256(), 0
    try:
        with path.open("rb") as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
                lines += chunk.count(b"\n")
    except OSError as error:
        raise refusal(path, error) from error
    return Shard(file=path.name, lines=lines, sha256=digest.hexdigest())


def _with_text(folder: Path, sample: Sample, blob: str, damage: Damage) -> Sample:
    try:
        text = read_blob(folder / BLOBS_FOLDER, blob)
    except (OSError, ValueError) as error:
        damage.unreadable(
            f"{BLOBS_FOLDER}/{blob[:2]}/{blob}", str(error)
        )  # the sample counts without it
        return sample
    return replace(sample, exchange=replace(sample.exchange, text=text))
