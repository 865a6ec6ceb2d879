"""What was done to files after a commit, and what a checkout of their earlier state loses.

A checkout takes back all that has been done to a file since, not the one change. What it would lose
are later commits of which something is there, and would not be any more; what it has lost are those
that were there until a commit gave the file its earlier content back, and are not there now. Lines are
counted for that and nothing is merged: a file may have a thousand later commits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from workbench.vcs import entries, history
from workbench.vcs.entries import GREATEST, Entry, Touched, contents
from workbench.vcs.git import is_binary
from workbench.vcs.presence import GONE, Text, undone
from workbench.vcs.repository import Repository

READ = 500  # later commits of a file whose content is looked at, the newest
_AT_ONCE = 20  # of them that are held in memory
_RESTORERS = 10  # commits that gave a file its earlier content back and are looked at


@dataclass(frozen=True, kw_only=True, slots=True)
class Later:
    """What was done to one file after a commit, and where the file stands.

    Attributes:
        file: The file before and after that commit, under the path that it has now.
        now: What it is in the tree; None if it is not there.
        steps: Later commits that touched it, oldest first, merges left out, with what each did.
    """

    file: Touched
    now: Entry | None
    steps: tuple[tuple[str, Touched], ...]

    @property
    def commits(self) -> tuple[str, ...]:
        """Ids of the later commits."""
        return tuple(sha for sha, _ in self.steps)

    @property
    def cut(self) -> bool:
        """There are more of them than are looked at."""
        return len(self.steps) > READ

    def would_be_lost(self, repository: Repository) -> tuple[str, ...]:
        """Name those that a checkout of the file as it was before would lose.

        One that has been taken back is not there to be lost, and neither is one that would not be
        missed, since it took back what another had done in between.
        """
        before, now = self.file.before, self.now
        if now is None or now == before:
            return ()
        found = []
        for sha, (here, then) in _undone(repository, self.steps[-READ:], (now, before)):
            there = here is None or here < GONE
            if there and not (before is not None and then == 0.0):
                found.append(sha)
        return tuple(found)

    def were_lost(self, repository: Repository) -> tuple[str, ...]:
        """Name those that were there until the file was given its earlier content, and are not now."""
        steps = self.steps[-READ:]
        before = self.file.before.id if self.file.before else None
        restorers = [
            (place, change)
            for place, (_, change) in enumerate(steps)
            if (change.after.id if change.after else None) == before
        ]
        lost = set()
        for place, change in restorers[-_RESTORERS:]:
            states = (change.before, change.after, self.now)
            for sha, shares in _undone(repository, steps[:place], states):
                until, then, here = (1.0 if share is None else share for share in shares)
                if until < GONE <= min(then, here) and None not in shares:
                    lost.add(sha)
        return tuple(sha for sha, _ in steps if sha in lost)


def later(
    repository: Repository,
    sha: str,
    at: str,
    files: Sequence[tuple[Touched, Entry | None]],
) -> tuple[Later, ...]:
    """Say what was done to files after a commit, up to another one.

    Args:
        repository: Where.
        sha: Id of the commit.
        at: Id of the other, whose tree counts.
        files: The files before and after `sha`, each with what it is in that tree.

    Raises:
        GitError: A commit is not there.
    """
    paths = [file.path for file, _ in files]
    found = history.between(repository, sha, at, paths)
    known = history.many(repository, found)
    single = [each for each in found if len(known[each].parents) < 2]
    steps: dict[str, list[tuple[str, Touched]]] = {path: [] for path in paths}
    for each, touched in entries.each(repository, single, paths):
        if touched.path in steps:
            steps[touched.path].append((each, touched))
    return tuple(Later(file=file, now=now, steps=tuple(steps[file.path])) for file, now in files)


def _undone(
    repository: Repository,
    steps: Sequence[tuple[str, Touched]],
    states: Sequence[Entry | None],
) -> Iterator[tuple[str, tuple[float | None, ...]]]:
    """Give for each step the share of it that is undone in each state; None where that is not told."""
    texts = _texts(repository, states)
    for start in range(0, len(steps), _AT_ONCE):
        chunk = steps[start : start + _AT_ONCE]
        wanted = [entry for _, change in chunk for entry in (change.before, change.after)]
        read = _texts(repository, wanted)
        for sha, change in chunk:
            yield (
                sha,
                tuple(
                    _share(change, state, (read[change.before], read[change.after], texts[state]))
                    for state in states
                ),
            )


def _share(
    change: Touched, state: Entry | None, texts: tuple[Text | None, Text | None, Text | None]
) -> float | None:
    if state == change.after:
        return 0.0
    if state == change.before:
        return 1.0
    before, after, now = texts
    return None if before is None or after is None or now is None else undone(before, after, now)


def _texts(
    repository: Repository, wanted: Sequence[Entry | None]
) -> Mapping[Entry | None, Text | None]:
    """Give contents; of a file that is not there, no bytes, and None for one that has no lines."""
    asked = list(dict.fromkeys(entry for entry in wanted if entry is not None and entry.is_file))
    found: dict[Entry | None, Text | None] = dict.fromkeys(wanted)
    for entry, text in zip(asked, contents(repository, asked, GREATEST), strict=True):
        found[entry] = None if text is None or is_binary(text) else Text(text)
    return {**found, None: Text(b"")}
