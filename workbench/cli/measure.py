"""`workbench measure`: how often does a command fail, and how long is a trial."""

from __future__ import annotations

import shlex
from typing import Any

import click

from workbench.cli.arguments import by_option, opened, writer
from workbench.cli.options import (
    REQUEST_OPTIONS,
    LoadsType,
    command_options,
    given,
    output_options,
)
from workbench.cli.output import lines, narrate, record
from workbench.errors import WorkbenchError
from workbench.model.progress import Snapshot
from workbench.report.text import inert

_OF_SETTINGS = (
    *("max_trials", "until_hits", "in_flight", "seed", "keep_texts"),
    *("engine", "workload", "symptom", "sessions", "max_blocks"),
)

_HELP = """Measure how often a command fails, how long a trial is, and what a comparison would cost.

Stops at 5 hits or 200 trials, whichever comes first; --hits 0 uses all trials.

In a campaign, --set measures a setting of its engine, --load at several loads, and --twice two equal
arms, which shows what noise alone looks like there.

\b
Example:
  workbench measure --trials 500 -j 4 -- ./test.sh --seed '{seed}'
  workbench measure --set index_k=bf16 --set hicache=on --load 1,16,60
  workbench measure --set index_k=bf16 --twice
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
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KNOB=LEVEL",
    help="Measure this setting of the campaign's engine; may be repeated.",
)
@click.option("--twice", is_flag=True, help="Two equal arms, an A/A: what does noise alone look like?")
@click.option("--load", type=LoadsType(), help="Measure once at each of these many in flight.")
@click.option("--engine", metavar="NAME", help="Another engine than the campaign's.")
@click.option("--workload", metavar="NAME", help="Which workload.")
@click.option("--symptom", metavar="NAME", help="Which symptom.")
@click.option("--sessions", type=click.IntRange(1), help="Of --twice: sessions per arm and block.")
@click.option("--max-blocks", type=click.IntRange(1), help="Of --twice: blocks.  [default: 2]")
@click.option("--allow", multiple=True, metavar="ENGINE", help="Start and stop this protected engine.")
@click.option("--wait", is_flag=True, help="Queue behind a run that has the engine.")
@command_options
@output_options
@by_option
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> int:
    """Plan or resume, run, and say what was measured."""
    if options["settings"] or options["twice"] or options["load"] or _is_of_settings(options["resume"]):
        return _settings(ctx, options)
    return _command(ctx, options)


def _command(ctx: click.Context, options: dict[str, Any]) -> int:
    """Measure a plain command."""
    from workbench.campaign import commands
    from workbench.cli.display import observer
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


def _is_of_settings(run: str | None) -> bool:
    from contextlib import suppress

    from workbench.campaign import measuring

    with suppress(WorkbenchError):  # no such run, or no campaign: told by who tries to go on with it
        return bool(run) and measuring.of_settings(opened(), str(run))
    return False


def _settings(ctx: click.Context, options: dict[str, Any]) -> int:
    """Measure settings of a campaign's engine, at one load after the other."""
    from workbench.campaign import measuring
    from workbench.campaign.holding import Leave
    from workbench.cli.display import observer

    if options["words"]:
        raise click.UsageError("give a command, or settings of the campaign's engine, not both")
    campaign, who = writer(options["by"])
    leave = Leave(allow=options["allow"], wait=options["wait"], tell=lambda line: narrate(inert(line)))
    if options["resume"]:
        with observer(options["display"]) as watching:
            _tell(measuring.resume(campaign, options["resume"], who, watching, leave), options)
        return 0
    settings = dict(_setting(each) for each in options["settings"])
    asked = given(ctx, _OF_SETTINGS)
    if "max_trials" in asked:
        asked["trials"] = asked.pop("max_trials")
    if not asked.get("until_hits"):
        asked.pop("until_hits", None)
    for load in options["load"] or (None,):
        at = asked if load is None else {**asked, "in_flight": load}
        with observer(options["display"]) as watching:
            snapshot = measuring.measure(
                campaign, settings, at, who, watching, leave, twice=options["twice"]
            )
        if load is not None and not options["as_json"]:
            lines([f"{load} in flight:"])
        _tell(snapshot, options)
    return 0


def _tell(snapshot: Snapshot, options: dict[str, Any]) -> None:
    from workbench.report.record import judgement_record, measurement_record
    from workbench.report.summary import comparison_summary, measurement_summary

    twice = bool(snapshot.judgements)
    if options["as_json"]:
        for judgement in snapshot.judgements:
            record(judgement_record(judgement, snapshot))
        if not twice:
            record(measurement_record(snapshot))
    else:
        lines(comparison_summary(snapshot) if twice else measurement_summary(snapshot))


def _setting(text: str) -> tuple[str, str]:
    knob, equals, level = text.partition("=")
    if not (knob and equals and level):
        raise click.UsageError(f"--set {text!r}: write KNOB=LEVEL")
    return knob, level
