"""A repository: where it is, what of it is there, what a revision means, where it is on the web.

Discovery, head and refs are GitPython's; everything that takes a name from a person goes to `git`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, urlsplit

from workbench.errors import GitError, nearest
from workbench.vcs.git import Git, GitFailed, as_path, is_sha, shown

_SCP = re.compile(r"(?:[^@/:]+@)?(?P<host>[A-Za-z0-9.-]+):(?P<path>[^/:][^:]*)")
# Variables that lead to another repository than the folder's, as the environment of a hook has them.
_LEADING = frozenset({"GIT_DIR", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_WORK_TREE"})
_WEB = {"github.com": "/commit/", "gitlab.com": "/-/commit/", "codeberg.org": "/commit/"}


class Repository:
    """A repository that is there and can be read.

    Args:
        folder: Anywhere in its work tree, or its git directory.

    Attributes:
        git: The `git` command, in the top of the work tree, or in the git directory of a bare one.
        objects: The same for what is read by ids alone: what is checked out has no say in it.
        top: Top of the work tree, None for a bare repository.
        common: Its git directory, which all its worktrees share.
        bare: It has no work tree.
        shallow: Its history is cut off.
        cut: Commits whose parents are cut off, in a shallow clone; git shows them as roots.
        partial: Some of its objects were never fetched.

    Raises:
        GitError: There is none, or it cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        import git  # slow to import, and most commands look into no repository

        try:
            with git.Repo(folder.absolute(), search_parent_directories=True, expand_vars=False):
                pass
        except (git.InvalidGitRepositoryError, git.NoSuchPathError) as error:
            there = "there is no folder" if not folder.exists() else "there is no git repository at"
            if _LEADING.isdisjoint(os.environ):  # GitPython listens to them, and `Git` does not
                raise GitError(f"{there} {folder}", hint="`repo` in campaign.yaml names it") from error
        except (OSError, ValueError, git.GitError) as error:
            raise GitError(f"{folder}: the repository cannot be read: {error}") from error
        self.common, self.top, self.bare = _where(Git(folder))
        self.git = Git(self.top or self.common)
        self.objects = Git(self.common, by_id=True)
        self.cut = _cut(self.common)
        self.shallow = bool(self.cut)
        self.partial = bool(
            self.git.run(
                "config",
                "--get-regexp",
                r"^(remote\..*\.promisor|extensions\.partialclone)$",
                fine=(0, 1),
            )
        )

    def resolve(self, revision: str) -> str:
        """Give the commit that a revision means, as its whole id.

        Raises:
            GitError: There is none, or more than one.
        """
        try:
            found = self.git.text(
                "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
            )
        except GitFailed as error:
            raise self._unknown(revision) from error
        if not is_sha(found):
            raise self._unknown(revision)
        return found

    def head(self) -> str | None:
        """Give the commit that is checked out; None before the first one."""
        try:
            return self.resolve("HEAD")
        except GitError:
            return None

    def refs(self) -> Mapping[str, str]:
        """Give branches and tags by their short names, with the commits that they mean."""
        entries = self.git.run(
            "for-each-ref",
            "--format=%(objecttype) %(objectname) %(*objecttype) %(*objectname) %(refname:short)",
            "refs/heads",
            "refs/tags",
        )
        found = {}
        for line in as_path(entries).split("\n")[:-1]:
            kind, of, peeled_kind, peeled, name = line.split(" ", 4)
            if "commit" in (kind, peeled_kind):  # not a tag of a tree, a file or a tag
                found[name] = peeled or of
        return found

    def permalink(self, sha: str) -> str:
        """Give the address of a commit on the web; empty where that is not known.

        It is made from the remote `origin`; what a remote holds beside host and path is left out.
        """
        remote = (
            self.git.run("config", "--get", "remote.origin.url", fine=(0, 1))
            .decode("utf-8", "replace")
            .strip()
        )
        base = _web_of(remote)
        return f"{base}{sha}" if base and is_sha(sha) else ""

    def _unknown(self, revision: str) -> GitError:
        hint = nearest(revision, filter(str.isprintable, self.refs()))
        if self.shallow:
            hint = "the clone is shallow; its history is cut off"
        return GitError(f"no commit is named {shown(revision, 70)!r}", hint=hint)


def _where(git: Git) -> tuple[Path, Path | None, bool]:
    """Give the git directory that all worktrees share, the top of this one, and whether it is bare."""
    asked = (
        "--is-bare-repository",
        "--is-inside-work-tree",
        "--path-format=absolute",
        "--git-common-dir",
    )
    bare, inside, name = as_path(git.run("rev-parse", *asked)).split("\n", 2)
    common = Path(name.removesuffix("\n")).resolve()
    if inside == "true":
        top = as_path(git.run("rev-parse", "--path-format=absolute", "--show-toplevel"))
        return common, Path(top.removesuffix("\n")), False
    return common, None if bare == "true" else common.parent, bare == "true"


def _cut(common: Path) -> frozenset[str]:
    """Give the commits at which a shallow clone's history is cut off."""
    try:
        return frozenset(filter(is_sha, (common / "shallow").read_text("ascii").split()))
    except FileNotFoundError:
        return frozenset()
    except (OSError, ValueError) as error:
        raise GitError(f"{common / 'shallow'}: cannot be read: {error}") from error


def _web_of(remote: str) -> str:
    """Give what a commit's address on the web begins with; empty for hosts that are not known."""
    if found := _SCP.fullmatch(remote):
        host, path = found["host"], found["path"]
    else:
        try:
            parts = urlsplit(remote)
        except ValueError:
            return ""
        if parts.scheme not in ("https", "http", "ssh", "git") or not parts.hostname:
            return ""
        host, path = parts.hostname, parts.path
    path = quote(path.strip("/").removesuffix(".git"))
    return f"https://{host}/{path}{_WEB[host]}" if host in _WEB and path else ""
