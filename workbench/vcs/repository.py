"""A repository: where it is, what of it is there, what a revision means, where it is on the web.

Discovery, head and refs are GitPython's; everything that takes a name from a person goes to `git`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, urlsplit

from workbench.errors import GitError, nearest
from workbench.vcs.git import Git, GitFailed, is_sha

_SCP = re.compile(r"(?:[^@/:]+@)?(?P<host>[A-Za-z0-9.-]+):(?P<path>[^/:][^:]*)")
_WEB = {"github.com": "/commit/", "gitlab.com": "/-/commit/", "codeberg.org": "/commit/"}


class Repository:
    """A repository that is there and can be read.

    Args:
        folder: Anywhere in its work tree, or its git directory.

    Attributes:
        git: The `git` command, in the top of the work tree, or in the git directory of a bare one.
        top: Top of the work tree, None for a bare repository.
        common: Its git directory, which all its worktrees share.
        bare: It has no work tree.
        shallow: Its history is cut off.
        partial: Some of its objects were never fetched.

    Raises:
        GitError: There is none, or it cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        import git  # slow to import, and most commands look into no repository

        try:
            with git.Repo(folder, search_parent_directories=True) as found:
                self.top = Path(found.working_tree_dir) if found.working_tree_dir else None
                self.common = Path(found.common_dir).resolve()
                self.bare = found.bare
        except (git.InvalidGitRepositoryError, git.NoSuchPathError) as error:
            there = "there is no folder" if not folder.exists() else "there is no git repository at"
            raise GitError(f"{there} {folder}", hint="`repo` in campaign.yaml names it") from error
        except (OSError, ValueError, git.GitError) as error:
            raise GitError(f"{folder}: the repository cannot be read: {error}") from error
        self.git = Git(self.top or self.common)
        self.shallow = (self.common / "shallow").exists()
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
            "--format=%(objectname) %(*objectname) %(refname:short)",
            "refs/heads",
            "refs/tags",
        )
        found = {}
        for line in entries.decode("utf-8", "replace").splitlines():
            of, peeled, name = line.split(" ", 2)
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
        hint = nearest(revision, self.refs())
        if self.shallow:
            hint = "the clone is shallow; its history is cut off"
        shown = "".join(letter if letter.isprintable() else "?" for letter in revision)[:70]
        return GitError(f"no commit is named {shown!r}", hint=hint)


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
