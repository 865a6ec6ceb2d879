"""`workbench demo`: the worked example, end to end, on an engine that fails for real reasons."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.cli.arguments import by_option
from workbench.cli.options import output_options
from workbench.cli.output import exit_code, lines, narrate, record
from workbench.errors import Interrupted
from workbench.report.text import duration, inert

if TYPE_CHECKING:
    from workbench.campaign.demo import Outcome, Step
    from workbench.campaign.registry import Campaign
    from workbench.model.event import Actor

FOLDER = "workbench-demo"
LEDGER = "ledger.md"
_RULE = 78

_HELP = f"""See a whole campaign: a serving engine that garbles tool calls under load, and its cause.

Three accounts tell of such a campaign, and contradict each other: 21 suspects, a fix that fixed
nothing, a cause that one of them refuted and the others confirmed by an explanation. The demo copies
that record into DIR (default: {FOLDER}), builds a miniature engine with the same bugs, and lets runs
decide: how often does it fail, what does it need, and does the symptom go and come with the cause?

It takes some minutes on two cores, and no GPU. Ctrl-C ends it; the same command goes on. --full runs
every test of the campaign.

\b
Example:
  workbench demo
  workbench demo /tmp/demo --full
"""

_EXIT_CODES = (
    "Exit codes: 0 all was run; 2 DIR is something else; 3 the engine could not start; 4 a test ended"
    " without a verdict; 5 a run was invalid; 130 interrupted, the same command goes on."
)


@click.command("demo", help=_HELP, epilog=_EXIT_CODES)
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@click.option("--full", is_flag=True, help="Run every test of the campaign, under 15 minutes.")
@output_options
@by_option
def command(folder: Path | None, full: bool, display: str, as_json: bool, by: str | None) -> int:
    """Copy, build, run, and say what to look at."""
    from workbench.campaign import demo
    from workbench.campaign.actors import actor

    begun = time.monotonic()
    folder = folder or Path(FOLDER)
    campaign, again = demo.prepare(folder)
    _narrated(_opening(campaign, folder, again=again), as_json)
    demo.build(campaign)
    told = _Told(begun=begun, as_json=as_json, display=display)
    steps, who = demo.steps(full=full), actor(by, campaign.root)
    for number, step in enumerate(steps, 1):
        _narrated(["", f"[{number}/{len(steps)}] {step.why}", "-" * _RULE], as_json)
        try:
            told.step(campaign, step, who)
        except Interrupted as error:
            words = shlex.join(["workbench", "demo", str(folder), *(["--full"] if full else [])])
            raise Interrupted(error.what, hint=f"go on with {words}") from error
    return told.end(campaign, folder)


class _Told:
    """What has been told of a demo so far.

    Args:
        begun: When it began, on the monotonic clock.
        as_json: Lines of JSON, and nothing else, go to standard output.
        display: How a run that is going on is shown.
    """

    def __init__(self, *, begun: float, as_json: bool, display: str) -> None:
        self._begun = begun
        self._as_json = as_json
        self._display = display
        self._first: float | None = None
        self._code = 0

    def step(self, campaign: Campaign, step: Step, who: Actor) -> None:
        """Run a step and tell what came of it."""
        from workbench.campaign.demo import outcome
        from workbench.campaign.holding import Leave
        from workbench.cli.display import observer

        leave = Leave(tell=lambda line: narrate(inert(line)))
        with observer(self._display) as watching:
            found = outcome(campaign, step, who, watching, leave)
        judgements = [each for run in found.runs for each in run.judgements]
        self._code = self._code or exit_code(judgements)
        if self._as_json:
            self._records(found)
        else:
            lines(_said(found))
        if judgements and self._first is None and not found.before:
            self._first = time.monotonic() - self._begun
            narrate(f"first verdict after {duration(self._first)}")

    def _records(self, found: Outcome) -> None:
        from workbench.report.record import judgement_record, measurement_record

        for run in found.runs:
            for judgement in run.judgements:
                record(judgement_record(judgement, run))
            if not run.judgements:
                record(measurement_record(run))

    def end(self, campaign: Campaign, folder: Path) -> int:
        """Write the ledger, and say what to open."""
        from workbench.campaign.exporting import cleared, save
        from workbench.campaign.history import history
        from workbench.campaign.registry import Campaign as Opened
        from workbench.report.ledger import ledger
        from workbench.report.tree import tree

        now = Opened(campaign.root)
        save(campaign.root / LEDGER, cleared(ledger(now.registry, history(now))))
        seconds = time.monotonic() - self._begun
        if self._as_json:
            first = None if self._first is None else round(self._first, 3)
            record(
                {"folder": str(folder), "first_verdict_seconds": first, "seconds": round(seconds, 3)}
            )
            return self._code
        lines(["", *tree(now.registry), "", f"all of it took {duration(seconds)}"])
        lines(_closing(folder))
        return self._code


def _narrated(text: list[str], as_json: bool) -> None:
    for line in () if as_json else text:
        narrate(line)


def _opening(campaign: Campaign, folder: Path, *, again: bool) -> list[str]:
    if again:
        return [f"going on with the demo in {folder}"]
    many = len(campaign.registry.hypotheses)
    return [
        f"{folder}: {many} suspects, as three accounts tell of them; nothing has been run",
        "a repository of the engine is built there, with the commits that the accounts speak of",
    ]


def _said(found: Outcome) -> Iterator[str]:
    """Give a line for each suspect, and the way to all of it."""
    from workbench.report.figures import rate_and_rest

    if found.before:
        yield "known already; nothing was run"
    for run in found.runs:
        for judgement in run.judgements:
            comparison = judgement.comparison
            control, treatment = (
                rate_and_rest(judgement.arms[name], judgement.rates[name])
                for name in (comparison.control, comparison.treatment)
            )
            word = judgement.verdict or "undecided"
            yield f"{comparison.hypothesis} {word}: {control}, and {treatment}"
        if not run.judgements:
            yield f"it fails in {rate_and_rest(run.measured)} of all sessions"


def _closing(folder: Path) -> list[str]:
    there = shlex.quote(str(folder))
    return [
        "",
        f"the ledger: {folder / LEDGER}",
        "next: look at it from inside",
        f"  cd {there}",
        "  workbench show H5       the missing gate, and what its state rests on",
        "  workbench commits       the fix that fixed nothing, and who took it back",
        "  workbench matrix        which run tells which suspects apart",
        "  workbench next          what to test now",
    ]
