"""`workbench explain`: what a word means, or why a run got its verdict."""

from __future__ import annotations

import click

_HELP = """Say what a word means, or why a run got its verdict.

RUN is a run's folder, its id, or the beginning of its id; the verdict is computed anew from what was
recorded. Without an argument all words are listed.

\b
Example:
  workbench explain not-reproduced
  workbench explain runs/20261129T151200Z-k3m7q2xa
"""


@click.command("explain", help=_HELP, epilog="Exit codes: 0; 2 neither a word nor a run.")
@click.argument("what", required=False, metavar="[WORD|RUN]")
@click.option("--json", "as_json", is_flag=True, help="JSON, one object a line.")
def command(what: str | None, as_json: bool) -> int:
    """Look the word up, else the run."""
    from workbench.cli.output import lines, record
    from workbench.report import words

    meaning = words.meaning(what) if what else None
    if what is None or meaning is not None:
        found = words.GLOSSARY if what is None else {what: meaning}
        for word, text in found.items() if as_json else ():
            record({"word": word, "meaning": text})
        if not as_json:
            lines(words.listing() if what is None else [f"{what}: {meaning}"])
        return 0
    from workbench.campaign import commands
    from workbench.report.explain import explain
    from workbench.report.record import judgement_record

    snapshot = commands.read(what, hint=words.hint(what))
    for judgement in snapshot.judgements if as_json else ():
        record({**judgement_record(judgement, snapshot), "rule": judgement.rule})
    if not as_json:
        lines(explain(snapshot))
    return 0
