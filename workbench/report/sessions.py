"""Sessions as columns, folded from the columns of their exchanges; one row is one trial.

    arm, block, session, attempt     place in the run
    status                           the worst of its exchanges, by the precedence of statuses
    label, signature, turn           of the first exchange with that status
    turns, seconds                   how many exchanges, and how long they took together
    at                               when its last exchange ended

Exchanges of one session come together (`store.journal.read_samples`), and one that has not ended is no
trial yet.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.model.columns import Columns, Words
from workbench.model.outcome import Status

STATUSES = tuple(str(status) for status in Status)  # in order of precedence


def sessions(exchanges: Columns) -> Columns:
    """Fold exchanges into sessions that have ended.

    Args:
        exchanges: Columns of one run.
    """
    first = _firsts(exchanges)
    if not len(first):
        return {name: _taken(exchanges[name], first) for name in (*_KEPT, *_OF_DECIDING)} | {
            "turns": np.zeros(0, dtype=np.int32),
            "seconds": np.zeros(0),
            "at": np.zeros(0, dtype=np.int64),
        }
    total = len(_numbers(exchanges, "turn"))
    turns = np.diff(np.append(first, total))
    worst, deciding = _worst(exchanges, first, turns)
    last = first + turns - 1
    ended = np.logical_or.reduceat(_numbers(exchanges, "last"), first)
    found: dict[str, NDArray[Any] | Words] = {
        name: _taken(exchanges[name], first[ended]) for name in _KEPT
    }
    found |= {name: _taken(exchanges[name], deciding[ended]) for name in _OF_DECIDING}
    found["status"] = Words(codes=worst[ended], words=STATUSES)
    found["turns"] = turns[ended].astype(np.int32)
    found["seconds"] = np.add.reduceat(_numbers(exchanges, "seconds"), first)[ended]
    found["at"] = _numbers(exchanges, "at")[last][ended]
    return found


_KEPT = ("arm", "block", "session", "attempt")
_OF_DECIDING = ("status", "label", "signature", "turn")


def _firsts(exchanges: Columns) -> NDArray[Any]:
    """Give the row that each session begins with."""
    arm = exchanges["arm"]
    assert isinstance(arm, Words)
    keys = (arm.codes, _numbers(exchanges, "block"), _numbers(exchanges, "session"))
    begins = np.ones(len(arm), dtype=bool)
    begins[1:] = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
    return np.flatnonzero(begins)


def _worst(
    exchanges: Columns, first: NDArray[Any], turns: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Give the place of each session's status among all, and the row that it comes from."""
    status = exchanges["status"]
    assert isinstance(status, Words)
    ranks = np.array([STATUSES.index(word) for word in status.words], dtype=np.int32)[status.codes]
    worst = np.minimum.reduceat(ranks, first)
    rows = np.arange(len(ranks))
    is_worst = ranks == np.repeat(worst, turns)
    return worst, np.minimum.reduceat(np.where(is_worst, rows, len(rows)), first)


def _numbers(columns: Columns, name: str) -> NDArray[Any]:
    column = columns[name]
    assert not isinstance(column, Words)
    return column


def _taken(column: NDArray[Any] | Words, rows: NDArray[Any]) -> NDArray[Any] | Words:
    if isinstance(column, Words):
        return Words(codes=column.codes[rows], words=column.words)
    taken: NDArray[Any] = column[rows]
    return taken
