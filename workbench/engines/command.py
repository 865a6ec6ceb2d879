"""The engine that is no engine: a test command, started afresh for every trial.

Starting an arm means finding its command and proving that it can be executed; what the arm runs is
fingerprinted by the digests of that file and, behind an interpreter, of its script.

An arm is one of two things: a command line of its own (`command` among its settings), or the one
command of a campaign (option `argv`) as the arm's knobs turn it. In a campaign, what is read back names
files from the command's folder, so that a campaign which has moved is still the same one.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import platform
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.errors import ArmCouldNotStart
from workbench.model.plan import Arm, Cluster
from workbench.model.run import Fingerprint
from workbench.ports import Endpoint, Engine, Launch, Turn, untouched

COMMAND = "command"  # the knob whose level is an arm's command line
_INTERPRETERS = ("sh", "bash", "dash", "zsh", "python", "perl", "ruby", "node", "env")


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
        self._digests: dict[tuple[Path, int, int, int], str] = {}

    async def start(self, arm: Arm, turn: Turn = untouched) -> Endpoint:
        """Find the arm's command; nothing is started yet."""
        launch = self._launch(arm, turn)
        program = self._find(arm.name, launch.argv[0])
        argv = (str(program), *launch.argv[1:])
        return Endpoint(arm=arm.name, argv=argv, env=launch.env, cwd=str(self._cwd))

    async def fingerprint(self, arm: Arm, turn: Turn = untouched) -> Fingerprint:
        """Say what the arm executes: its command line, and digests of the files behind it."""
        launch = self._launch(arm, turn)
        program = self._find(arm.name, launch.argv[0])
        files = [program, *self._script(program, launch.argv[1:])]
        config = {COMMAND: shlex.join(launch.argv)}
        config |= {f"env {name}": _shown(value) for name, value in launch.env.items()}
        return Fingerprint(
            arm=arm.name,
            config=config if self._argv else config | {"cwd": str(self._cwd)},
            files={self._name(path): self._digest(path) for path in files},
            volatile={"host": platform.node(), "system": platform.platform()},
        )

    async def stop(self) -> None:
        """Nothing stays up between trials."""

    def _launch(self, arm: Arm, turn: Turn) -> Launch:
        return turn(Launch(argv=self._argv or tuple(self._own_argv(arm))))

    def _name(self, path: Path) -> str:
        """Name a file on record: in a campaign from the command's folder, if it lies there."""
        if self._argv and path.is_relative_to(self._cwd):
            return str(path.relative_to(self._cwd))
        return str(path)

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

    def _find(self, arm: str, name: str) -> Path:
        if "/" not in name:
            found = shutil.which(name)
            if found is not None:
                return Path(found)
            here = self._cwd / name
            hint = f"write ./{name} to run the one here" if here.exists() else "is it on the PATH?"
            raise ArmCouldNotStart(arm, f"command not found: {name}", hint=hint)
        path = self._cwd / name
        if not path.exists():
            raise ArmCouldNotStart(arm, f"no such file: {name}", hint=_near(path))
        if path.is_dir():
            raise ArmCouldNotStart(arm, f"is a folder: {name}")
        if not os.access(path, os.X_OK):
            hint = f"chmod +x {shlex.quote(name)}"
            raise ArmCouldNotStart(arm, f"not executable: {name}", hint=hint)
        return path

    def _script(self, program: Path, arguments: Sequence[str]) -> list[Path]:
        """Give the script behind an interpreter: the first argument that is a file and no option.

        Other files named on a command line may be ones that it writes, so they are left alone.
        """
        if not program.name.startswith(_INTERPRETERS):
            return []
        for argument in arguments:
            path = self._cwd / argument
            if not argument.startswith("-") and path.is_file():
                return [path]
        return []

    def _digest(self, path: Path) -> str:
        """Digest a file, anew only when its inode, size or time of change differ."""
        stat = path.stat()
        key = (path, stat.st_ino, stat.st_size, stat.st_mtime_ns)
        if key not in self._digests:
            with path.open("rb") as file:
                self._digests[key] = hashlib.file_digest(file, "sha256").hexdigest()
        return self._digests[key]


def _shown(value: str | None) -> str:
    return "(not set)" if value is None else value


def _near(path: Path) -> str:
    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return f"there is no folder {path.parent}"
    near = difflib.get_close_matches(path.name, names, n=1)
    return f"did you mean {near[0]}?" if near else "check the spelling and the current folder"
