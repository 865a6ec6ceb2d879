"""Verbs that reason over the record as a whole: matrix, next."""

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

_NEXT = """Which test would tell most a minute, and the command for it.

Candidates are the tests in the files, put-back runs of causes that were removed, and tests of a cause
alone where all was found clean. Each suspect has a share, by how well it fits the counts of all runs;
a fifth is with none of them to begin with. What would tell nothing is not proposed.

\b
Example:
  workbench next
  workbench next --json | head -1 | jq -r .command
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


@click.command("next", help=_NEXT)
@json_option
def following(as_json: bool) -> None:
    """Show what to test next."""
    from workbench.campaign import asking
    from workbench.report import next as report

    asked = asking.ask(opened())
    if as_json:
        for each in report.next_records(asked):
            record(each)
    else:
        lines(report.following(asked))
