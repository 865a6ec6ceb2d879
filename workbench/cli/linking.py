"""The verb that puts commits on record: link."""

from __future__ import annotations

from typing import Any, BinaryIO

import click

from workbench.cli.arguments import (
    HYPOTHESIS,
    by_option,
    fields,
    from_option,
    json_option,
    writer,
)
from workbench.cli.output import lines, record
from workbench.model.intervention import Effect, InterventionState, LinkRole

_LINK = """Put on record that a commit belongs to a hypothesis; print the id of each event.

COMMIT is looked up in the repository of the campaign (`repo` in campaign.yaml, else the one around it)
and recorded by its whole id. Whether it is live, reverted or dead, `workbench commits` finds out; what
it did to the symptom only people can say. A change of settings is written KNOB=LEVEL; where it stands
people say, too.

\b
Example:
  workbench link H5 1a2b3c4 --as fix -m 'sizes the mirror by the dtype of the device'
  workbench link H5 1a2b3c4 --effect none -m 'same rate before and after'
  workbench link H4 hicache=off --as mitigation --state live
"""


@click.command("link", help=_LINK)
@click.argument("hypothesis", type=HYPOTHESIS, metavar="ID", required=False)
@click.argument("commit", required=False)
@click.option(
    "--as", "role", type=click.Choice([each.value for each in LinkRole]), help="What it is to it."
)
@click.option("--planned", is_flag=True, help="It is not in the tree yet; --state planned.")
@click.option(
    "--state",
    type=click.Choice([each.value for each in InterventionState]),
    help="Where it stands, where git cannot tell.",
)
@click.option(
    "--effect", type=click.Choice([each.value for each in Effect]), help="What it did to the symptom."
)
@click.option("-m", "--because", metavar="WHY", help="Why, or how that was found.")
@from_option
@by_option
@json_option
def link(planned: bool, origin: BinaryIO | None, by: str | None, as_json: bool, **given: Any) -> None:
    """Append a link, and what became of the commit."""
    from workbench.campaign import linking
    from workbench.campaign.writing import draft

    if planned:
        if given["state"] not in (None, InterventionState.PLANNED):
            raise click.UsageError(f"--planned or --state {given['state']}, not both")
        given["state"] = InterventionState.PLANNED.value
    campaign, who = writer(by)
    said = draft(linking.LinkDraft, fields(origin, given))
    for event in linking.link(campaign, said, who):
        if as_json:
            head = {"id": event.id, "kind": event.kind, "at": event.at.isoformat()}
            commit = getattr(event.body, "commit", "")
            record({**head, "who": str(event.by), "commit": commit})
        else:
            lines([event.id])
