"""`workbench ab`: two commands that fail sometimes, one honest verdict, no set-up."""

from __future__ import annotations

from typing import Any

import click

from workbench.cli.options import (
    REQUEST_OPTIONS,
    PredictionType,
    command_options,
    given,
    output_options,
)

_REQUEST = ("control", "treatment", "prediction", "block_size", "max_blocks", *REQUEST_OPTIONS)

_HELP = """Compare two commands that fail sometimes; end with one honest verdict.

CONTROL is the command as found, predicted to fail; TREATMENT has the suspect removed. Both are
executed in blocks, in random order, until the evidence says a word or the budget is gone. Commands are
split as a shell would, and no shell is involved.

A trial is clean with exit code 0 and a hit with 1 to 124, or when it crashes (SEGV, ABRT, BUS, FPE,
ILL). 125 skips a trial; 126 and 127 mean that the arm could not start. The command finds a seed in
$WORKBENCH_SEED.

\b
Example:
  workbench ab --control './flaky.sh 0.17' --treatment './flaky.sh 0' --predict 0.17:removes -j 4
"""

_EXIT_CODES = (
    "Exit codes: 0 a verdict; 1 the claim failed (with --exit-code); 2 usage; 3 an arm could not"
    " start; 4 inconclusive or not reproduced; 5 invalid run; 130 interrupted, resumable."
)


@click.command("ab", help=_HELP, epilog=_EXIT_CODES)
@click.option("--control", metavar="CMD", help="The command as found, predicted to fail.")
@click.option("--treatment", metavar="CMD", help="The command with the suspect removed.")
@click.option(
    "--predict",
    "prediction",
    type=PredictionType(),
    metavar="C:T",
    help="Rates you predict: 0.17:0.05, 0.17:removes, or removes; without C it is sampled first.",
)
@click.option(
    "--block",
    "block_size",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="Trials per arm and block.",
)
@click.option(
    "--max-blocks", type=click.IntRange(1), default=60, show_default=True, help="Blocks at most."
)
@command_options
@click.option("--dry-run", is_flag=True, help="Show what it would cost and could see; run nothing.")
@click.option("--exit-code", "claims", is_flag=True, help="Exit with 1 when the claim failed.")
@output_options
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> int:
    """Plan or resume, run, and say what was found."""
    from workbench.campaign import commands
    from workbench.cli.display import observer
    from workbench.cli.output import exit_code, lines, record
    from workbench.report.forecast import forecast
    from workbench.report.record import judgement_record
    from workbench.report.summary import comparison_summary

    asked = given(ctx, _REQUEST)
    if options["dry_run"]:
        lines(forecast(commands.comparison_plan(asked)))
        return 0
    with observer(options["display"]) as watching:
        snapshot = commands.compare(asked, options["output"], options["resume"], watching)
    if options["as_json"]:
        for judgement in snapshot.judgements:
            record(judgement_record(judgement, snapshot))
    else:
        lines(comparison_summary(snapshot))
    return exit_code(snapshot.judgements, claims=options["claims"])
