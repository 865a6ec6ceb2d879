"""Options that several verbs share, and the types that they are read with."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, time
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from workbench.model.prediction import Prediction

# options of `command_options` that say what is tested, named as the fields of a request are
REQUEST_OPTIONS = ("in_flight", "timeout", "hit_exit", "hit_regex", "seed", "keep_texts")
_Command = TypeVar("_Command", bound=Callable[..., Any])
_UNITS = {"": 1.0, "s": 1.0, "ms": 0.001, "m": 60.0, "min": 60.0, "h": 3600.0}
_RESERVED = (125, 126, 127)
HERE = ""  # what --resume stands for when it is given without a run: the folder of -o


class Duration(click.ParamType[float]):
    """A positive duration such as 90, 90s, 1.5m or 2h; seconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read a duration."""
        if isinstance(value, float):
            return value
        match = re.fullmatch(r"([0-9]*\.?[0-9]+)\s*(ms|s|m|min|h)?", str(value))
        seconds = float(match[1]) * _UNITS[match[2] or ""] if match else 0.0
        if seconds <= 0:
            self.fail(f"{value!r} is no duration; write 90s, 1.5m or 2h", param, ctx)
        return seconds


class ClockType(click.ParamType[float]):
    """A time of day, `04:30`, local: the seconds until it comes next."""

    name = "HH:MM"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read a time of day."""
        if isinstance(value, float):
            return value
        now = datetime.now().astimezone()
        try:
            asked = time.fromisoformat(str(value))
        except ValueError:
            self.fail(f"{value!r} is no time of day; write 04:30", param, ctx)
        then = now.replace(hour=asked.hour, minute=asked.minute, second=asked.second, microsecond=0)
        return (then - now).total_seconds() % 86400


class LoadsType(click.ParamType[tuple[int, ...]]):
    """Numbers in flight, 1,4,16,60."""

    name = "N,N,.."

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        """Read numbers."""
        if isinstance(value, tuple):
            return value
        words = str(value).split(",")
        if not all(word.isdecimal() and 1 <= int(word) <= 1024 for word in words):
            self.fail(f"{value!r} is no list of numbers from 1 to 1024; write 1,4,16", param, ctx)
        return tuple(map(int, words))


class PredictionType(click.ParamType[Prediction]):
    """A prediction: C:T, C:removes or removes."""

    name = "C:T"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Prediction:
        """Read a prediction."""
        if isinstance(value, Prediction):
            return value
        try:
            return Prediction.parse(value)
        except ValueError as error:
            self.fail(f"{error}; write 0.17:0, 0.17:0.05, 0.17:removes or removes", param, ctx)


class ExitCodeType(click.IntRange):
    """An exit code that can be the symptom."""

    name = "N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read an exit code."""
        code = super().convert(value, param, ctx)
        if code in _RESERVED:
            self.fail("125 means skip, 126 and 127 that the arm could not start", param, ctx)
        return code


def command_options(function: _Command) -> _Command:
    """Add the options of verbs that execute test commands."""
    for option in reversed(
        [
            click.option(
                "-j",
                "--in-flight",
                type=click.IntRange(1, 1024),
                default=1,
                show_default=True,
                help="Trials at the same time.",
            ),
            click.option(
                "--timeout",
                type=Duration(),
                default=600.0,
                metavar="TIME",
                help="End a trial after this time; it is errored, not clean.  [default: 10m]",
            ),
            click.option(
                "--hit-exit",
                type=ExitCodeType(1, 255),
                multiple=True,
                metavar="N",
                help="Only this exit code is the symptom; may be repeated. 128 + n for a signal n.",
            ),
            click.option(
                "--hit",
                "hit_regex",
                metavar="REGEX",
                help="Only failures whose output matches are the symptom.",
            ),
            click.option("--seed", type=click.IntRange(0, 2**31 - 1), help="Repeat a run's choices."),
            click.option(
                "-o",
                "--output",
                type=click.Path(path_type=Path),
                metavar="DIR",
                help="Folder to keep the run in.  [default: a new one in runs/]",
            ),
            click.option(
                "--resume",
                is_flag=False,
                flag_value=HERE,
                metavar="[RUN]",
                help="Go on with a run that was stopped or killed: a folder, an id, or that of -o.",
            ),
            click.option(
                "--keep-texts",
                type=click.Choice(["all", "failing", "none"]),
                default="failing",
                show_default=True,
                help="Whose output to keep.",
            ),
        ]
    ):
        function = option(function)
    return function


def given(ctx: click.Context, names: tuple[str, ...]) -> dict[str, Any]:
    """Give those of the named options that stand on the command line, and leave out the defaults."""
    return {
        name: ctx.params[name]
        for name in names
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }


def output_options(function: _Command) -> _Command:
    """Add the options that say how a result is shown."""
    display = click.option(
        "--display",
        type=click.Choice(["auto", "rich", "plain", "json", "none"]),
        default="auto",
        show_default=True,
        help="Progress on stderr; auto is rich on a terminal, else plain.",
    )
    as_json = click.option("--json", "as_json", is_flag=True, help="End with one line of JSON.")
    return display(as_json(function))
