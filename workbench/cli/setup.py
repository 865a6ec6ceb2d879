"""Verbs about the campaign itself: init, doctor, check, schema, verify, completion."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.cli.arguments import RUN, by_option, json_option, opened
from workbench.cli.output import lines, narrate, record
from workbench.report.text import inert

if TYPE_CHECKING:
    from workbench.campaign.setup import Restored

_INIT = """Make a campaign of a folder, by default the current one; print the files written.

What is there stays as it is. The template `command` is ready to run: a script that fails sometimes, a
knob, and a first suspect with its prediction.

\b
Example:
  workbench init my-campaign && cd my-campaign && workbench test H1
"""

_DOCTOR = """Look at everything that a campaign needs, and say what to do about what is wrong.

With --restore it puts back the files that a killed run left changed, byte for byte. A file that
somebody has changed since is left as it is, and is named with its original.

\b
Example:
  workbench doctor
  workbench doctor --restore
"""

_CHECK = """Check every file that people write, and the log: one line for each mistake, with its place.

\b
Example:
  workbench check
"""

_SCHEMA = """Print the JSON Schema of a kind of file, for editors and programs.

\b
Example:
  workbench schema hypothesis > hypothesis.schema.json
"""

_VERIFY = """Recompute every verdict from the runs alone, and hold it against the log.

It names a flipped label, a dropped line, a cut tail, a run that is missing. This is evidence of
tampering or damage, and no protection from it.

\b
Example:
  workbench verify
  workbench verify 20261129T151200Z-k3m7q2xa
"""

_COMPLETION = """Print what a shell needs to complete verbs, options, hypotheses and runs.

\b
Example:
  workbench completion bash >> ~/.bashrc
"""


@click.command("init", help=_INIT)
@click.argument("folder", required=False, type=click.Path(path_type=Path), default=Path())
@click.option(
    "--template", default="command", show_default=True, metavar="NAME", help="What to begin with."
)
@by_option
@json_option
def init(folder: Path, template: str, by: str | None, as_json: bool) -> None:
    """Make a campaign."""
    from workbench.campaign import setup

    written = setup.init(folder, template, by)
    if as_json:
        record({"folder": str(folder), "files": written})
        return
    lines(str(folder / file) for file in written)
    there = "" if folder == Path() else f"cd {folder} && "
    narrate(f"next: {there}workbench plan H1, then workbench test H1")


@click.command("doctor", help=_DOCTOR, epilog="Exit codes: 0 all is well; 2 something is not.")
@click.option("--restore", is_flag=True, help="Put back files that a killed run left changed.")
@json_option
def doctor(restore: bool, as_json: bool) -> int:
    """Look at everything."""
    from workbench.campaign import setup

    if restore:
        return tell_restored(setup.restore(opened().root), as_json)
    ill = False
    for found in setup.doctor(Path.cwd()):
        ill |= not found.ok
        if as_json:
            record({"about": found.about, "ok": found.ok, "what": found.what, "fix": found.fix})
            continue
        lines([f"{'ok ' if found.ok else 'NOT'} {found.about:<10} {inert(found.what)}"])
        if found.fix:
            lines([f"               {inert(found.fix)}"])
    return 2 if ill else 0


def tell_restored(restored: Sequence[Restored], as_json: bool) -> int:
    """Say what became of files that were to be put back; give the exit code."""
    for each in restored:
        if as_json:
            record({"path": each.path, "ok": each.ok, "what": each.what})
        else:
            lines([inert(each.what)])
    if not restored:
        narrate("nothing is to be put back")
    return 0 if all(each.ok for each in restored) else 2


@click.command("check", help=_CHECK, epilog="Exit codes: 0 no mistake; 2 mistakes.")
@json_option
def check(as_json: bool) -> int:
    """Name every mistake."""
    from workbench.campaign import checks

    problems = checks.check(opened())
    for problem in problems:
        if as_json:
            place = {"file": problem.file, "line": problem.line, "column": problem.column}
            record({**place, "what": problem.what, "hint": problem.hint})
        else:
            lines([inert(str(problem))])
    return 2 if problems else 0


@click.command("schema", help=_SCHEMA)
@click.argument("thing")
def schema(thing: str) -> None:
    """Print a schema."""
    from workbench.campaign.checks import json_schema

    lines([json.dumps(json_schema(thing), indent=2)])


@click.command("verify", help=_VERIFY, epilog="Exit codes: 0 all agrees; 1 something differs.")
@click.argument("run", required=False, type=RUN)
@json_option
def verify(run: str | None, as_json: bool) -> int:
    """Recompute and compare."""
    from workbench.campaign import checks

    looked, wrong = 0, 0
    for name, differences in checks.verify(opened(), run):
        looked += 1
        wrong += bool(differences)
        if as_json:
            record({"what": name, "ok": not differences, "differences": list(differences)})
        else:
            lines(f"{name}: {inert(difference)}" for difference in differences)
    narrate(f"{looked - wrong} of {looked} agree with what is on record")
    return 1 if wrong else 0


@click.command("completion", help=_COMPLETION)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a completion script."""
    from click.shell_completion import get_completion_class

    from workbench.cli import cli

    script = get_completion_class(shell)
    assert script is not None
    lines([script(cli, {}, "workbench", "_WORKBENCH_COMPLETE").source()])
