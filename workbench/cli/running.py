"""Verbs that run the tests of hypotheses: plan, test, stop."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from workbench.cli.arguments import HYPOTHESIS, RUN, by_option, json_option, opened, writer
from workbench.cli.options import ClockType, Duration, given, output_options
from workbench.cli.output import exit_code, lines, narrate, record
from workbench.errors import AlreadyDecided, UsageError, WorkbenchError
from workbench.model.progress import Snapshot
from workbench.report.text import inert, moment

if TYPE_CHECKING:
    from workbench.campaign.registry import Campaign

_ASKED = ("engine", "workload", "seed", "max_blocks", "sessions", "in_flight", "budget")

_PLAN = """Say what the test of hypotheses will cost and can see; run nothing.

Several hypotheses are served by one run where they share symptom, workload and engine: equal arms are
started once.

\b
Example:
  workbench plan H5
  workbench plan H5 H7 --max-blocks 20
  workbench plan H5 --put-back
"""

_TEST = """Run the test of hypotheses; end with one honest verdict each, on record.

Runs of one and the same test are one process: a new one begins with the complete blocks of those
before, so trying again until the word is the right one does not work. An edited prediction or margin
is another test. Ctrl-C saves and ends; --resume goes on, and so it does after `kill -9`.
Files that arms need changed are put back. A protected engine is left alone without --allow or a
typed yes.

--put-back puts a cause that a run has removed back into the fixed system: the arms of `put_back` in its
file. It is a run of its own each time, and what `confirmed` takes beside the removal.

\b
Example:
  workbench test H5
  workbench test H5 --put-back
  workbench test H5 H7 --budget 20m --detach --notify ./tell-me.sh
"""

_STOP = """Ask a run that is going on to save and end, as Ctrl-C would, and wait until it has.

It puts back the files that it has changed. With --restore, so is what a killed run left changed.

\b
Example:
  workbench stop 20261129T151200Z-k3m7q2xa
"""

_EXIT_CODES = (
    "Exit codes: 0 a verdict; 1 the claim failed (with --exit-code); 2 usage or invalid file; 3 an arm"
    " could not start, or another run has the engine; 4 inconclusive or not reproduced; 5 invalid run;"
    " 130 interrupted, resumable."
)


_put_back = click.option("--put-back", is_flag=True, help="Put the cause back into the fixed system.")


def _asked_options(function: Any) -> Any:
    """Add the options that a test may have beside what its file says."""
    for option in reversed(
        [
            click.option("--engine", metavar="NAME", help="Another engine than the campaign's."),
            click.option("--workload", metavar="NAME", help="Another workload than the test's."),
            click.option("--seed", type=click.IntRange(0, 2**31 - 1), help="Repeat a run's choices."),
            click.option(
                "--max-blocks", type=click.IntRange(1), help="Blocks that this run may add at most."
            ),
            click.option("--sessions", type=click.IntRange(1), help="Sessions per arm and block."),
            click.option(
                "-j", "--in-flight", type=click.IntRange(1, 1024), help="Sessions at the same time."
            ),
            click.option(
                "--budget",
                type=Duration(),
                metavar="TIME",
                help="Begin no block that would not end within this time.",
            ),
        ]
    ):
        function = option(function)
    return function


@click.command("plan", help=_PLAN)
@click.argument("ids", nargs=-1, required=True, type=HYPOTHESIS)
@_put_back
@_asked_options
@json_option
@click.pass_context
def plan(ctx: click.Context, /, ids: tuple[str, ...], put_back: bool, as_json: bool, **_: Any) -> None:
    """Forecast a test."""
    from workbench.campaign import verdicts
    from workbench.report.forecast import forecast, plan_record

    campaign = opened()
    planned = verdicts.plan(campaign, ids, given(ctx, _ASKED), put_back=put_back)
    pace = verdicts.pace(campaign, ids)
    if as_json:
        record(plan_record(planned, pace))
    else:
        lines(forecast(planned, pace))


@click.command("test", help=_TEST, epilog=_EXIT_CODES)
@click.argument("ids", nargs=-1, type=HYPOTHESIS)
@_put_back
@_asked_options
@click.option("--until", "until", type=ClockType(), help="As --budget, up to a time of day.")
@click.option("--resume", type=RUN, metavar="RUN", help="Go on with a run that was stopped or killed.")
@click.option("--detach", is_flag=True, help="Run in the background; print the run and come back.")
@click.option("--notify", metavar="CMD", help="Told at the end, with JSON on its standard input.")
@click.option("--exit-code", "claims", is_flag=True, help="Exit with 1 when a claim failed.")
@click.option(
    "--allow",
    multiple=True,
    metavar="ENGINE",
    help="Start, stop and edit this protected engine; may be repeated.",
)
@click.option("--wait", is_flag=True, help="Queue behind a run that has the engine.")
@output_options
@by_option
@click.pass_context
def test(ctx: click.Context, /, ids: tuple[str, ...], **options: Any) -> int:
    """Run or resume, and say what was found."""
    if bool(ids) == bool(options["resume"]):
        raise click.UsageError("name hypotheses to test, or a run with --resume")
    if options["put_back"] and options["resume"]:
        raise click.UsageError("a run that is resumed knows whether it puts a cause back")
    if options["detach"] and options["wait"]:
        raise click.UsageError("--detach prints a run, and --wait has none yet: take one of the two")
    if options["detach"]:
        return _detach(options["as_json"])
    asked = given(ctx, _ASKED)
    if options["until"] is not None:
        asked["budget"] = min(options["until"], asked.get("budget", options["until"]))
    try:
        runs = _test(ids, asked, options)
    except WorkbenchError as error:
        _tell(options["notify"], {"error": error.what, "exit_code": error.exit_code})
        raise
    return _end(runs, options)


def _test(ids: tuple[str, ...], asked: dict[str, Any], options: dict[str, Any]) -> list[Snapshot]:
    """Run or resume; give the run, or those that had decided before."""
    from workbench.campaign import verdicts
    from workbench.campaign.claiming import of_others
    from workbench.campaign.holding import Leave
    from workbench.cli.display import observer

    campaign, who = writer(options["by"])
    for each in of_others(campaign, ids, who):
        _say(f"warning: {each.by} works on {each.hypothesis} until {moment(each.until)}")
    leave = Leave(allow=options["allow"], wait=options["wait"], tell=_say, ask=_ask)
    try:
        with observer(options["display"]) as watching:
            if options["resume"]:
                return [verdicts.resume(campaign, options["resume"], asked, who, watching, leave)]
            back = options["put_back"]
            return [verdicts.test(campaign, ids, asked, who, watching, leave, put_back=back)]
    except AlreadyDecided as error:
        narrate(f"{error.what}; nothing was run")
        return [verdicts.decided(campaign, run, id) for id, (run, _) in error.by.items()]


def _say(line: str) -> None:
    """Tell what the run waits for, or has put back; it quotes files."""
    narrate(inert(line))


def _ask(what: str) -> bool:
    """Ask the person at the terminal, if there is one, and take nothing but the whole word."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    narrate(inert(what))
    return bool(click.prompt("type yes to go on", default="no", show_default=False, err=True) == "yes")


