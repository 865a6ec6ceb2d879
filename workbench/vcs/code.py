"""What code lies in a folder: its commit, how tracked files differ from it, what git does not know.

A commit's id alone says nothing of a tree in which somebody has edited a file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.errors import GitError
from workbench.model.commits import Code
from workbench.store.diffs import redact_diff
from workbench.vcs.git import Git, is_sha

_MOST = 500  # names of unknown files that are recorded
_LITERALLY = "GIT_LITERAL_PATHSPECS"
_DIFFERENCE = (
    *("diff", "HEAD", "--full-index", "--no-ext-diff", "--no-textconv", "--no-renames", "-U3"),
    *("--diff-algorithm=myers", "--submodule=short", "--src-prefix=a/", "--dst-prefix=b/"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """What was found in a folder.

    Attributes:
        code: What stands on record of it.
        patch: How tracked files differ from the commit, secrets taken out; empty if they do not.
    """

    code: Code
    patch: bytes = b""


def look(
    folder: Path,
    *,
    without: Sequence[str] = (),
    secrets: Sequence[str] = (),
    patches: Mapping[str, str] | None = None,
    untracked: tuple[str, ...] | None = None,
) -> Found:
    """Look at the code in a folder.

    Args:
        folder: Top of a work tree.
        without: Paths in it that are none of its code, such as the campaign's own files.
        secrets: Values that must not stand on record.
        patches: What was laid over the commit on purpose, path to digest.
        untracked: What git does not know there, if that has been listed before; it takes longest.

    Raises:
        GitError: Git cannot tell.
    """
    git = Git(folder)
    head = git.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}", fine=(0, 1)).decode().strip()
    if untracked is None:
        untracked = _untracked(git, without)
    if not is_sha(head):  # before the first commit
        return Found(code=Code(commit=None, untracked=untracked))
    patch = redact_diff(_ask(git, *_DIFFERENCE, without=without), secrets)
    code = Code(
        commit=head,
        dirty=bool(patch),
        patch_sha256=hashlib.sha256(patch).hexdigest() if patch else "",
        untracked=untracked,
        patches=dict(patches or {}),
    )
    return Found(code=code, patch=patch)


def newest(folder: Path) -> float | None:
    """Say when the newest tracked file of a work tree was changed, seconds since 1970.

    Raises:
        GitError: Git cannot tell.
    """
    times = []
    for name in Git(folder).fields("ls-files", "-z"):
        try:
            times.append((folder / name.decode("utf-8", "surrogateescape")).lstat().st_mtime)
        except OSError:  # one that was taken away; the difference to the commit tells
            continue
    return max(times, default=None)


def changes(top: Path, without: Sequence[str] = ()) -> tuple[str, ...]:
    """Name the tracked files that differ from the commit, but for some paths. Raises GitError."""
    names = _ask(Git(top), "diff", "HEAD", "--name-only", "-z", "--no-renames", without=without)
    return tuple(_text(name) for name in names.split(b"\0")[:-1])


def knows(top: Path, path: str) -> bool:
    """Say whether a file is a tracked one, by its path from the top. Raises GitError."""
    return bool(Git(top).run("ls-files", "-z", "--", path, env={_LITERALLY: "1"}))


def _ask(git: Git, *arguments: str, without: Sequence[str]) -> bytes:
    """Ask about all files but some."""
    paths = [":(top)", *(f":(top,exclude,literal){path}" for path in without)]
    return git.run(*arguments, "--", *paths, env={_LITERALLY: "0"})


def _untracked(git: Git, without: Sequence[str]) -> tuple[str, ...]:
    try:
        listed = _ask(git, "ls-files", "--others", "--exclude-standard", "-z", without=without)
    except GitError:
        return ()
    found = listed.split(b"\0")[:-1]
    names = [name for each in found if "__pycache__/" not in (name := _text(each))]
    more = [f"... and {len(names) - _MOST} more"] if len(names) > _MOST else []
    return (*names[:_MOST], *more)


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace")
