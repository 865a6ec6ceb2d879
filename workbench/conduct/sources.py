"""The code that arms are run from: checked out before anything is started, and looked at each time.

An arm whose knobs name a commit or patches runs from a worktree of its own; any other runs from the
repository's own work tree, if the campaign names a repository. Engines see none of this: each launch
that they offer comes back with the folder that it is to run in (`settle`).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from workbench.conduct.codeback import runs_from
from workbench.conduct.knobs import Knobs
from workbench.errors import ArmCouldNotStart, GitError, StoreError
from workbench.model.commits import Code
from workbench.model.plan import Arm
from workbench.ports import CHECKOUT, Checkout, Edit, Launch, Place, Sighting, silent
from workbench.store.layout import CAMPAIGN_FILE, WORK, own_files
from workbench.store.plainfile import printable
from workbench.vcs import code
from workbench.vcs.bytecode import Bytecode, cache_of
from workbench.vcs.checkouts import Checkouts, Patch, Stamp, Wanted
from workbench.vcs.repository import Repository


class Sources:
    """The code of the arms of one plan.

    Args:
        knobs: The plan's knobs; None for none.
        root: The campaign's folder; None outside of one.
        repo: Its repository, from there; empty for none.
        tell: Told, in a line, of what takes long.
        secrets: Values that must not stand on record.
        base: Folder that paths of files to be changed are from; the campaign's unless said.
    """

    def __init__(
        self,
        knobs: Knobs | None = None,
        root: Path | None = None,
        repo: str = "",
        tell: Callable[[str], None] = silent,
        secrets: Sequence[str] = (),
        base: Path | None = None,
    ) -> None:
        self._knobs = knobs or Knobs({})
        self._root = Path(os.path.realpath(root or Path.cwd()))
        self._base = Path(os.path.realpath(base)) if base else self._root
        self._repo = repo
        self._tell = tell
        self._secrets = secrets
        self._stamps: dict[str, Stamp] = {}
        self._untracked: dict[Path, tuple[str, ...]] = {}
        self._patches: dict[str, bytes] = {}
        self._bytecode: dict[Path, Bytecode] = {}
        self._repository: Repository | None = None
        self._wanted: dict[Checkout, Wanted] = {}
        self.problem = ""

    # --- before anything is started -------------------------------------------------------------------

    async def ready(self, arms: Sequence[Arm]) -> None:
        """Check out and build what arms are run from, where that has not been done.

        Raises:
            ArmCouldNotStart: It cannot be had, and why.
        """
        for arm in arms:
            checkout = self._checkout(arm)
            if checkout is None:
                continue
            try:
                wanted = self._want(checkout)
                if wanted.name not in self._stamps:
                    checkouts = self._checkouts()
                    if not checkouts.folder(wanted).is_dir():
                        built = " and building it" if wanted.build else ""
                        self._tell(f"checking out commit {wanted.commit[:12]}{built}")
                    self._stamps[wanted.name] = await checkouts.make(wanted)
            except (GitError, StoreError) as error:
                raise ArmCouldNotStart(arm.name, error.what, hint=error.hint) from error

    def settle(self, arm: Arm, launch: Launch) -> Launch:
        """Give a launch with the place of its code, and the folder in which it runs moved there.

        Raises:
            ValueError: There is no such folder in that code, or no code for the placeholder.
        """
        place = self._place(launch.checkout)
        if place is None:
            texts = (*launch.argv, *(value for value in launch.env.values() if value))
            if any(CHECKOUT in text for text in texts):
                why = self.problem or "the campaign names no `repo`"
                raise ValueError(f"{CHECKOUT} stands for a folder of code, and {why}")
            return launch
        return replace(launch, place=place, cwd=self._folder_of(place, launch.cwd))

    # --- what they are run from -----------------------------------------------------------------------

    def look(self, arm: Arm) -> Code | None:
        """Say what code an arm runs from, as it is now; None where nobody can tell.

        Raises:
            ArmCouldNotStart: It is checked out, and git cannot tell.
        """
        checkout = self._checkout(arm)
        place = self._place(checkout)
        if place is None:
            return None
        folder = Path(place.folder)
        try:
            found = code.look(
                folder,
                without=() if checkout else own_files(self._root, folder),
                secrets=self._secrets,
                patches=self._stamp_of(checkout).patches if checkout else None,
                untracked=self._untracked.get(folder),
            )
        except GitError as error:
            if checkout is None:
                self.problem = error.what
                return None
            raise ArmCouldNotStart(arm.name, error.what, hint=error.hint) from error
        self._untracked[folder] = found.code.untracked
        self._patches[found.code.patch_sha256] = found.patch
        return found.code

    def patch(self, found: Code) -> bytes:
        """Give how code that was looked at differs from its commit; empty if it does not."""
        return self._patches.get(found.patch_sha256, b"")

    def notes(self, arm: Arm) -> Mapping[str, str]:
        """Give what else is worth knowing of an arm's code, for the record."""
        checkout = self._checkout(arm)
        if checkout is None:
            return {"code": f"cannot be told: {self.problem}"} if self.problem else {}
        empty = self._stamp_of(checkout).submodules
        return {"submodules that are not populated": ", ".join(empty)} if empty else {}

    async def stale(self, arm: Arm, sighting: Sighting | None) -> list[tuple[str, str]]:
        """Name bytecode that an arm would run and that is not what its source says: path, and why."""
        place = self._place(self._checkout(arm))
        if place is None:
            return []
        folder = Path(place.folder)
        there = (
            [each for each in sighting.components.values() if runs_from(place, each)]
            if sighting
            else []
        )
        if sighting and not there:
            return []
        caches = {cache_of(each.argv, each.env) for each in there} or {cache_of((), os.environ)}
        finder = self._bytecode.setdefault(folder, Bytecode(folder, lambda path: _known(folder, path)))
        found = [
            each for cache in sorted(caches) for each in await asyncio.to_thread(finder.stale, cache)
        ]
        return list(dict.fromkeys((self._shown(folder / each.path), each.why) for each in found))

    # --- files of an arm ------------------------------------------------------------------------------

    def of_code(self, arm: Arm) -> list[str]:
        """Name the knobs of an arm that say which code it is run from."""
        return self._knobs.of_code(arm)

    def place(self, arm: Arm) -> Place | None:
        """Say where the code of an arm lies; None if nobody knows of any."""
        return self._place(self._checkout(arm))

    def moved(self, arm: Arm, path: Path) -> Path:
        """Give the file of an arm's code in place of one of the repository."""
        place = self.place(arm)
        return Path(place.moved(os.path.realpath(path))) if place else path

    def named(self, arm: Arm, path: Path) -> str:
        """Name a file of an arm's code as it goes on record; empty for other files."""
        place = self.place(arm)
        return place.named(os.path.realpath(path)) if place else ""

    def changed_by(self, arm: Arm, names: Collection[str]) -> set[str]:
        """Name the files that some knobs of an arm change, by each name that one may have on record."""
        changed = {self._real(arm, edit) for edit in self._edits(arm, names)}
        found: set[str] = set()
        for edit in self._edits(arm, arm.settings):
            path = self._real(arm, edit)
            if path in changed:
                found |= {edit.path, os.path.normpath(edit.path), self.named(arm, path), str(path)}
                if path.is_relative_to(self._base):
                    found.add(str(path.relative_to(self._base)))
        return found

    # --- within ---------------------------------------------------------------------------------------

    def _edits(self, arm: Arm, names: Collection[str]) -> Sequence[Edit]:
        some = {name: level for name, level in arm.settings.items() if name in names}
        return self._knobs.beside(Arm(name=arm.name, settings=some)).edits

    def _real(self, arm: Arm, edit: Edit) -> Path:
        return Path(os.path.realpath(self.moved(arm, self._base / edit.path)))

    def _checkout(self, arm: Arm) -> Checkout | None:
        try:
            return self._knobs.checkout(arm)
        except ValueError as error:
            raise ArmCouldNotStart(arm.name, str(error)) from error

    def _place(self, checkout: Checkout | None) -> Place | None:
        if checkout is None:
            top = self._top()
            return Place(folder=top, instead_of=top) if top else None
        folder = self._checkouts().folder(self._want(checkout))
        return Place(folder=str(folder), instead_of=self._top())

    def _top(self) -> str:
        """Give the top of the repository's own work tree; empty if it has none, or there is none."""
        if not self._repo:
            return ""
        try:
            top = self._opened().top
        except GitError as error:
            self.problem = error.what
            return ""
        return os.path.realpath(top) if top else ""

    def _opened(self) -> Repository:
        if not self._repo:
            raise GitError(
                "a knob checks code out, and the campaign names no repository",
                hint=f"write `repo: FOLDER` in {CAMPAIGN_FILE}",
            )
        if self._repository is None:
            self._repository = Repository(self._root / self._repo)
        return self._repository

    def _checkouts(self) -> Checkouts:
        return Checkouts(self._opened(), self._root / WORK)

    def _want(self, checkout: Checkout) -> Wanted:
        """Look up what a knob names; the same for the time of a run."""
        if checkout not in self._wanted:
            self._wanted[checkout] = Wanted(
                commit=self._opened().resolve(checkout.commit or "HEAD"),
                patches=tuple(read_patch(self._root, name) for name in checkout.patches),
                build=checkout.build,
                build_timeout=checkout.build_timeout,
            )
        return self._wanted[checkout]

    def _stamp_of(self, checkout: Checkout) -> Stamp:
        wanted = self._want(checkout)
        return self._stamps.get(wanted.name, Stamp(commit=wanted.commit))

    def _folder_of(self, place: Place, cwd: str) -> str:
        """Give the folder in place of one of the repository, other ones as they are."""
        real = os.path.realpath(cwd) if cwd else ""
        moved = place.moved(real)
        if moved == real or Path(moved).is_dir():
            return cwd if moved == real else moved
        campaign_in_it = self._root.is_relative_to(place.instead_of)
        if campaign_in_it and Path(real).is_relative_to(self._root):  # the campaign's, and in no commit
            return cwd
        raise ValueError(f"there is no folder {place.named(moved)} in the code that is checked out")

    def _shown(self, path: Path) -> str:
        """Name a file for whoever is to look at it."""
        return printable(str(path.relative_to(self._root) if path.is_relative_to(self._root) else path))


def read_patch(root: Path, name: str) -> Patch:
    """Read a patch of a campaign. Raises GitError when it is not there, or empty."""
    path = root / name
    try:
        if path.exists() and not path.is_file():
            raise GitError(f"{name}: is no file", hint="a patch is a file as `git diff` writes it")
        data = path.read_bytes()
    except OSError as error:
        raise GitError(
            f"{name}: {error.strerror or error}", hint=f"it is looked for in {root}"
        ) from error
    if not data.strip():
        raise GitError(f"{name}: is empty", hint="null stands for no patch")
    return Patch(name=name, data=data)


def _known(folder: Path, path: str) -> bool:
    try:
        return code.knows(folder, path)
    except GitError:
        return False
