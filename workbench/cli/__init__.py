"""Floor 6: the command line. Data goes to stdout, narration to stderr, and the exit code is an API.

    0 ok   1 the tested claim failed (with --exit-code)   2 usage or invalid file   3 an arm could not
    start   4 inconclusive or not reproduced   5 invalid run   130 interrupted, resumable

One module a verb, imported when it is asked for: `--help` loads click and nothing else.

    options   what verbs share        output    where results and errors go
    display   progress without a terminal       live   progress on one
"""

from __future__ import annotations

import importlib
import sys

import click

from workbench._version import __version__

# verb: module, and the line that the list of commands shows
VERBS = {
    "ab": ("workbench.cli.ab", "Compare two commands that fail sometimes: one honest verdict."),
    "measure": ("workbench.cli.measure", "Measure how often a command fails, and how long it takes."),
    "explain": ("workbench.cli.explain", "Say what a word means, or why a run got its verdict."),
}


class LazyGroup(click.Group):
    """A group whose verbs are imported when they are used, and listed without that."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the verbs in the order of the table."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of one verb."""
        if cmd_name not in VERBS:
            return None
        command = importlib.import_module(VERBS[cmd_name][0]).command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs from the table."""
        with formatter.section("Commands"):
            formatter.write_dl([(verb, line) for verb, (_, line) in VERBS.items()])

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
def cli() -> None:
    """Find the cause of a failure that happens only sometimes, and be able to trust it."""


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
