"""A commit as a person reads it: who, when, why, which files, and every line that it changes."""

from __future__ import annotations

from workbench.vcs.git import checked
from workbench.vcs.repository import Repository

MOST_BYTES = 400_000  # beyond it nobody reads on; what is left out is counted


def shown(repository: Repository, sha: str) -> tuple[str, ...]:
    """Give a commit as lines: its message, the files with how much of each, and the patch.

    Args:
        repository: Where it is.
        sha: Its whole id.

    Raises:
        GitError: There is no such commit, or files of it were never fetched.
    """
    found = repository.objects.run(
        *("show", "--format=fuller", "--stat=78", "--patch", "--no-color", "--no-ext-diff"),
        *("--no-textconv", "--end-of-options", checked(sha)),
    )
    lines = found[:MOST_BYTES].decode("utf-8", "replace").split("\n")
    left = len(found) - MOST_BYTES
    if left > 0:
        lines.append(f"... {left:,} bytes more: git show {sha}")
    return tuple(lines)
