"""Where results and errors go: results to stdout, everything else to stderr, all of it inert."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import click

from workbench.errors import WorkbenchError
from workbench.model.verdict import Judgement, Verdict

_UNDECIDED = {Verdict.INCONCLUSIVE, Verdict.NOT_REPRODUCED, None}
_CLAIM_FAILED = {Verdict.FALSIFIED, Verdict.PREDICTION_REFUTED}


def lines(text: Iterable[str]) -> None:
    """Write lines of a result."""
    for line in text:
        click.echo(line)


def record(values: Mapping[str, Any]) -> None:
    """Write a result as one line of JSON."""
    click.echo(json.dumps(values, allow_nan=False, ensure_ascii=True))


def narrate(line: str) -> None:
    """Tell the person at the terminal something that is no result."""
    click.echo(line, err=True)


def exit_code(judgements: Iterable[Judgement], *, claims: bool = False) -> int:
    """Give the exit code of a run: that of the first judgement that has one to give.

    Args:
        judgements: One a comparison.
        claims: A claim that failed is worth an exit code of its own (`--exit-code`).
    """
    verdicts = [judgement.verdict for judgement in judgements]
    if Verdict.INVALID in verdicts:
        return 5
    if any(verdict in _UNDECIDED for verdict in verdicts):
        return 4
    return int(claims and any(verdict in _CLAIM_FAILED for verdict in verdicts))


def failed(error: Exception) -> int:
    """Show an error and give its exit code; one that is not ours is a bug, with its traceback."""
    if not isinstance(error, WorkbenchError):
        import traceback

        traceback.print_exception(error)
        narrate("workbench: this is a bug of the workbench; the run's folder is whole")
        return 70
    from workbench.report.text import inert

    # an error may quote what a file or a command said
    for line in f"workbench: {error.what}".splitlines():
        narrate(inert(line))
    if error.hint:
        narrate(f"  {inert(error.hint)}")
    return error.exit_code
