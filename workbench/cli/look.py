"""Verbs that look at a campaign and change nothing: status, list, tree, show, runs, log, export."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.cli.arguments import HYPOTHESIS, json_option, opened
from workbench.cli.output import lines, narrate, record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.campaign.registry import Campaign
    from workbench.model.commits import History
    from workbench.model.registry import Registry

_STATUS = """The campaign on one screen: symptoms, where the suspects stand, what to do next.

With --since, what is new instead: states that changed, and what was put on record since a time, an
event or a run.

\b
Example:
  workbench status
  workbench status --since 3h
  workbench status --since 20261129T151200Z-k3m7q2xa
"""

_LIST = """List the hypotheses: id, state, grade, counts with intervals, title.

A file with mistakes hides no other; that there are some is said on stderr.

\b
Example:
  workbench list
  workbench list --json | jq -r 'select(.state == "open").id'
"""

_TREE = """Draw the falsification tree: symptoms, suspects under their parents, each with its state.

\b
Example:
  workbench tree
"""

_SHOW = """All about one hypothesis: prediction, test, evidence, rulings, runs, and why it stands so.

\b
Example:
  workbench show H5
"""

_RUNS = """List the runs, oldest first: state, what they serve, counts.

\b
Example:
  workbench runs
"""

_LOG = """Who did or found what, and when; all of it, or what is about one hypothesis or run.

\b
Example:
  workbench log H5
  workbench log -f
"""

_EXPORT = """Write the ledger: what is known and how well, who decided what and why, what is open.

The same campaign always gives the same bytes, so that --check can tell in CI that a copy is stale.

\b
Example:
  workbench export -o LEDGER.md
  workbench export --check -o LEDGER.md
"""

_FOLLOW_EVERY = 0.25  # seconds between two looks at a log that is followed


@click.command("status", help=_STATUS)
@click.option("--since", "then", metavar="T", help="What is new since a time, an event or a run.")
@json_option
def status(then: str | None, as_json: bool) -> None:
    """Show the campaign."""
    from workbench.report import status as report

    campaign = opened()
    registry = campaign.registry
    if then is not None:
        _since(campaign, then, as_json)
    elif as_json:
        record(report.status_record(registry))
    else:
        lines(report.status(registry))


def _since(campaign: Campaign, then: str, as_json: bool) -> None:
    from workbench.campaign.since import seen_by
    from workbench.report import since as report

    seen = seen_by(campaign, then)
    if as_json:
        record(report.since_record(campaign.registry, seen))
    else:
        lines(report.since(campaign.registry, seen))


@click.command("list", help=_LIST)
@json_option
def list_suspects(as_json: bool) -> None:
    """List the hypotheses."""
    from workbench.report import registry as report

    registry = opened().registry
    if as_json:
        for each in report.hypothesis_records(registry):
            record(each)
    else:
        lines(report.hypotheses(registry))
    _warn(registry)


@click.command("tree", help=_TREE)
@click.option("--mermaid", is_flag=True, help="As a Mermaid flow chart.")
@json_option
def tree(mermaid: bool, as_json: bool) -> None:
    """Draw the tree."""
    from workbench.report import tree as report

    registry = opened().registry
    if as_json:
        for each in report.tree_records(registry):
            record(each)
    else:
        lines(report.mermaid(registry) if mermaid else report.tree(registry))
    _warn(registry)


@click.command("show", help=_SHOW)
@click.argument("id", type=HYPOTHESIS)
@click.option(
    "--failures", is_flag=True, help="What was not clean in its runs, with the first replies."
)
@json_option
def show(id: str, failures: bool, as_json: bool) -> None:
    """Show a hypothesis."""
    from workbench.report import show as report

    campaign = opened()
    campaign.known(id)
    git = _history(campaign, [id])
    if as_json:
        record(report.show_record(campaign.registry, id, git))
    else:
        lines(report.show(campaign.registry, id, git))
    if failures:
        from workbench.campaign.failures import failures_of
        from workbench.report.failures import failure_record
        from workbench.report.failures import failures as failure_lines

        found = failures_of(campaign, id)
        if as_json:
            for each in found:
                record(failure_record(each))
        else:
            lines(failure_lines(found))


@click.command("runs", help=_RUNS)
@json_option
def runs(as_json: bool) -> None:
    """List the runs."""
    from workbench.report import registry as report

    registry = opened().registry
    if as_json:
        for each in report.run_records(registry):
            record(each)
    else:
        lines(report.runs(registry))


@click.command("log", help=_LOG)
@click.argument("about", required=False, default="", metavar="[ID]")
@click.option("-f", "--follow", is_flag=True, help="Go on as events come in, until Ctrl-C.")
@json_option
def log(about: str, follow: bool, as_json: bool) -> None:
    """Show the log."""
    from workbench.report import log as report

    campaign = opened()
    about = campaign.named(about) if about else ""
    shown: set[str] = set()
    last = None
    while True:
        # the same object as long as nothing was added
        if (now := campaign.journal.read()) is last:
            time.sleep(_FOLLOW_EVERY)
            continue
        last = now
        fresh = [event for event in now.events if event.digest not in shown]
        shown.update(event.digest for event in fresh)
        if as_json:
            for each in report.log_records(fresh, about):
                record(each)
        else:
            lines(report.log(fresh, about))
        if not follow:
            return


@click.command("export", help=_EXPORT, epilog="Exit codes: 0; 1 the copy is stale (with --check).")
@click.option(
    "--format", "kind", type=click.Choice(["md", "json"]), default="md", show_default=True, help="Form."
)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write it there.")
@click.option("--check", is_flag=True, help="Write nothing; say whether FILE is what would be written.")
@click.option(
    "--commits", is_flag=True, help="With what git says of linked commits, at what is checked out."
)
def export(kind: str, output: Path | None, check: bool, commits: bool) -> int:
    """Write the ledger."""
    from workbench.campaign.exporting import cleared, same, save
    from workbench.report.ledger import ledger, ledger_record

    if check and output is None:
        raise click.UsageError("--check what? name the copy with -o FILE")
    campaign = opened()
    registry = campaign.registry
    history = _history(campaign) if commits else None
    if kind == "json":
        text = json.dumps(cleared(ledger_record(registry, history)), indent=2) + "\n"
    else:
        text = cleared(ledger(registry, history))
    if output is None:
        click.echo(text, nl=False)
        return 0
    if check:
        fresh = same(output, text)
        narrate(f"{output} is {'up to date' if fresh else 'stale: workbench export -o ' + str(output)}")
        return 0 if fresh else 1
    save(output, text)
    narrate(f"written: {output}")
    return 0


def _history(campaign: Campaign, ids: Sequence[str] = ()) -> History | None:
    """Ask git of linked commits; where there are none, git is not even loaded."""
    from workbench.judge.interventions import named

    if not named(campaign.registry, ids):
        return None
    from workbench.campaign.history import history_or_problem

    return history_or_problem(campaign, ids)


def _warn(registry: Registry) -> None:
    from workbench.report.registry import warnings

    for line in warnings(registry):
        narrate(line)
