"""Arguments and options of the verbs that work in a campaign; ids complete themselves in a shell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from workbench.campaign.registry import Campaign
    from workbench.model.event import Actor

Offered = Iterable[tuple[str, str]]


class HypothesisType(click.ParamType[str]):
    """A hypothesis by its id."""

    name = "ID"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Read an id, in whatever case; whether there is such a one is the campaign's to say."""
        return str(value).upper()

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Offer the ids of the campaign with their titles."""

        def offered(campaign: Campaign) -> Offered:
            for file in campaign.files.files:
                yield file.id, file.hypothesis.title if file.hypothesis else ""

        return _offer(incomplete.upper(), offered)


class RunType(click.ParamType[str]):
    """A run by its folder, its id, or the start of one."""

    name = "RUN"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Take it as it is; what goes by that name is looked up in the campaign."""
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Offer the runs of the campaign with what they serve, the newest first."""

        def offered(campaign: Campaign) -> Offered:
            for line in reversed(campaign.run_lines):
                yield line.id, " ".join((line.command, *line.hypotheses))

        return _offer(incomplete, offered)


class SettingsType(click.ParamType[dict[str, str]]):
    """Settings: `knob=level`, several separated by commas."""

    name = "KNOB=LEVEL,..."

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, str]:
        """Read settings; whether there are such knobs is the campaign's to say."""
        if isinstance(value, dict):
            return value
        settings: dict[str, str] = {}
        for part in str(value).split(","):
            knob, equals, level = part.partition("=")
            if not equals or not knob.strip():
                self.fail(f"{part!r} is no setting; write knob=level,knob=level", param, ctx)
            settings[knob.strip()] = level.strip()
        return settings


HYPOTHESIS, RUN, SETTINGS = HypothesisType(), RunType(), SettingsType()

json_option = click.option("--json", "as_json", is_flag=True, help="JSON, one object a line.")
by_option = click.option(
    "--by",
    metavar="NAME[:agent]",
    help="Who does it.  [default: $WORKBENCH_ACTOR, else git's user]",
)
from_option = click.option(
    "--from",
    "origin",
    type=click.File("rb"),
    metavar="FILE",
    help="Read what is not on the command line from YAML in a file, or from standard input with -.",
)
because_option = click.option(
    "--because", metavar="TEXT", help="The reason, for whoever asks half a year later."
)


def opened() -> Campaign:
    """Open the campaign that the current folder lies in."""
    from workbench.campaign.registry import Campaign

    return Campaign.find()


def writer(by: str | None) -> tuple[Campaign, Actor]:
    """Open the campaign, and say who writes to it."""
    from workbench.campaign.actors import actor

    campaign = opened()
    return campaign, actor(by, campaign.root)


def fields(origin: BinaryIO | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """Give the fields of a draft: what `--from` holds, with the command line laid over it."""
    from workbench.campaign.writing import fields_of

    text = (origin.read(), origin.name) if origin is not None else None
    return fields_of(text, given)


def _offer(incomplete: str, names: Callable[[Campaign], Offered]) -> list[CompletionItem]:
    try:
        offered = list(names(opened()))
    except Exception:  # noqa: BLE001 - a shell that asks for words must never be given a traceback
        return []
    return [CompletionItem(name, help=help) for name, help in offered if name.startswith(incomplete)]
