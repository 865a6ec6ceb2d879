"""Floor 6: the command line. Data goes to stdout, narration to stderr, and the exit code is an API.

    0 ok   1 the tested claim failed (with --exit-code)   2 usage or invalid file   3 an arm could not
    start   4 inconclusive or not reproduced   5 invalid run   130 interrupted, resumable

Modules of verbs are imported when one of theirs is asked for: `--help` loads click and nothing else.

    ab, measure, demo, explain      no campaign needed
    setup, suspects, running        a campaign: begin it, add suspects, test them
    look, lookback, commits         see where it stands; look at old runs; ask git
    writing, linking                put words and commits on record
    reasoning                       what the record says of all suspects together
    interface                       the terminal interface, also in a browser

    options, arguments   what verbs share       output   where results and errors go
    display   progress without a terminal       live     progress on one
"""

from __future__ import annotations

import importlib
import os
import sys

import click

from workbench._version import __version__

# section, then verb: module, attribute, and the line that the list of commands shows
SECTIONS = {
    "No campaign needed": {
        "ab": ("ab", "command", "Compare two commands that fail sometimes: one honest verdict."),
        "measure": ("measure", "command", "Measure how often a command fails, and how long it takes."),
        "demo": ("demo", "command", "A whole campaign on a miniature engine, in minutes."),
        "explain": ("explain", "command", "Say what a word means, or why a run got its verdict."),
    },
    "Work in a campaign": {
        "tui": ("interface", "tui", "The campaign in the terminal, while it changes."),
        "serve": ("interface", "serve", "The same in a browser of this machine."),
    },
    "Begin a campaign": {
        "init": ("setup", "init", "Make a campaign of a folder, ready to run."),
        "new": ("suspects", "new", "Add a hypothesis."),
        "edit": ("suspects", "edit", "Open a hypothesis in your editor, and check it."),
        "check": ("setup", "check", "Name every mistake in the files, with its place."),
        "doctor": ("setup", "doctor", "Look at everything that a campaign needs."),
    },
    "Test suspects": {
        "plan": ("running", "plan", "Say what a test will cost and can see."),
        "next": ("reasoning", "following", "Which test would tell most a minute."),
        "test": ("running", "test", "Run the test of hypotheses; a verdict each."),
        "stop": ("running", "stop", "Save and end a run that is going on."),
    },
    "Look": {
        "status": ("look", "status", "The campaign on one screen."),
        "list": ("look", "list_suspects", "List the hypotheses with state, counts and grade."),
        "tree": ("look", "tree", "The falsification tree."),
        "matrix": ("reasoning", "matrix", "Evidence against suspects; does any A/B tell them apart?"),
        "show": ("look", "show", "All about one hypothesis, and why it stands as it does."),
        "runs": ("look", "runs", "List the runs."),
        "log": ("look", "log", "Who did or found what, and when."),
        "commits": (
            "commits",
            "commits",
            "Linked commits: live, reverted or dead; what was left over.",
        ),
        "compare": ("lookback", "compare", "Two runs side by side; nothing of them is pooled."),
        "relabel": ("lookback", "relabel", "Label a run's stored replies again; its verdict stands."),
    },
    "Put on record": {
        "note": ("writing", "note", "Something worth remembering."),
        "evidence": ("writing", "evidence", "What was read, argued or seen, for or against."),
        "link": ("linking", "link", "A commit that causes, fixes, guards, instruments or reverts."),
        "import": ("writing", "bring_in", "An A/B that was done by hand, judged by its counts."),
        "rule": ("writing", "rule", "A decision: strike evidence, set a role, replace a suspect."),
        "reopen": ("writing", "reopen", "Ask for a suspect to be looked at again."),
        "claim": ("writing", "claim", "Say that you work on a suspect, for a time."),
    },
    "Share": {
        "export": ("look", "export", "Write the ledger, as Markdown or JSON."),
        "verify": ("setup", "verify", "Recompute every verdict from the runs alone."),
        "renumber": ("suspects", "renumber", "Mend two files that came with one id."),
        "schema": ("setup", "schema", "Print the JSON Schema of a kind of file."),
        "completion": ("setup", "completion", "Complete verbs and ids in your shell."),
    },
}
VERBS = {verb: entry for verbs in SECTIONS.values() for verb, entry in verbs.items()}


class LazyGroup(click.Group):
    """A group whose verbs are imported when they are used, and listed without that."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the verbs in the order of the table."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of one verb."""
        if cmd_name not in VERBS:
            return None
        module, attribute, _ = VERBS[cmd_name]
        command = getattr(importlib.import_module(f"workbench.cli.{module}"), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs from the table."""
        for title, verbs in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(verb, line) for verb, (_, _, line) in verbs.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb, and name the nearest one when there is none."""
        verb = args[0] if args else ""
        if verb and verb not in VERBS and not verb.startswith("-"):
            import difflib

            near = difflib.get_close_matches(verb, VERBS, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"Commands: {', '.join(VERBS)}."
            ctx.fail(f"There is no command {verb!r}. {hint}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: workbench ab --control './test.sh --cache on' --treatment './test.sh --cache off'",
)
@click.version_option(__version__, prog_name="workbench")
@click.option("-C", "folder", metavar="DIR", help="Work as if begun in this folder.")
def cli(folder: str | None) -> None:
    """Find the cause of a failure that happens only sometimes, and be able to trust it."""
    if folder is not None:
        try:
            os.chdir(folder)
        except OSError as error:
            raise click.UsageError(f"-C {folder}: {error.strerror}") from error


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit; the one place where errors become exit codes."""
    try:
        sys.exit(cli.main(args=arguments, prog_name="workbench", standalone_mode=False) or 0)
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    except BrokenPipeError:
        # the reader of our output has gone; leave without a second error at shutdown
        sys.stdout = None
        sys.exit(141)
    except Exception as error:  # noqa: BLE001 - the last stop: every error gets its exit code
        from workbench.cli.output import failed

        sys.exit(failed(error))
