"""What git says of commits: what reverted what and how one can tell, and what is still in the tree.

Ids are whole ones, of 40 (or 64) hexadecimal digits. Texts are as git has them, and untrusted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


@dataclass(frozen=True, kw_only=True, slots=True)
class Commit:
    """A commit.

    Attributes:
        sha: Its id.
        parents: Ids of its parents, the first one first; none for a root.
        author: Name of its author.
        at: When it was committed, UTC.
        subject: First paragraph of its message, in one line.
        body: The rest of its message.
    """

    sha: str
    parents: tuple[str, ...]
    author: str
    at: datetime
    subject: str
    body: str = ""


class How(StrEnum):
    """How one can tell that a commit reverts another, the plainest first."""

    TITLE = "title"
    NUMBER = "number"
    PATCH_ID = "patch-id"
    LINES = "lines"


class RevertKind(StrEnum):
    """What a commit does to earlier ones."""

    FULL = "full"  # takes back one commit, line by line
    ADAPTED = "adapted"  # takes back one commit, and a few lines differ
    PARTIAL = "partial"  # takes back a part of one commit
    MULTI = "multi"  # takes back several commits
    REVERT_OF_REVERT = "revert-of-revert"  # takes back a revert
    RELAND = "reland"  # makes a reverted change again
    NOT_A_REVERT = "not-a-revert"  # whatever its title says, it takes nothing back
    UNKNOWN = "unknown"  # it says that it takes something back, and what cannot be told


@dataclass(frozen=True, kw_only=True, slots=True)
class Clue:
    """One reason to believe that a commit reverts, or makes again, another.

    Attributes:
        how: What kind of reason.
        detail: What was found, in words.
    """

    how: How
    detail: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Match:
    """One commit that another takes back, or makes again.

    Attributes:
        commit: The commit that is taken back, or the one that takes it back: the other side.
        clues: Reasons, the plainest first; never empty.
        coverage: Share of the earlier commit's lines that the later one takes back; None if not known.
        purity: Share of the later commit's lines that do so; None if not known.
    """

    commit: str
    clues: tuple[Clue, ...]
    coverage: float | None = None
    purity: float | None = None

    @property
    def how(self) -> How:
        """The plainest of the reasons."""
        return self.clues[0].how


@dataclass(frozen=True, kw_only=True, slots=True)
class Undoing:
    """What a commit takes back, or makes again.

    Attributes:
        commit: The commit.
        kind: What it does.
        matches: The commits that it does it to, the nearest first; none for `unknown`.
        because: Why it cannot be told, or is none; empty otherwise.
    """

    commit: str
    kind: RevertKind
    matches: tuple[Match, ...] = ()
    because: str = ""


class Presence(StrEnum):
    """Whether a change is in a tree, by its lines and not by what messages say."""

    LIVE = "live"
    PARTLY = "partly"
    REVERTED = "reverted"
    ABSENT = "absent"  # the commit is not part of this history
    UNKNOWN = "unknown"  # what is needed to tell is not there, as in a shallow or partial clone

    @property
    def in_tree(self) -> bool:
        """Whether any of it is there."""
        return self in (Presence.LIVE, Presence.PARTLY)


@dataclass(frozen=True, kw_only=True, slots=True)
class FileStanding:
    """One file of a change, held against a tree.

    Attributes:
        path: Its path in the tree, from the top of the repository.
        presence: Whether the change of this file is there.
        kept: Share of the change's lines in this file that are still as it made them, 0 to 1.
        restored: It equals its state before the change: the way of a checkout of the parent's file.
        later: Commits after the change that touched it, oldest first. A checkout of its earlier state
            loses them; where `restored`, it has lost those that came before the revert.
        problem: Why it cannot be told; empty when it can.
    """

    path: str
    presence: Presence
    kept: float
    restored: bool
    later: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class CommitStanding:
    """A commit that is linked to hypotheses, held against a tree.

    Attributes:
        named: How the campaign names it.
        commit: The commit; None if there is no such one.
        at: Id of the commit whose tree it was held against.
        presence: Whether its change is there.
        picked: Where it is not part of this history, a commit of it that makes the very same change;
            empty if there is none. `presence` is then that of the other.
        files: The same, file by file.
        reverted_by: Commits that took it back, wholly or in part, oldest first.
        remade_by: Commits that made it again after that, oldest first.
        checkout_would_lose: Later commits that a checkout of its files as they were before would lose;
            for a change that is already reverted, those that its revert lost. Oldest first.
        taken_back_safely: Whether its diff alone can be taken back on this tree, as tried in scratch
            files; None if that was not tried.
        undoing: What it takes back itself; None if it takes back nothing and does not say so.
        link: Its address on the web; empty where that is not known.
        problem: Why it cannot be told; empty when all is well.
    """

    named: str
    commit: Commit | None
    at: str = ""
    presence: Presence = Presence.UNKNOWN
    picked: str = ""
    files: tuple[FileStanding, ...] = ()
    reverted_by: tuple[Match, ...] = ()
    remade_by: tuple[Match, ...] = ()
    checkout_would_lose: tuple[str, ...] = ()
    taken_back_safely: bool | None = None
    undoing: Undoing | None = None
    link: str = ""
    problem: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftOver:
    """A line that somebody added and should not stay.

    Attributes:
        path: Its file, from the top of the repository.
        line: Its number there.
        text: The line.
        why: What it is: a tag, or the pattern that it matches.
        hypothesis: Hypothesis that its tag names; empty if it is only suspicious.
        registered: A hypothesis of the campaign knows of it.
        commit: Commit that added it; empty for one that is not committed.
    """

    path: str
    line: int
    text: str
    why: str
    hypothesis: str = ""
    registered: bool = False
    commit: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftOvers:
    """What a campaign has left in the code.

    Attributes:
        lines: The lines, by path and number.
        at: Id of the commit that was looked through.
        since: Id of the commit after which lines count as added; empty if only tags and what is not
            committed were looked for.
        uncommitted: The work tree was looked through as well.
        cut: There is more than is listed.
    """

    lines: tuple[LeftOver, ...] = ()
    at: str = ""
    since: str = ""
    uncommitted: bool = False
    cut: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class History:
    """What git says of all that a campaign links, at one moment.

    Attributes:
        at: Id of the commit that everything was held against; empty if there is none.
        name: What that commit is called, such as `HEAD` or a branch.
        commits: Standing of each commit, by the name that the campaign has for it.
        facts: What a reader must know of the repository: `shallow`, `partial`, `bare`.
        subjects: Subjects of all commits that are named in here, by their ids.
        problem: Why git could not be asked at all; empty when it was.
    """

    at: str
    name: str
    commits: Mapping[str, CommitStanding] = field(default_factory=dict)
    facts: tuple[str, ...] = ()
    subjects: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Code:
    """What code lies in a folder, and so what is run from there.

    Attributes:
        commit: The commit that is checked out; None outside of a repository, or before its first one.
        dirty: Tracked files differ from it.
        patch_sha256: Digest of the difference, secrets taken out; empty if there is none.
        untracked: Files that git does not know and does not ignore, by path.
        patches: Digests of patches that were laid over the commit, by name.
    """

    commit: str | None
    dirty: bool = False
    patch_sha256: str = ""
    untracked: tuple[str, ...] = ()
    patches: Mapping[str, str] = field(default_factory=dict)

    @property
    def identity(self) -> tuple[str, str, tuple[str, ...]]:
        """What is equal exactly for equal tracked files; others come and go while a test runs."""
        return self.commit or "", self.patch_sha256, tuple(self.patches.values())
