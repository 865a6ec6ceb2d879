"""The exchanges of a run as columns, straight from its journal; `columncache` remembers them.

    arm, block, session, turn    place in the run     attempt   of its session
    status, label, rule, signature                    what it counted as, and why
    ending, exit_code, signal, http_status, finish, detail      how it ended
    last                         it ends its session  at        when it ended, in us since 1970, UTC
    seconds, start_seconds, first_seconds             how long it took
    prompt_tokens, completion_tokens, cached_tokens, text_bytes

They are those that count: of a session, the lines of the one attempt that ended it, and what sessions
that have not ended have so far, as `journal.read_samples` gives them.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from workbench.model.columns import Columns, Words
from workbench.model.run import Sample
from workbench.store.damage import Damage
from workbench.store.journal import read_samples

WORDS = {
    "arm": attrgetter("exchange.key.session.arm"),
    "status": attrgetter("status"),
    "label": attrgetter("label.word"),
    "rule": attrgetter("label.rule"),
    "signature": attrgetter("label.signature"),
    "ending": attrgetter("exchange.ending"),
    "signal": attrgetter("exchange.signal"),
    "finish": attrgetter("exchange.finish"),
    "detail": attrgetter("exchange.detail"),
}
NUMBERS = {
    "block": (np.int32, attrgetter("exchange.key.session.block")),
    "session": (np.int32, attrgetter("exchange.key.session.session")),
    "turn": (np.int32, attrgetter("exchange.key.turn")),
    "attempt": (np.int32, attrgetter("attempt")),
    "last": (np.bool_, attrgetter("exchange.last")),
    "seconds": (np.float64, attrgetter("exchange.seconds")),
    "start_seconds": (np.float64, attrgetter("exchange.start_seconds")),
    "text_bytes": (np.int64, attrgetter("exchange.text_bytes")),
}
MAY_LACK = {
    "first_seconds": attrgetter("exchange.first_seconds"),
    "exit_code": attrgetter("exchange.exit_code"),
    "http_status": attrgetter("exchange.http_status"),
    "prompt_tokens": attrgetter("exchange.prompt_tokens"),
    "completion_tokens": attrgetter("exchange.completion_tokens"),
    "cached_tokens": attrgetter("exchange.cached_tokens"),
}
AT = "at"
NAMES = (*WORDS, *NUMBERS, AT, *MAY_LACK)
_CHUNK = 50_000  # samples held at a time: a sample takes twenty times the room of its row


def read_columns(folder: Path) -> Columns:
    """Read the exchanges of a run; what is damaged is left out, as everywhere.

    Args:
        folder: The run's folder.
    """
    return columns_of(read_samples(folder, Damage()))


def columns_of(samples: Iterable[Sample]) -> Columns:
    """Lay samples out as columns."""
    places: dict[str, dict[str, int]] = {name: {} for name in WORDS}
    chunks: list[dict[str, Any]] = []
    held: list[Sample] = []
    for sample in samples:
        held.append(sample)
        if len(held) == _CHUNK:
            chunks.append(_chunk(held, places))
            held = []
    chunks.append(_chunk(held, places))
    joined = {name: np.concatenate([chunk[name] for chunk in chunks]) for name in NAMES}
    return {
        name: Words(codes=joined[name], words=tuple(places[name])) if name in places else joined[name]
        for name in NAMES
    }


def _chunk(samples: list[Sample], places: dict[str, dict[str, int]]) -> dict[str, Any]:
    """Lay some samples out; a word that is new gets the next place."""
    found: dict[str, Any] = {}
    for name, of in WORDS.items():
        known = places[name]
        codes = [known.setdefault(str(of(sample)), len(known)) for sample in samples]
        found[name] = np.array(codes, dtype=np.int32)
    for name, (kind, of) in NUMBERS.items():
        found[name] = np.array([of(sample) for sample in samples], dtype=kind)
    for name, of in MAY_LACK.items():
        values = [np.nan if (value := of(sample)) is None else value for sample in samples]
        found[name] = np.array(values, dtype=np.float64)
    moments = [round(1e6 * sample.at.timestamp()) for sample in samples]
    found[AT] = np.array(moments, dtype=np.int64)
    return found
