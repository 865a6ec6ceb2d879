"""`workbench measure`: how often does a command fail, and how long is a trial."""

from __future__ import annotations

import shlex
from typing import Any

import click

from workbench.cli.options import REQUEST_OPTIONS, command_options, given, output_options

_HELP = """Measure how often a command fails, how long a trial is, and what a comparison would cost.

Stops at 5 hits or 200 trials, whichever comes first; --hits 0 uses all trials.

\b
Example:
  workbench measure --trials 500 -j 4 -- ./test.sh --seed '{seed}'
"""

_EXIT_CODES = (
    "Exit codes: 0 measured; 2 usage; 3 the command could not start; 130 interrupted, resumable."
)


@click.command("measure", help=_HELP, epilog=_EXIT_CODES)
@click.argument("words", nargs=-1, metavar="[-- CMD]")
@click.option(
    "--trials",
    "max_trials",
    type=click.IntRange(1),
    default=200,
    show_default=True,
    help="Trials at most.",
)
@click.option(
    "--hits",
    "until_hits",
    type=click.IntRange(0),
    default=5,
    show_default=True,
    help="Stop at so many hits; 0 for never.",
)
@command_options
@output_options
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> int:
    """Plan or resume, run, and say what was measured."""
    from workbench.campaign import commands
    from workbench.cli.display import observer
    from workbench.cli.output import lines, record
    from workbench.report.record import measurement_record
    from workbench.report.summary import measurement_summary

    asked = given(ctx, ("max_trials", "until_hits", *REQUEST_OPTIONS))
    if asked.get("until_hits") == 0:
        asked["until_hits"] = None
    if options["words"]:
        asked["command"] = shlex.join(options["words"])
    with observer(options["display"]) as watching:
        snapshot = commands.measure(asked, options["output"], options["resume"], watching)
    if options["as_json"]:
        record(measurement_record(snapshot))
    else:
        lines(measurement_summary(snapshot))
    return 0
