"""The verb that asks git of the commits of a campaign, and of what it has left in the code: commits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from workbench.cli.arguments import HYPOTHESIS, json_option, opened
from workbench.cli.output import lines, narrate, record

if TYPE_CHECKING:
    from workbench.campaign.registry import Campaign
    from workbench.model.commits import History, LeftOvers

_COMMITS = """The commits that hypotheses link, with what git says of each: by content, not by message.

A change is live, reverted or dead: still in the tree although its hypothesis fell. Each comes with who
took it back and how one can tell, the later commits that a checkout of its files would lose, and the
command that takes back this one change alone. Nothing in the repository is changed by looking.

With --check also what is left over: lines tagged `WB-PROBE H5`, and lines that were added since the
first linked commit, or are not committed, and that print, stop, wait or ask for a debug flag.

\b
Example:
  workbench commits
  workbench commits H5 --at v0.3.1 -v
  workbench commits --check --exit-code
"""


@click.command(
    "commits",
    help=_COMMITS,
    epilog="Exit codes: 0; 1 with --exit-code, see there; 2 git cannot be asked.",
)
@click.argument("ids", nargs=-1, type=HYPOTHESIS, metavar="[ID]..")
@click.option("--at", metavar="REV", help="Hold them against that commit.  [default: HEAD]")
@click.option("--check", is_flag=True, help="List left-over probes and debug lines as well.")
@click.option("--since", metavar="REV", help="With --check: lines added after that commit.")
@click.option("--exit-code", is_flag=True, help="Exit with 1 if a change is dead or a line left over.")
@click.option("-v", "--verbose", is_flag=True, help="Every clue, file and commit.")
@json_option
def commits(
    ids: tuple[str, ...],
    at: str | None,
    check: bool,
    since: str | None,
    exit_code: bool,
    verbose: bool,
    as_json: bool,
) -> int:
    """Show the commits."""
    from workbench.campaign import history as asked
    from workbench.report import commits as report

    if since is not None and not check:
        raise click.UsageError("--since is for --check")
    campaign = opened()
    known = [campaign.known(id) for id in ids]
    if at is not None or check or exit_code:  # what was noted is no answer to that
        found = asked.history(campaign, known, at=at)
    else:
        found = asked.history_or_problem(campaign, known)
    left = asked.left_overs(campaign, at=at, since=since) if check else None
    _show(campaign, found, left, known, verbose=verbose, as_json=as_json)
    if not exit_code:
        return 0
    dead = any(row.change.dead for row in report.rows(campaign.registry, found, known))
    return int(dead or bool(left and left.lines))


def _show(
    campaign: Campaign,
    found: History,
    left: LeftOvers | None,
    ids: list[str],
    *,
    verbose: bool,
    as_json: bool,
) -> None:
    from workbench.report import commits as report
    from workbench.report import leftovers
    from workbench.report.commitrecords import commit_records
    from workbench.report.registry import warnings

    if as_json:
        for each in commit_records(campaign.registry, found, ids):
            record(each)
        for each in leftovers.left_over_records(left) if left is not None else ():
            record(each)
    else:
        lines(report.commits(campaign.registry, found, ids, verbose=verbose))
        if left is not None:
            lines(["", *leftovers.left_over(left)])
    if found.problem:
        narrate(f"git cannot be asked: {found.problem}")
    for line in warnings(campaign.registry):
        narrate(line)
