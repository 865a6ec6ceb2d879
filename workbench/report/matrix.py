"""The matrix: evidence in rows, suspects in columns, and whether any run tells the suspects apart.

The record of `matrix`:
    suspects      id, title, state, live, fails_when
    rows          id, run, verdict, prediction, grade, text, served, cells (suspect to for, against,
                  neutral, unknown), patterns (suspect to what it says of control and treatment: true,
                  false or null), idle, tells (groups of live suspects that the run tells apart)
    diagnostic    how many A/Bs tell any two live suspects apart
    alike         classes of live suspects that no run tells apart
    silent        live suspects that say of no arm whether it fails
    said          the same in a sentence, or an empty text where there is nothing to tell apart
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from workbench.judge import matrix as judge
from workbench.judge import patterns
from workbench.judge.matrix import Cell, Matrix, Row
from workbench.judge.patterns import Claimed
from workbench.model.registry import Registry
from workbench.model.standing import FALLEN
from workbench.report import values
from workbench.report.suspects import Roster, Suspect, roster
from workbench.report.text import (
    WIDTH,
    columns,
    count,
    cut,
    inert,
    padded,
    printed,
    sentence_of,
    wrapped,
)

_SYMBOLS = {Cell.FOR: "+", Cell.AGAINST: "-", Cell.NEUTRAL: ".", Cell.UNKNOWN: "?"}
_LEAST_LABEL, _MOST_LABEL = 30, 50
_GAP = 2


def matrix(registry: Registry) -> Iterator[str]:
    """Yield the matrix as text of 80 columns; many suspects are folded into several tables."""
    yield from printed(_matrix(roster(registry)))


def matrix_record(registry: Registry) -> dict[str, Any]:
    """Give the same as JSON values."""
    suspects = roster(registry)
    found = lay(suspects)
    return {
        "suspects": [
            {
                "id": each.id,
                "title": each.title,
                "state": str(each.state),
                "live": _is_live(each),
                "fails_when": dict(each.hypothesis.fails_when) if each.hypothesis else {},
            }
            for each in suspects
        ],
        "rows": [_row_record(row) for row in found.rows],
        "diagnostic": found.diagnostic,
        "alike": [list(ids) for ids in found.alike],
        "silent": silent(suspects),
        "said": diagnosis(suspects),
    }


def lay(suspects: Roster) -> Matrix:
    """Lay the evidence of a campaign against its suspects."""
    return judge.matrix(claims(suspects), {each.id: each.standing.items for each in suspects})


def claims(suspects: Roster) -> list[Claimed]:
    """Give what each suspect says of arms."""
    return patterns.claims(
        [(each.id, each.symptom, each.hypothesis, each.standing) for each in suspects]
    )


def diagnosis(suspects: Roster) -> str:
    """Say that no run tells the live suspects apart; empty where one does, or there are no two."""
    claimed = claims(suspects)
    together = [ids for ids in judge.live_ones(claimed).values() if len(ids) > 1]
    if not together:
        return ""
    if judge.tells_any_apart(claimed, {each.id: each.standing.items for each in suspects}):
        return ""
    return f"0 diagnostic A/Bs: no run tells {sentence_of(together[0])} apart"


def silent(suspects: Roster) -> list[str]:
    """Name the live suspects that say of no arm whether it fails."""
    return [
        each.id
        for each in suspects
        if _is_live(each) and each.hypothesis is not None and not each.hypothesis.fails_when
    ]


def _is_live(suspect: Suspect) -> bool:
    standing = suspect.standing
    return standing.state not in FALLEN or standing.reopened


def _row_record(row: Row) -> dict[str, Any]:
    verdict = row.verdict
    return {
        "id": row.id,
        "run": row.run,
        "verdict": str(verdict.verdict) if verdict else None,
        "prediction": str(verdict.prediction) if verdict else None,
        "grade": str(row.grade),
        "text": row.text,
        "served": list(row.served),
        "cells": values.plain(row.cells),
        "patterns": {id: list(says) for id, says in row.patterns.items()},
        "idle": sorted(row.idle),
        "tells": [list(group) for group in row.tells],
    }


def _matrix(suspects: Roster) -> Iterator[str]:
    if not suspects.suspects:
        yield 'no hypotheses yet; name one: workbench new "..."'
        return
    found = lay(suspects)
    if not found.rows:
        yield "no evidence that counts yet; what would tell most: workbench next"
    for ids in _folded(found.suspects) if found.rows else ():
        yield from _table(found.rows, ids)
        yield ""
    if found.rows:
        yield "+ for   - against   . neutral   ? unknown   (+) words, and runs have spoken"
        yield "* can tell live suspects apart"
    yield from _told(found, suspects)


def _folded(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the columns, as many at a time as fit beside the labels."""
    room, used = WIDTH - _LEAST_LABEL - _GAP, 0
    group: list[str] = []
    for id in ids:
        wide = _wide(id) + _GAP
        if group and used + wide > room:
            yield group
            group, used = [], 0
        group.append(id)
        used += wide
    yield group


def _wide(id: str) -> int:
    return max(columns(cut(id, 8)), 3)


def _table(rows: Sequence[Row], ids: Sequence[str]) -> Iterator[str]:
    taken = sum(_wide(id) + _GAP for id in ids)
    width = min(_MOST_LABEL, WIDTH - taken - _GAP)
    yield f"{'':<{width + _GAP}}" + "".join(padded(cut(id, 8), _wide(id) + _GAP) for id in ids)
    for row in rows:
        mark = "* " if row.tells else "  "
        head = padded(cut(_label(row), width - 1), width)
        yield mark + head + "".join(padded(_cell(row, id), _wide(id) + _GAP) for id in ids)


def _label(row: Row) -> str:
    if row.verdict is not None:
        back = " (put back)" if row.verdict.put_back else ""
        return f"{sentence_of(row.served, most=2)} {row.verdict.verdict}{back}, {row.run}"
    return f"{row.id} {row.grade}: {row.text}"


def _cell(row: Row, id: str) -> str:
    if id not in row.cells:
        return ""
    symbol = _SYMBOLS[row.cells[id]]
    return f"({symbol})" if id in row.idle else symbol


def _told(found: Matrix, suspects: Roster) -> Iterator[str]:
    none = diagnosis(suspects)
    runs = sum(1 for row in found.rows if row.verdict is not None)
    if none:
        yield from wrapped(none, indent=0)
    elif found.live:
        yield f"{found.diagnostic} of {count(runs, 'A/B')} can tell live suspects apart"
    for row in found.rows:
        if row.tells:
            groups = " from ".join(sentence_of(group) for group in row.tells)
            yield from wrapped(f"{inert(row.run)} can tell {groups}", hanging=2)
    for ids in found.alike:
        yield from wrapped(f"alike on all runs: {sentence_of(ids, most=12)}", indent=0)
    quiet = silent(suspects)
    if quiet:
        says = f"without `fails_when`, of their own test alone: {sentence_of(quiet, most=12)}"
        yield from wrapped(says, indent=0)
        yield f"  workbench edit {inert(quiet[0])}"
    if none:
        yield "next: find the test that would tell most"
        yield "  workbench next"
