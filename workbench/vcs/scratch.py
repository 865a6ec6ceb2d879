"""Changes tried on a file in scratch: three files in a folder of our own, merged, and thrown away.

Nothing of a repository is touched by that: no work tree, no index, no ref, no lock, no object. What git
does when it takes a commit back is, file by file, this merge.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from workbench.vcs.git import Git, GitFailed


@dataclass(frozen=True, slots=True)
class Merged:
    """What came of a merge: whether without conflict, and whether it changes the file that is there."""

    clean: bool
    changes: bool


def merged(now: bytes, base: bytes, other: bytes) -> Merged:
    """Lay the difference from `base` to `other` over a file as it is now.

    Raises:
        GitError: git is not there, or is broken.
    """
    if other in (base, now):
        return Merged(clean=True, changes=False)
    if now == base:
        return Merged(clean=True, changes=True)
    with tempfile.TemporaryDirectory(prefix="workbench-") as folder:
        here = Path(folder)
        for name, content in (("now", now), ("base", base), ("other", other)):
            (here / name).write_bytes(content)
        try:
            said = Git(here).run("merge-file", "-p", "--quiet", "now", "base", "other")
        except GitFailed:  # its code is the number of conflicts; of a binary file, 255
            return Merged(clean=False, changes=True)
    return Merged(clean=True, changes=said != now)
