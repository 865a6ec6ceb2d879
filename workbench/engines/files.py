"""The files that an arm runs: which program a word names, which script is behind it, what is in them.

    files = Files(folder)
    program = files.program("control", "./serve.sh")
    files.digests([program, *files.script(program, arguments)])    # by name, as it goes on record

A digest is read anew only when inode, size or time of change differ, so that arms can be read back
before and after each start.
"""

from __future__ import annotations

import difflib
import glob
import hashlib
import os
import shlex
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from workbench.errors import ArmCouldNotStart
from workbench.ports import Place
from workbench.store.plainfile import printable

_INTERPRETERS = ("sh", "bash", "dash", "zsh", "python", "perl", "ruby", "node", "env")


class Files:
    """Files as seen from one folder.

    Args:
        folder: What relative paths are from.
        relative: Name files on record from that folder, if they lie in it, so that a campaign which
            has moved is still the same one.
    """

    def __init__(self, folder: Path, *, relative: bool = True) -> None:
        self.folder = folder
        self._relative = relative
        self._digests: dict[tuple[Path, int, int, int], str] = {}

    def program(
        self, arm: str, name: str, *, folder: Path | None = None, path: str | None = None
    ) -> Path:
        """Find what a command line begins with, and prove that it can be executed.

        Args:
            arm: Arm that is told of when it cannot.
            name: First word of the command line.
            folder: Folder in which it is executed; None for that of all files.
            path: Folders in which to look, as the variable PATH has them; None for ours.

        Raises:
            ArmCouldNotStart: It is not there, or cannot be executed.
        """
        if "/" not in name:
            found = shutil.which(name, path=path)
            if found is not None:
                return Path(found)
            here = (folder or self.folder) / name
            hint = f"write ./{name} to run the one here" if here.exists() else "is it on the PATH?"
            raise ArmCouldNotStart(arm, f"command not found: {name}", hint=hint)
        place = (folder or self.folder) / name
        if not place.exists():
            raise ArmCouldNotStart(arm, f"no such file: {name}", hint=_near(place))
        if place.is_dir():
            raise ArmCouldNotStart(arm, f"is a folder: {name}")
        if not os.access(place, os.X_OK):
            hint = f"chmod +x {shlex.quote(name)}"
            raise ArmCouldNotStart(arm, f"not executable: {name}", hint=hint)
        return place

    def script(
        self, program: Path, arguments: Sequence[str], *, folder: Path | None = None
    ) -> list[Path]:
        """Give the script behind an interpreter: the first argument that is a file and no option.

        Other files named on a command line may be ones that it writes, so they are left alone.
        """
        if not program.name.startswith(_INTERPRETERS):
            return []
        for argument in arguments:
            path = (folder or self.folder) / argument
            if not argument.startswith("-") and path.is_file():
                return [path]
        return []

    def matching(self, arm: str, patterns: Iterable[str], place: Place | None = None) -> list[Path]:
        """Give the files that patterns such as `src/**/*.py` name; of the repository, those in `place`.

        Raises:
            ArmCouldNotStart: There is none.
        """
        found: set[Path] = set()
        for pattern in patterns:
            where = place.moved(os.path.realpath(self.folder / pattern)) if place else pattern
            names = glob.glob(where, root_dir=self.folder, recursive=True)  # noqa: PTH207 - takes ../
            paths = [path for name in names if (path := self.folder / name).is_file()]
            if not paths:
                hint = f"the patterns of `files` are from {printable(str(self.folder))}"
                raise ArmCouldNotStart(arm, f"no file matches {pattern!r}", hint=hint)
            found.update(paths)
        return sorted(found)

    def digests(self, paths: Iterable[Path], place: Place | None = None) -> Mapping[str, str]:
        """Give the sha256 of files by their names on record. Raises OSError for one that is gone."""
        return {self.name(path, place): self._digest(path) for path in paths}

    def name(self, path: Path, place: Place | None = None) -> str:
        """Name a file as it goes on record; one of the code that is run, from there on."""
        if place:
            plain = os.path.normpath(path)
            named = place.named(plain) or place.named(os.path.realpath(path))
            if named:
                return named
        if self._relative and path.is_relative_to(self.folder):
            return str(path.relative_to(self.folder))
        return str(path)

    def newest(self, paths: Iterable[Path]) -> float | None:
        """Say when the newest of files was changed, seconds since 1970; None without files."""
        return max((path.stat().st_mtime for path in paths), default=None)

    def _digest(self, path: Path) -> str:
        stat = path.stat()
        key = (path, stat.st_ino, stat.st_size, stat.st_mtime_ns)
        if key not in self._digests:
            with path.open("rb") as file:
                self._digests[key] = hashlib.file_digest(file, "sha256").hexdigest()
        return self._digests[key]


def _near(path: Path) -> str:
    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return f"there is no folder {path.parent}"
    near = difflib.get_close_matches(path.name, names, n=1)
    return f"did you mean {near[0]}?" if near else "check the spelling and the current folder"