def _end(runs: list[Snapshot], options: dict[str, Any]) -> int:
    """Tell the notifier and then the reader, who may have gone, what was found."""
    from workbench.report.record import judgement_record
    from workbench.report.summary import comparison_summary

    judgements = [each for run in runs for each in run.judgements]
    found = [judgement_record(each, run) for run in runs for each in run.judgements]
    code = exit_code(judgements, claims=options["claims"])
    _tell(options["notify"], {"exit_code": code, "verdicts": found})
    for each in found if options["as_json"] else ():
        record(each)
    for run in () if options["as_json"] else runs:
        lines(comparison_summary(run))
    return code


def _detach(as_json: bool) -> int:
    """Begin the very same command in the background, but for its display."""
    from workbench.campaign import processes

    words = [word for word in _words() if word != "--detach"]
    begun = processes.detach(opened().root, [*words, "--display", "json"])
    if as_json:
        record({"run": begun.run, "folder": begun.folder, "pid": begun.pid, "log": begun.log})
    else:
        lines([begun.run])
        narrate(f"process {begun.pid} has it; `workbench status` shows it, `workbench stop` ends it")
    return 0


def _words() -> list[str]:
    """Give the command line from its verb on; what stands before has had its effect on this process."""
    words = sys.argv[1:]
    while words[0].startswith("-"):
        del words[: 2 if words[0] == "-C" else 1]
    return words


def _tell(command: str | None, payload: dict[str, Any]) -> None:
    """Tell the notifier, which can fail and changes nothing then."""
    if command is None:
        return
    from workbench.campaign.processes import notify

    problem = notify(command, payload)
    if problem:
        narrate(f"warning: {problem}")


@click.command("stop", help=_STOP)
@click.argument("run", type=RUN)
@click.option("--restore", is_flag=True, help="Put back files that it left changed, if it was killed.")
@json_option
def stop(run: str, restore: bool, as_json: bool) -> int:
    """End a run from elsewhere."""
    from workbench.campaign import processes

    campaign = opened()
    try:
        ended = processes.stop(campaign.root, run)
    except UsageError as error:
        if not restore:
            raise
        narrate(inert(error.what))
        return _restore(campaign, campaign.run_folder(run).name, as_json)
    if as_json:
        record({"run": ended.id, "state": ended.state, "why": ended.why})
    else:
        lines([f"{ended.id} {ended.state}"])
        narrate(f"go on with it: workbench test --resume {ended.id}")
    return _restore(campaign, ended.id, as_json) if restore else 0


def _restore(campaign: Campaign, run: str, as_json: bool) -> int:
    from workbench.campaign import setup
    from workbench.cli.setup import tell_restored

    return tell_restored(setup.restore(campaign.root, run), as_json)
