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
def command(what: str | None) -> int:
    """Look the word up, else the run."""
    from workbench.cli.output import lines
    from workbench.report import words

    if what is None:
        lines(words.listing())
        return 0
    meaning = words.meaning(what)
    if meaning is not None:
        lines([f"{what}: {meaning}"])
        return 0
    from workbench.campaign import commands
    from workbench.report.explain import explain

    lines(explain(commands.read(what, hint=words.hint(what))))
    return 0
