"""Files that an arm needs changed: changed before it is started, put back when it is down.

`Settings.of` is entered around the start and the stop of an engine. Whatever happens in between, the
files are as they were when it is left; after a death in between, `store/putback.restore` does that.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.conduct.knobs import Knobs
from workbench.conduct.sources import Sources
from workbench.errors import ArmCouldNotStart, NotPutBack, StorageFull, StoreError
from workbench.model.plan import Arm
from workbench.model.run import Fingerprint
from workbench.ports import Edit
from workbench.store import putback
from workbench.store.edits import render_all
from workbench.store.targets import look_at


@dataclass(frozen=True, kw_only=True, slots=True)
class Ground:
    """Where files are changed.

    Attributes:
        root: The campaign's folder, which keeps the originals.
        base: The folder that paths of edits are from.
    """

    root: Path
    base: Path


class Settings:
    """The files that the arms of a plan need changed.

    Args:
        knobs: The plan's knobs.
        ground: Where files are changed.
        run: For which run; shown to those who find a file changed.
        sources: The code of the arms; a file of the repository is changed where an arm runs it.
    """

    def __init__(self, knobs: Knobs, ground: Ground, run: str, sources: Sources | None = None) -> None:
        self._knobs = knobs
        self._ground = ground
        self._run = run
        self._sources = sources or Sources()

    @contextmanager
    def of(self, arm: Arm) -> Iterator[None]:
        """Change the files of an arm, and put them back on leaving.

        Raises:
            ArmCouldNotStart: A file cannot be changed; none is.
            StorageFull: The disk refused; no file is changed.
            NotPutBack: A file was changed by somebody meanwhile. It is left as it is, and its original
                is kept; the error names both.
        """
        files = self._files(arm)
        try:
            for path, edits in files.items():
                self._change(arm, path, edits)
            yield
        finally:
            if files:
                self._put_back()

    def edited(self, found: Fingerprint, arm: Arm) -> Fingerprint:
        """Give what was read back of an arm, with the files as they will be once they are changed.

        Raises:
            ArmCouldNotStart: A file cannot be changed.
        """
        digests = {}
        for path, edits in self._files(arm).items():
            try:
                data = render_all(look_at(path).data, edits)
            except (StoreError, ValueError) as error:
                raise _cannot(arm, error) from error
            name = self._sources.named(arm, path) or edits[0].path
            digests[name] = hashlib.sha256(data).hexdigest()
        return replace(found, files={**found.files, **digests}) if digests else found

    def paths(self, arms: Sequence[Arm]) -> list[Path]:
        """Give the files that any of the arms needs changed, with no symbolic link on the way."""
        return sorted({path for arm in arms for path in self._files(arm)})

    def _files(self, arm: Arm) -> Mapping[Path, Sequence[Edit]]:
        """Give the edits of an arm by the file that they change, however it is named."""
        try:
            edits = self._knobs.beside(arm).edits
        except ValueError as error:
            raise _cannot(arm, error) from error
        files: dict[Path, list[Edit]] = {}
        for edit in edits:
            path = self._sources.moved(arm, self._ground.base / edit.path)
            files.setdefault(path.resolve(), []).append(edit)
        return files

    def _change(self, arm: Arm, path: Path, edits: Sequence[Edit]) -> None:
        try:
            putback.change(self._ground.root, path, lambda old: render_all(old, edits), self._run)
        except StorageFull:
            raise
        except (StoreError, ValueError) as error:
            raise _cannot(arm, error) from error

    def _put_back(self) -> None:
        def ours(each: putback.Kept) -> bool:
            record = each.record
            return record is not None and (record.run, record.owner.pid) == (self._run, os.getpid())

        failed = [each.what for each in putback.restore(self._ground.root, ours) if not each.ok]
        if failed:
            raise NotPutBack(failed)


def _cannot(arm: Arm, error: Exception) -> ArmCouldNotStart:
    if isinstance(error, StoreError):
        return ArmCouldNotStart(arm.name, error.what, hint=error.hint)
    return ArmCouldNotStart(arm.name, str(error))
