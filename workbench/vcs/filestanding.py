"""One file of a commit held against what it is in a tree.

Ids tell most of it; contents are read where both sides have changed, and lines only of text.
"""

from __future__ import annotations

from workbench.model.commits import Presence
from workbench.vcs.entries import GREATEST, LINK, SUBMODULE, Entry, Touched, contents
from workbench.vcs.git import is_binary
from workbench.vcs.presence import LIVE, REVERTED, Held, held, mostly_in
from workbench.vcs.repository import Repository


def file_held(repository: Repository, file: Touched, now: Entry | None) -> Held:
    """Hold what a commit did to a file against what that file is.

    Args:
        repository: Where.
        file: The file before and after the commit.
        now: What it is in the tree; None if it is not there.

    Raises:
        GitError: git cannot be asked.
    """
    before, after = file.before, file.after
    if now == after:
        return LIVE
    if now == before:
        return REVERTED
    if before and after and now and before.id == after.id:
        return _mode_only(before, after, now)
    if now and after and now.id == after.id:
        return LIVE
    if now and before and now.id == before.id:
        return REVERTED
    if now is None:  # it was changed, and is not there any more
        return _unknown("the file has gone since")
    kinds = {entry.mode for entry in (before, after, now) if entry}
    if SUBMODULE in kinds:
        return _unknown("the submodule has moved on since")
    if LINK in kinds:
        return _unknown("the link was changed since")
    texts = contents(repository, (before, after, now), GREATEST)
    for entry, text in zip((before, after, now), texts, strict=True):
        if entry is not None and text is None:
            return _unknown("its content is not in this clone, or too large")
        if is_binary(text or b""):
            return _unknown("a binary file that was changed since")
    was, became, is_ = (text or b"" for text in texts)
    if after is None:  # it was deleted, and there is one of its name again
        return Held(Presence.REVERTED, 0.0, reversible=False) if mostly_in(was, is_) else LIVE
    found = held(was, became, is_)
    if before is None:  # git does not take back the making of a file that was edited since
        return Held(found.presence, found.kept, reversible=False, problem=found.problem)
    return found


def _mode_only(before: Entry, after: Entry, now: Entry) -> Held:
    if now.mode == after.mode:
        return LIVE
    return REVERTED if now.mode == before.mode else _unknown("its mode was changed since")


def _unknown(problem: str) -> Held:
    return Held(Presence.UNKNOWN, 0.0, reversible=False, problem=problem)
