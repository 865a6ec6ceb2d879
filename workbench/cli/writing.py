"""Verbs that put on record what people say or did: note, evidence, import, rule, reopen, claim.

Each prints the id of what it wrote.
"""

from __future__ import annotations

from typing import Any, BinaryIO

import click

from workbench.cli.arguments import (
    HYPOTHESIS,
    RUN,
    SETTINGS,
    because_option,
    by_option,
    fields,
    from_option,
    json_option,
    writer,
)
from workbench.cli.options import Duration
from workbench.cli.output import lines, narrate, record
from workbench.model.event import Bearing, Claim, Event, Grade, Per, Role

_NOTE = """Put a note on record; print its id.

\b
Example:
  workbench note 'restarted the prefill node by hand' --about H5
"""

_EVIDENCE = """Put evidence on record; print its id.

It has a grade: `argued` for words, `read` for a place in code (--code), `observed` for what was seen
in a run (--run). Words count only as long as no run has spoken.

\b
Example:
  workbench evidence H5 --against --code 1a2b3c4:mem/pool.py:920 -m 'the gate is called here'
  workbench evidence --bears H1=for,H5=neutral -m 'no failure in 40 sessions with the cache off'
"""

_IMPORT = """Put an A/B on record that was done by hand or elsewhere; print the id of its evidence.

FILE is YAML or JSON with `counts` and whatever else is not on the command line. The counts are judged
as those of a run would be, so nobody says how they bear. They are worth a comparison at most, since
nobody read back what was running, and never part of what confirms a cause.

Counts are of sessions, control first. Give them once for each start of both arms, if you know them
apart. Figures of responses (--per response) are shown and not judged: those of a session fail together.

\b
Example:
  workbench import H5 --counts 21/60:0/60 --source 'the A/B of Monday, notes page 3'
  workbench import H5 monday.yaml
\b
monday.yaml:
  control: {cache: "on"}
  treatment: {cache: "off"}
  counts: [10/30:0/30, {control: {hit: 11, clean: 18, errored: 1}, treatment: 0/30}]
  source: the A/B of Monday
"""

_RULE = """Put a ruling on record; print its id.

A ruling strikes evidence, sets a role, or names what replaces a hypothesis. It adds no evidence and
confirms nothing: only runs do.

\b
Example:
  workbench rule H5 --strike E-k3m7 --because 'the line quoted is of another branch'
  workbench rule H5 --replaced-by H9 --because 'H9 says the same, sharper'
"""

_REOPEN = """Ask for a hypothesis to be looked at again; its evidence and state stay as they are.

\b
Example:
  workbench reopen H1 --because 'heavy load garbles with the gate too'
"""


_CLAIM = """Say that you work on a suspect for a time; print the id of what was put on record.

Nobody else can claim it meanwhile; `status` and `next` say who has it, and `test` says so to others. It
is a word between colleagues and no lock. Claim it again to have it longer, or give it up.

\b
Example:
  workbench claim H5
  workbench claim H5 --for 8h --by bot7:agent
  workbench claim H5 --release
"""


class BearsType(click.ParamType[dict[str, str]]):
    """What evidence bears on: `H1=against,H5=neutral`."""

    name = "ID=BEARING,..."

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, str]:
        """Read bearings."""
        if isinstance(value, dict):
            return value
        bears: dict[str, str] = {}
        for part in str(value).split(","):
            id, _, bearing = part.strip().partition("=")
            if bearing not in list(Bearing):
                self.fail(f"{part!r} is not ID=for, ID=against or ID=neutral", param, ctx)
            bears[id.upper()] = bearing
        return bears


@click.command("note", help=_NOTE)
@click.argument("text", required=False)
@click.option("--about", multiple=True, metavar="ID", help="Hypothesis or run; may be repeated.")
@from_option
@by_option
@json_option
def note(origin: BinaryIO | None, by: str | None, as_json: bool, **given: Any) -> None:
    """Append a note."""
    from workbench.campaign import writing

    campaign, who = writer(by)
    said = writing.draft(writing.NoteDraft, fields(origin, given))
    _written(writing.note(campaign, said, who), as_json)


