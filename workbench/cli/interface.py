"""Verbs that open a campaign for a person to work in: tui, and serve, the same in a browser."""

from __future__ import annotations

import os
import sys

import click

from workbench.cli.arguments import by_option, json_option, writer
from workbench.cli.output import lines, narrate, record
from workbench.errors import UsageError

_TUI = """The campaign in the terminal: tree, runs, commits, matrix and log, while they change.

`?` shows the keys of what is seen, ctrl+p finds everything by name, `/` filters. Runs are processes of
their own: leaving ends none of them, and coming back finds them. What others append shows by itself.

\b
Example:
  workbench tui
  workbench -C ~/garbled-calls tui --by ana
"""

_SERVE = """The same in a browser of this machine. The address holds a key: who has it can start runs.

\b
Example:
  workbench serve
  workbench serve --port 8080
"""

_OPEN = "open it in a browser of this machine; Ctrl-C ends it, and no run"


@click.command("tui", help=_TUI)
@by_option
def tui(by: str | None) -> None:
    """Open the interface."""
    if not _in_a_terminal():
        raise UsageError(
            "the interface needs a terminal",
            hint="workbench status, list and show say the same; workbench serve is for a browser",
        )
    campaign, who = writer(by)
    registry = campaign.registry
    from workbench.tui.app import WorkbenchApp

    WorkbenchApp(registry, who).run()


@click.command("serve", help=_SERVE)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Port on 127.0.0.1.  [default: any free]"
)
@by_option
@json_option
def serve(port: int, by: str | None, as_json: bool) -> None:
    """Serve the interface."""
    campaign, who = writer(by)
    title = campaign.registry.spec.title or "workbench"
    try:
        from workbench.tui.serving import LoopbackServer, command
    except ModuleNotFoundError as error:
        if error.name != "textual_serve":
            raise
        raise UsageError(
            "serving needs textual-serve", hint="pip install 'bisection-workbench[serve]'"
        ) from error
    name = f"{who.name}:agent" if who.agent else who.name
    server = LoopbackServer(command(campaign.root, name), title=title, port=port)

    def tell(url: str) -> None:
        if as_json:
            record({"url": url})
        else:
            lines([url])
        sys.stdout.flush()
        narrate(_OPEN)

    server.run(tell)


def _in_a_terminal() -> bool:
    """Say whether there is a terminal to draw on, or something that stands in for one."""
    driven = bool(os.environ.get("TEXTUAL_DRIVER"))
    return driven or (sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb")
