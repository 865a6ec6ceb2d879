"""The engine that is no engine: a test command, started afresh for every trial.

Starting an arm means finding its command and proving that it can be executed; what the arm runs is
fingerprinted by the digests of that file and, behind an interpreter, of its script.

An arm is one of two things: a command line of its own (`command` among its settings), or the one
command of a campaign (option `argv`) as the arm's knobs turn it. In a campaign, what is read back names
files from the command's folder, so that a campaign which has moved is still the same one.
"""

from __future__ import annotations

import platform
import shlex
from dataclasses import dataclass
from pathlib import Path

from workbench.engines.files import Files
from workbench.errors import ArmCouldNotStart
from workbench.model.plan import Arm, Cluster
from workbench.model.run import Fingerprint
from workbench.ports import Endpoint, Engine, Launch, Turn, untouched

COMMAND = "command"  # the knob whose level is an arm's command line


@dataclass(frozen=True, kw_only=True)
class CommandEngineOptions:
    """Options of the engine.

    Attributes:
        argv: The command that all arms share, word by word; empty if each arm states its own.
        cwd: Folder in which the commands run; None for the current one.
    """

    argv: tuple[str, ...] = ()
    cwd: str | None = None

    def __post_init__(self) -> None:
        if any("\0" in word for word in self.argv):
            raise ValueError("argv holds a NUL byte")
        if self.argv and not self.argv[0]:
            raise ValueError("argv begins with an empty word; it must name a command")


class CommandEngine(Engine):
    """Lifecycle `command`: each trial is a start of its own."""

    Options = CommandEngineOptions
    cluster = Cluster.TRIAL

    def __init__(self, options: CommandEngineOptions) -> None:
        self._argv = options.argv
        self._cwd = Path(options.cwd) if options.cwd else Path.cwd()
        self._files = Files(self._cwd, relative=bool(options.argv))

    async def start(self, arm: Arm, turn: Turn = untouched) -> Endpoint:
        """Find the arm's command; nothing is started yet."""
        launch = self._launch(arm, turn)
        argv = _filled(launch)
        program = self._files.program(arm.name, argv[0], folder=self._folder(launch))
        env = {name: _fill(value, launch) for name, value in launch.env.items()}
        return Endpoint(
            arm=arm.name, argv=(str(program), *argv[1:]), env=env, cwd=str(self._folder(launch))
        )

    async def fingerprint(self, arm: Arm, turn: Turn = untouched) -> Fingerprint:
        """Say what the arm executes: its command line, and digests of the files behind it."""
        launch = self._launch(arm, turn)
        argv, folder = _filled(launch), self._folder(launch)
        program = self._files.program(arm.name, argv[0], folder=folder)
        files = [program, *self._files.script(program, argv[1:], folder=folder)]
        config = {COMMAND: shlex.join(launch.argv)}
        config |= {f"env {name}": _shown(value) for name, value in launch.env.items()}
        return Fingerprint(
            arm=arm.name,
            config=config if self._argv else config | {"cwd": str(self._cwd)},
            files=self._files.digests(files, launch.place),
            volatile={"host": platform.node(), "system": platform.platform()},
        )

    async def stop(self) -> None:
        """Nothing stays up between trials."""

    def _launch(self, arm: Arm, turn: Turn) -> Launch:
        return turn(Launch(argv=self._argv or tuple(self._own_argv(arm)), cwd=str(self._cwd)))

    def _folder(self, launch: Launch) -> Path:
        return Path(launch.cwd or self._cwd)

    def _own_argv(self, arm: Arm) -> list[str]:
        line = arm.settings.get(COMMAND, "")
        try:
            argv = shlex.split(line)
        except ValueError as error:
            raise ArmCouldNotStart(
                arm.name, f"cannot split {line!r}: {error}", hint="mind the quotes"
            ) from error
        if not argv or not argv[0]:
            raise ArmCouldNotStart(arm.name, "its command is empty", hint="give a command to run")
        if "\0" in line:
            raise ArmCouldNotStart(arm.name, "its command holds a NUL byte")
        return argv


def _filled(launch: Launch) -> list[str]:
    return [launch.place.fill(word) if launch.place else word for word in launch.argv]


def _fill(value: str | None, launch: Launch) -> str | None:
    return launch.place.fill(value) if launch.place and value else value


def _shown(value: str | None) -> str:
    return "(not set)" if value is None else value
