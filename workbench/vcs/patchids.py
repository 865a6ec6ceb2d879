"""Ids of changes that are the same wherever they are made, as git counts them; in bulk.

Such an id is made of a patch without its line numbers, but with the lines around each change, so two
that agree hardly do so by chance, and a change may be the same line by line and have another id.
A commit is turned round by comparing its tree with its parent's: `-R` would swap the prefixes, too,
which are a part of the id.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.vcs.git import Git, GitFailed, empty_tree

Pair = tuple[str, str | None]  # a commit and what it is held against; None for nothing
_PATCH = (
    *("diff-tree", "-r", "--root", "--patch", "--full-index", "--unified=3", "--inter-hunk-context=0"),
    *("--no-renames", "--no-color", "--no-relative", "--diff-algorithm=myers", "--no-indent-heuristic"),
    *("--src-prefix=a/", "--dst-prefix=b/", "--submodule=short", "--ignore-submodules=none"),
)


def inverse(git: Git, sha: str, parent: str | None) -> bytes:
    """Give the id of the change that would take a commit back; empty if there is none."""
    before = parent or empty_tree(git)
    try:
        with (
            git.reading(*_PATCH, sha, before) as patch,
            git.reading("patch-id", "--stable", input=patch) as ids,
        ):
            found = ids.read().split()
    except GitFailed:
        return b""
    return bytes.fromhex(found[0].decode("ascii")) if found else b""


def many(git: Git, pairs: Sequence[Pair]) -> dict[str, bytes]:
    """Give the ids of what commits change, by commits; those that have none are left out."""
    if not pairs:
        return {}
    asked = "".join(f"{sha} {parent or ''}".rstrip() + "\n" for sha, parent in pairs)
    found = {}
    try:
        with (
            git.reading(*_PATCH, "--stdin", input=asked.encode("ascii")) as patches,
            git.reading("patch-id", "--stable", input=patches) as ids,
        ):
            for line in ids:
                patch_id, sha = line.decode("ascii").split()
                found[sha] = bytes.fromhex(patch_id)
    except GitFailed:
        # git stops at the first content that was never fetched; its commit is found by halving
        half = len(pairs) // 2
        return {**many(git, pairs[:half]), **many(git, pairs[half:])} if half else {}
    return found