@click.command("evidence", help=_EVIDENCE)
@click.argument("ids", nargs=-1, type=HYPOTHESIS)
@click.option("--for", "bearing", flag_value="for", help="It speaks for the hypotheses named.")
@click.option("--against", "bearing", flag_value="against", help="It speaks against them.")
@click.option("--neutral", "bearing", flag_value="neutral", help="It fits, and fits others as well.")
@click.option("--bears", type=BearsType(), help="Where it bears differently: H1=for,H5=neutral.")
@click.option("-m", "--text", metavar="TEXT", help="What it says.")
@click.option("--source", metavar="TEXT", help="Where it is from, when neither code nor a run here.")
@click.option("--code", metavar="COMMIT:PATH:LINE", help="Where it was read.")
@click.option("--run", type=RUN, help="The run that it was seen in.")
@click.option(
    "--grade", type=click.Choice([grade.value for grade in Grade]), help="Where the source tells less."
)
@from_option
@by_option
@json_option
def evidence(
    ids: tuple[str, ...],
    bearing: str | None,
    bears: dict[str, str] | None,
    origin: BinaryIO | None,
    by: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Append an item of evidence."""
    from workbench.campaign import writing

    if ids and bearing is None:
        raise click.UsageError("say how it bears on them: --for, --against or --neutral")
    if bearing is not None and not ids:
        raise click.UsageError(f"--{bearing} what? name hypotheses")
    campaign, who = writer(by)
    given["bears"] = dict.fromkeys(ids, bearing) | (bears or {})
    said = writing.draft(writing.EvidenceDraft, fields(origin, given))
    _written(writing.evidence(campaign, said, who), as_json)


@click.command("import", help=_IMPORT)
@click.argument("hypothesis", type=HYPOTHESIS)
@click.argument("origin", type=click.File("rb"), required=False, metavar="[FILE]")
@click.option("--counts", multiple=True, metavar="K/N:K/N", help="Hits of sessions; may be repeated.")
@click.option("--control", type=SETTINGS, help="The suspect as found.  [default: as in its test]")
@click.option("--treatment", type=SETTINGS, help="The suspect removed.  [default: as in its test]")
@click.option("--per", type=click.Choice([each.value for each in Per]), help="What was counted.")
@click.option("--source", metavar="TEXT", help="Where the counts are from.")
@click.option("-m", "--text", metavar="TEXT", help="What else is to be said.")
@by_option
@json_option
def bring_in(origin: BinaryIO | None, by: str | None, as_json: bool, **given: Any) -> None:
    """Append an A/B done by hand."""
    from workbench.campaign import importing, writing
    from workbench.report import imported

    campaign, who = writer(by)
    said = writing.draft(importing.ImportDraft, fields(origin, given))
    event = importing.bring_in(campaign, said, who)
    if as_json:
        record({**_head(event), **imported.imported_record(event)})
        return
    lines([event.id])
    for line in imported.imported(event):
        narrate(line)


@click.command("rule", help=_RULE)
@click.argument("hypothesis", type=HYPOTHESIS, required=False)
@click.option("--strike", multiple=True, metavar="E-xxxx", help="Evidence that no longer counts.")
@click.option(
    "--role", type=click.Choice([role.value for role in Role]), help="Its part in the failure."
)
@click.option("--replaced-by", type=HYPOTHESIS, help="What takes its place.")
@because_option
@from_option
@by_option
@json_option
def rule(origin: BinaryIO | None, by: str | None, as_json: bool, **given: Any) -> None:
    """Append a ruling."""
    from workbench.campaign import writing

    campaign, who = writer(by)
    said = writing.draft(writing.RulingDraft, fields(origin, given))
    _written(writing.rule(campaign, said, who), as_json)


@click.command("reopen", help=_REOPEN)
@click.argument("hypothesis", type=HYPOTHESIS, required=False)
@because_option
@from_option
@by_option
@json_option
def reopen(origin: BinaryIO | None, by: str | None, as_json: bool, **given: Any) -> None:
    """Append that a hypothesis is to be looked at again."""
    from workbench.campaign import writing

    campaign, who = writer(by)
    said = writing.draft(writing.ReopeningDraft, fields(origin, given))
    _written(writing.reopen(campaign, said, who), as_json)


@click.command("claim", help=_CLAIM)
@click.argument("hypothesis", type=HYPOTHESIS)
@click.option("--for", "seconds", type=Duration(), metavar="TIME", help="How long.  [default: 2h]")
@click.option("--release", is_flag=True, help="Give it up instead.")
@by_option
@json_option
def claim(hypothesis: str, seconds: float | None, release: bool, by: str | None, as_json: bool) -> None:
    """Append a claim."""
    from workbench.campaign import claiming
    from workbench.report.log import happened
    from workbench.report.text import inert

    if release and seconds is not None:
        raise click.UsageError("--release is at once: leave --for out")
    campaign, who = writer(by)
    event = claiming.claim(campaign, hypothesis, who, seconds or claiming.USUAL, release=release)
    if as_json and isinstance(event.body, Claim):
        until = event.body.until.isoformat()
        record({**_head(event), "hypothesis": event.body.hypothesis, "until": until})
    else:
        lines([event.id])
        narrate(inert(f"{who} {happened(event)}"))


def _written(event: Event, as_json: bool) -> None:
    if as_json:
        record(_head(event))
    else:
        lines([event.id])


def _head(event: Event) -> dict[str, Any]:
    return {"id": event.id, "kind": event.kind, "at": event.at.isoformat(), "who": str(event.by)}
