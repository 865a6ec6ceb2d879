"""Tidy frames of a campaign: one row a hypothesis, run, arm, verdict, commit, session or exchange.

This module alone knows pandas. A frame has the same columns and types however many rows it has, none
included. Counts that may be missing are `Int64`, texts of which few differ are categories, times are
UTC. `framecolumns` lists the columns, `framerows` makes the rows, and `sessions` folds exchanges.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from workbench.model.columns import Columns, Words
from workbench.model.commits import History
from workbench.model.event import Grade, VerdictGiven
from workbench.model.outcome import Ending, Status
from workbench.model.registry import Failure, Registry
from workbench.model.run import RunState
from workbench.model.standing import State
from workbench.model.verdict import Held, Verdict
from workbench.report.commitrecords import commit_records
from workbench.report.framecolumns import COLUMNS, COUNT, TEXT, TIME, WORD
from workbench.report.framerows import (
    arm_rows,
    commit_row,
    hypothesis_row,
    judged_arms,
    run_row,
    verdict_row,
)
from workbench.report.matrix import lay
from workbench.report.sessions import sessions
from workbench.report.suspects import roster

Frame: TypeAlias = pd.DataFrame


def hypotheses(registry: Registry) -> Frame:
    """Make the frame of hypotheses, with the verdict that the state of each rests on."""
    suspects = roster(registry)
    rows = [hypothesis_row(each, len(suspects.runs.get(each.id, ()))) for each in suspects]
    return _frame("hypotheses", rows)


def runs(registry: Registry) -> Frame:
    """Make the frame of runs, oldest first; counts are over all arms."""
    return _frame("runs", map(run_row, registry.runs))


def arms(registry: Registry) -> Frame:
    """Make the frame of arms of runs.

    `interval` says what an interval is of: `judged` takes into account how much starts differ, as the
    verdict on these very sessions does; `independent` does as if sessions had nothing in common.
    """
    judged = list(judged_arms(registry))
    return _frame("arms", (row for run in registry.runs for row in arm_rows(run, judged)))


def verdicts(registry: Registry) -> Frame:
    """Make the frame of verdicts on record, in the order of the log."""
    events = [event for event in registry.events if isinstance(event.body, VerdictGiven)]
    return _frame("verdicts", map(verdict_row, events))


def commits(registry: Registry, history: History) -> Frame:
    """Make the frame of linked commits, with what git says of each."""
    return _frame("commits", map(commit_row, commit_records(registry, history)))


def matrix(registry: Registry) -> Frame:
    """Make the frame of the matrix: evidence in rows, suspects in columns, words in the cells."""
    found = lay(roster(registry))
    cells = [[row.cells.get(id) for id in found.suspects] for row in found.rows]
    ids = [row.id for row in found.rows]
    return pd.DataFrame(cells, index=ids, columns=list(found.suspects), dtype=object).astype(TEXT)


def failures(found: Iterable[Failure]) -> Frame:
    """Make the frame of kinds of failures, in the order given, each with its first reply."""
    return _frame("failures", map(asdict, found))


def exchanges(parts: Iterable[tuple[str, Columns]]) -> Frame:
    """Make the frame of exchanges.

    Args:
        parts: Ids of runs, with the columns of their exchanges.
    """
    return _joined("exchanges", list(parts))


def trials(parts: Iterable[tuple[str, Columns]]) -> Frame:
    """Make the frame of sessions that have ended; arguments as for `exchanges`."""
    return _joined("trials", [(run, sessions(columns)) for run, columns in parts])


def _frame(name: str, rows: Iterable[Mapping[str, Any]]) -> Frame:
    """Make a frame of rows; what a row lacks is missing."""
    kinds = COLUMNS[name]
    found = list(rows)
    columns = {
        column: _series(column, [row.get(column) for row in found], kind)
        for column, kind in kinds.items()
    }
    return pd.DataFrame(columns)


def _series(column: str, values: list[Any], kind: str) -> pd.Series:
    if kind == WORD:
        words = [None if value is None or value == "" else str(value) for value in values]
        return pd.Series(pd.Categorical(words, dtype=_category(column, words)))
    if kind == TIME:
        return pd.Series(pd.to_datetime(values, utc=True)).astype(kind)
    return pd.Series(values, dtype=object).astype(kind)


_ENUMS: Mapping[str, tuple[str, ...]] = {
    "state": (*State, *RunState),
    "grade": tuple(Grade),
    "verdict": tuple(Verdict),
    "prediction": tuple(Held),
}


def _category(column: str, words: Iterable[str | None]) -> pd.CategoricalDtype:
    """Give the words of a column in their own order where they have one, else in that of letters."""
    used = {word for word in words if word is not None}
    known = [str(word) for word in _ENUMS.get(column, ()) if str(word) in used]
    return pd.CategoricalDtype([*dict.fromkeys(known), *sorted(used - set(known))])


def _joined(name: str, parts: list[tuple[str, Columns]]) -> Frame:
    """Lay the columns of several runs under one another; no row is touched in Python."""
    ids = [run for run, _ in parts]
    lengths = [len(columns["session"]) for _, columns in parts]
    frame = {}
    for column, kind in COLUMNS[name].items():
        if column == "run":
            codes = np.repeat(np.arange(len(ids), dtype=np.int32), lengths)
            frame[column] = pd.Series(pd.Categorical.from_codes(codes, categories=ids))
        else:
            frame[column] = _column(column, kind, [columns[column] for _, columns in parts])
    return pd.DataFrame(frame)


_FIXED: Mapping[str, tuple[str, ...]] = {"status": tuple(Status), "ending": tuple(Ending)}


def _column(column: str, kind: str, parts: list[Any]) -> pd.Series:
    if kind == WORD:
        return pd.Series(_categorical(column, parts))
    values = np.concatenate(parts) if parts else np.zeros(0)
    if kind == TIME:
        return pd.Series(pd.to_datetime(values.astype("int64"), unit="us", utc=True)).astype(kind)
    if kind == COUNT:
        return pd.Series(_whole(values))
    return pd.Series(values.astype(kind, copy=False))


def _whole(values: Any) -> Any:
    """Make whole numbers of floats; those that are NaN are missing."""
    missing = np.isnan(values)
    return pd.arrays.IntegerArray(np.where(missing, 0, values).astype("int64"), missing)


def _categorical(column: str, parts: list[Words]) -> Any:
    """Join words of several runs: codes are moved to the places that the words have together."""
    places: dict[str, int] = {str(word): at for at, word in enumerate(_FIXED.get(column, ()))}
    moved = []
    for part in parts:
        to = [places.setdefault(word, len(places)) if word else -1 for word in part.words]
        moved.append(np.array([*to, -1], dtype=np.int32)[part.codes])
    codes = np.concatenate(moved) if moved else np.zeros(0, dtype=np.int32)
    return pd.Categorical.from_codes(codes, categories=list(places))
