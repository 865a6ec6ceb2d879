"""Verbs that look at runs that are over, and change nothing: relabel, compare."""

from __future__ import annotations

import click

from workbench.cli.arguments import RUN, json_option
from workbench.cli.output import lines, record

_RELABEL = """Label the stored replies of a run again, with no engine; write nothing.

Shows which labels change and what would be counted then. The classifier is that of the campaign as it
is now, else that of the run. The verdict on record stands: for another one, test anew.

\b
Example:
  workbench relabel 20261129T151200Z-k3m7q2xa
  workbench relabel k3m7q2xa --symptom garbled --json
"""

_COMPARE = """Lay two runs side by side: what is the same, what differs, what each counted and said.

Runs of one test are one process, of which the later goes on from the earlier; of any others nothing is
added up.

\b
Example:
  workbench compare 20261128T090000Z-aaaabbbb 20261129T151200Z-k3m7q2xa
"""


@click.command("relabel", help=_RELABEL)
@click.argument("run", type=RUN)
@click.option("--classifier", metavar="KIND", default="", help="Another classifier, by its kind.")
@click.option("--symptom", metavar="NAME", default="", help="Another symptom of the campaign.")
@json_option
def relabel(run: str, classifier: str, symptom: str, as_json: bool) -> None:
    """Label a run again."""
    from workbench.campaign import relabelling
    from workbench.report import relabel as report

    if classifier and symptom:
        raise click.UsageError("--classifier or --symptom, not both: a symptom names its classifier")
    found = relabelling.relabel(run, classifier=classifier, symptom=symptom)
    if as_json:
        record(report.relabel_record(found))
    else:
        lines(report.relabel(found))


@click.command("compare", help=_COMPARE)
@click.argument("first", type=RUN, metavar="RUN")
@click.argument("second", type=RUN, metavar="RUN")
@json_option
def compare(first: str, second: str, as_json: bool) -> None:
    """Compare two runs."""
    from workbench.campaign import comparing
    from workbench.report import compare as report

    found = comparing.compare(first, second)
    if as_json:
        record(report.compare_record(found))
    else:
        lines(report.compare(found))
