"""Verbs that reason over the record as a whole: matrix."""

from __future__ import annotations

import click

from workbench.cli.arguments import json_option, opened
from workbench.cli.output import lines, record

_MATRIX = """Evidence in rows, suspects in columns, and whether any A/B tells the suspects apart.

A suspect says by `fails_when` in its file which arms fail. What a run found is held against that,
whoever the run was made for. Two suspects that say the same of every run are alike: no evidence so far
speaks for one of them and not for the other.

\b
Example:
  workbench matrix
  workbench matrix --json | jq '.rows[] | select(.tells != []).run'
"""


@click.command("matrix", help=_MATRIX)
@json_option
def matrix(as_json: bool) -> None:
    """Show the matrix."""
    from workbench.report import matrix as report

    registry = opened().registry
    if as_json:
        record(report.matrix_record(registry))
    else:
        lines(report.matrix(registry))
