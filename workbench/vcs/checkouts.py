"""Worktrees of commits and patches: checked out once, built once, kept and used by every run.

    .workbench/worktrees/NAME         the worktree; NAME is the first 12 digits of the commit, and where
                                      there are patches or a build, the first 12 of their digest
    .workbench/worktrees/NAME.json    what it is, written when it is whole: one without is made anew
    .workbench/worktrees/NAME.lock    lets one process at a time make it
    .workbench/logs/build/NAME.log    what its build printed

No hook runs, nothing is fetched, submodules stay empty. A worktree that somebody has changed is neither
used nor made anew: the change may be work of theirs.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from workbench.errors import GitError, StoreError
from workbench.store.atomic import own_folder, replace_file
from workbench.store.kernellock import take
from workbench.vcs import building
from workbench.vcs.git import Git, GitFailed, checked, shown
from workbench.vcs.repository import Repository

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

SCHEMA = "workbench/checkout@1"
WORKTREES, LOGS = "worktrees", "logs/build"
_PATIENCE = 3600.0  # seconds for git to write the files of a large commit
_POLL = 0.1
_SHOWN = 5
_TRACKED = (
    *("diff", "HEAD", "--full-index", "--no-ext-diff", "--no-textconv", "--no-renames"),
    *("--ignore-submodules=all", "--diff-algorithm=myers", "-U0"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Patch:
    """Changes that are laid over a commit.

    Attributes:
        name: Its path, as the campaign has it.
        data: Its bytes, as `git diff` writes them.
    """

    name: str
    data: bytes

    @property
    def sha256(self) -> str:
        """Digest of its bytes."""
        return hashlib.sha256(self.data).hexdigest()


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """What is to lie in a worktree.

    Attributes:
        commit: Id of the commit.
        patches: What is laid over it, in this order.
        build: Command that is executed in it, word by word; empty for none.
        build_timeout: Seconds that it may take.
    """

    commit: str
    patches: tuple[Patch, ...] = ()
    build: tuple[str, ...] = ()
    build_timeout: float = 1800.0

    @property
    def name(self) -> str:
        """Name of the worktree: equal exactly for what is the same code, however it is called."""
        if not self.patches and not self.build:
            return checked(self.commit)[:12]
        over = json.dumps([[each.sha256 for each in self.patches], self.build])
        return f"{checked(self.commit)[:12]}-{hashlib.sha256(over.encode()).hexdigest()[:12]}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Stamp:
    """What a worktree is, as it was when it was whole.

    Attributes:
        commit: Id of its commit.
        patches: Path to sha256 of the patches that were laid over it, in their order.
        build: Command that was executed in it.
        tracked: Digest of how its tracked files differ from the commit.
        submodules: Paths of submodules, which are empty.
        schema: The format.
    """

    commit: str
    patches: Mapping[str, str] = field(default_factory=dict)
    build: tuple[str, ...] = ()
    tracked: str = ""
    submodules: tuple[str, ...] = ()
    schema: str = SCHEMA


class Checkouts:
    """The worktrees of a campaign.

    Args:
        repository: Where the commits are.
        work: The campaign's folder of caches, `.workbench`.
    """

    def __init__(self, repository: Repository, work: Path) -> None:
        self._git = Git(repository.git.folder, deadline=_PATIENCE)
        self._work = work
        self._worktrees = work / WORKTREES

    def folder(self, wanted: Wanted) -> Path:
        """Give the folder of a worktree, whether it has been made or not."""
        return self._worktrees / wanted.name

    async def make(self, wanted: Wanted) -> Stamp:
        """Make a worktree, or find that it is there and as it was made. Cancelling ends a build.

        Raises:
            GitError: It cannot be checked out, a patch does not fit, its build fails, or it is there
                and somebody has changed it.
            StoreError: The disk refused.
        """
        own_folder(self._work, "caches stay in the campaign")
        own_folder(self._worktrees, "worktrees stay in the campaign")
        folder = self.folder(wanted)
        async with _alone(folder.with_name(f"{folder.name}.lock")):
            stamp = self._stamp(folder)
            if stamp is not None and stamp.commit == wanted.commit and folder.is_dir():
                await asyncio.to_thread(self._hold_against, stamp, folder)
                return stamp
            await self._check_out(wanted, folder)
            await self._build(wanted, folder)
            stamp = Stamp(
                commit=wanted.commit,
                patches={each.name: each.sha256 for each in wanted.patches},
                build=wanted.build,
                tracked=_tracked(Git(folder)),
                submodules=tuple(_submodules(Git(folder))),
            )
            replace_file(_stamp_of(folder), msgspec.json.format(msgspec.json.encode(stamp), indent=1))
            return stamp

    async def _check_out(self, wanted: Wanted, folder: Path) -> None:
        """Write the files of the commit, and lay the patches over them."""
        building.end(folder)  # what a killed build has left running would write into them
        with suppress(FileNotFoundError):
            _stamp_of(folder).unlink()
        await asyncio.to_thread(_clear, folder)
        await asyncio.to_thread(
            self._git.run,
            # forced twice: the entry of a folder that was removed, or whose making was killed, is ours
            *("worktree", "add", "--force", "--force", "--detach", "--no-guess-remote", "--"),
            *(str(folder), checked(wanted.commit)),
            env={"GIT_LFS_SKIP_SMUDGE": "1"},
        )
        there = Git(folder)
        for patch in wanted.patches:
            _apply(there, patch)

    async def _build(self, wanted: Wanted, folder: Path) -> None:
        if not wanted.build:
            return
        log = self._work / LOGS / f"{folder.name}.log"
        own_folder(self._work / "logs", "logs stay in the campaign")
        own_folder(log.parent, "logs stay in the campaign")
        try:
            await building.build(wanted.build, folder, log, within=wanted.build_timeout)
        except building.BuildFailed as error:
            empty = list(_submodules(Git(folder)))
            also = f"; submodules are not populated: {', '.join(empty[:_SHOWN])}" if empty else ""
            what = f"the build of commit {wanted.commit[:12]} {error}{also}"
            raise GitError(what, hint=f"{log} has all that it printed") from error

    def _hold_against(self, stamp: Stamp, folder: Path) -> None:
        """Refuse a worktree that is not as it was made."""
        there = Git(folder)
        try:
            head = there.text("rev-parse", "HEAD")
        except GitFailed:  # the campaign, or the repository, lies elsewhere now
            self._git.run("worktree", "repair", "--", str(folder))
            head = there.text("rev-parse", "HEAD")
        hint = f"see what it is by `git -C {folder} diff HEAD`; without the folder it is made anew"
        if head != stamp.commit:
            raise GitError(f"{folder}: is at commit {head[:12]}, not {stamp.commit[:12]}", hint=hint)
        if _tracked(there) != stamp.tracked:
            names = there.fields("diff", "HEAD", "--name-only", "-z", "--no-renames")
            changed = ", ".join(_printable(name) for name in names[:_SHOWN]) or "its files"
            raise GitError(f"{folder}: somebody has changed {changed}", hint=hint)

    def _stamp(self, folder: Path) -> Stamp | None:
        """Read what a worktree is; None for one that is not whole."""
        try:
            return msgspec.json.decode(_stamp_of(folder).read_bytes(), type=Stamp)
        except (OSError, msgspec.DecodeError):
            return None


def kept(work: Path) -> Iterator[tuple[Path, int]]:
    """Give the worktrees that a campaign keeps, with the bytes of their files."""
    for stamp in sorted((work / WORKTREES).glob("*.json")):
        folder = stamp.with_suffix("")
        if folder.is_dir():
            yield folder, sum(file.lstat().st_size for file in folder.rglob("*") if file.is_file())


def _apply(there: Git, patch: Patch) -> None:
    """Lay a patch over the files, the whole of it or nothing."""
    try:
        there.run("apply", "--index", "--whitespace=nowarn", "-", input=patch.data)
    except GitFailed as error:
        said = str(error).removeprefix("git apply failed: ").removeprefix("error: ")
        what = f"{patch.name}: does not fit: {said}"
        raise GitError(what, hint="make it by `git diff` on that very commit") from error


def _tracked(there: Git) -> str:
    """Digest how tracked files differ from the commit; empty if they do not."""
    difference = there.run(*_TRACKED)
    return hashlib.sha256(difference).hexdigest() if difference else ""


def _submodules(there: Git) -> Iterator[str]:
    """Name the submodules of a worktree."""
    for entry in there.fields("ls-files", "--stage", "-z"):
        about, _, name = entry.partition(b"\t")
        if about.startswith(b"160000 "):
            yield _printable(name)


def _printable(name: bytes) -> str:
    return shown(name.decode("utf-8", "replace"))


def _stamp_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.json")


def _clear(folder: Path) -> None:
    """Take away what was begun and never finished."""
    if folder.is_symlink():
        raise StoreError(f"{folder}: is a symbolic link", hint="worktrees stay in the campaign")
    if folder.exists():
        shutil.rmtree(folder)


@asynccontextmanager
async def _alone(path: Path) -> AsyncIterator[None]:
    """Hold a lock for the time of making; whoever makes the same waits, and can be cancelled."""
    while (lock := take(path, wait=0)) is None:  # noqa: ASYNC110 - another process has it
        await asyncio.sleep(_POLL)
    try:
        yield
    finally:
        lock.release(force=True)
