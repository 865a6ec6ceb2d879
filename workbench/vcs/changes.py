"""What a commit changes, file by file, as lines taken out and lines put in.

A change is two multisets of lines a file, and what is both taken out and put in is left out of both. So
it does not depend on how a diff was made: it is what the file has more, and has fewer, than before. Two
changes add up, and the change that takes one back is the same with its two sides swapped. Order is not
seen: a file whose lines only move has no lines here, and `moved` says so.

A line ends with LF, and a CR before that belongs to it; whether the last line of a file ends at all is
not seen. A rename is a file that goes and one that comes; `old_path` tells of those that keep all.
Merges are held against their first parent, and a root against nothing. Binary files, submodules and
what is too large have no lines here; their ids tell whether they are the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from workbench.errors import GitError
from workbench.vcs import history
from workbench.vcs.entries import Entry, contents
from workbench.vcs.git import GitFailed, as_path, checked, is_binary
from workbench.vcs.patches import MOST_BYTES, Patch, Record, records
from workbench.vcs.repository import Repository

_LINES = (
    *("-r", "--root", "-z", "--raw", "--patch", "--no-abbrev", "--unified=0", "--inter-hunk-context=0"),
    *("--no-renames", "--no-color", "--no-relative", "--diff-algorithm=myers", "--no-indent-heuristic"),
    *("--submodule=short", "--ignore-submodules=none", "-O/dev/null"),
)
_FILE = "100644"
_LINK = "160000"  # mode of a submodule: its id is a commit of another repository
_MISSING = re.compile(r"unable to read|could not fetch|missing (blob|tree)|bad (object|tree)|promisor")


@dataclass(frozen=True, kw_only=True, slots=True)
class FileChange:
    """What a commit changes in one file.

    Attributes:
        path: Its path, from the top of the repository; bytes that are no UTF-8 are surrogates.
        old_path: Path that it had before, if it came from there as it was; its path otherwise.
        before: Id of its content before; None if it was not there.
        after: Id of its content after; None if it is not there.
        removed: Lines that it has fewer, with how many times.
        added: Lines that it has more, with how many times.
        binary: It has no lines; ids tell what there is to tell.
        submodule: It is, or was, a submodule; ids are commits of another repository.
        mode_only: Its content is the same; its permissions differ.
        modes: Its permissions and kind before and after, as git writes them; 000000 for none.
        too_large: It changes more than is read here.
    """

    path: str
    old_path: str
    before: str | None
    after: str | None
    removed: Counter[bytes] = field(default_factory=Counter)
    added: Counter[bytes] = field(default_factory=Counter)
    binary: bool = False
    submodule: bool = False
    mode_only: bool = False
    modes: tuple[str, str] = ("", "")
    too_large: bool = False

    @property
    def opaque(self) -> bool:
        """Whether only ids tell what changed."""
        return self.binary or self.submodule or self.too_large

    @property
    def moved(self) -> bool:
        """Whether its lines are the same ones in another order, or differ only where the file ends."""
        return not (self.opaque or self.mode_only or self.removed or self.added) and (
            self.before is not None and self.after is not None
        )

    @property
    def size(self) -> int:
        """How many lines it takes out and puts in."""
        return self.removed.total() + self.added.total()


@dataclass(frozen=True, kw_only=True, slots=True)
class Changes:
    """What a commit changes.

    Attributes:
        sha: Id of the commit.
        parent: Id of the commit that it is held against, its first parent; None for a root.
        files: Files that it changes, by their paths.
    """

    sha: str
    parent: str | None
    files: Mapping[str, FileChange]

    @property
    def size(self) -> int:
        """How many lines it takes out and puts in."""
        return sum(file.size for file in self.files.values())


def changes_of(repository: Repository, sha: str) -> Changes | None:
    """Give what a commit changes; None if that cannot be told.

    It cannot where files or the commit's parent were never fetched, in partial and shallow clones.

    Raises:
        GitError: There is no such commit, or its id is not whole.
    """
    found = many(repository, [sha])
    if sha not in found:
        raise GitError(f"there is no commit {sha[:12]}")
    return found[sha]


def many(
    repository: Repository,
    shas: Iterable[str],
    *,
    parents: Mapping[str, str | None] | None = None,
    paths: Sequence[str] = (),
) -> dict[str, Changes | None]:
    """Give what commits change, with one process as long as nothing is missing; see `changes_of`.

    Args:
        repository: The repository.
        shas: Ids of commits; those that are not there are left out.
        parents: First parents by commit, None for roots, where they are known.
        paths: Only changes of these files; all, if there are none.

    Raises:
        GitError: An id is not whole.
    """
    asked = list(dict.fromkeys(checked(sha) for sha in shas))
    known = parents if parents is not None else _first_parents(repository, asked)
    found: dict[str, Changes | None] = {sha: None for sha in asked if sha in repository.cut}
    rest = [sha for sha in asked if sha in known and sha not in found]
    while rest:
        read: dict[str, Changes] = {}
        gap = len(rest)
        try:
            for changes in _stream(repository, rest, known, paths):
                read[changes.sha] = changes
        except GitFailed as error:
            if not _MISSING.search(error.what):
                raise
            gap = _read_to_gap(repository, rest, read, known, paths)
        for sha in rest[:gap]:  # a commit that changes nothing is not printed
            found[sha] = read.get(sha) or Changes(sha=sha, parent=known[sha], files={})
        found |= dict.fromkeys(rest[gap : gap + 1])
        rest = rest[gap + 1 :]
    return found


def lines_in(repository: Repository, blob: str) -> Counter[bytes] | None:
    """Give the lines of a content, with how many times it has each.

    None where it has no lines: it is binary, too large, or was never fetched.

    Raises:
        GitError: The id is not whole.
    """
    (content,) = contents(repository, [Entry(_FILE, checked(blob))], MOST_BYTES)
    return None if content is None or is_binary(content) else Counter(_split(content))


def _first_parents(repository: Repository, shas: Sequence[str]) -> dict[str, str | None]:
    commits = history.many(repository, shas)
    return {sha: next(iter(commit.parents), None) for sha, commit in commits.items()}


def _read_to_gap(
    repository: Repository,
    shas: Sequence[str],
    read: dict[str, Changes],
    parents: Mapping[str, str | None],
    paths: Sequence[str],
) -> int:
    """Read on one by one to the first commit that cannot be read, and give its place.

    git stops at the first thing that is missing, and does not say whose it is: it may have printed a
    part of that commit, or nothing yet. What came before the last commit that was read is whole.
    """
    last = max((place for place, sha in enumerate(shas) if sha in read), default=-1)
    for place in range(last + 1, len(shas)):
        try:
            for changes in _stream(repository, shas[place : place + 1], parents, paths):
                read[changes.sha] = changes
        except GitFailed:
            return place
    return len(shas)


def _stream(
    repository: Repository,
    shas: Sequence[str],
    parents: Mapping[str, str | None],
    paths: Sequence[str],
) -> Iterator[Changes]:
    """Give the changes of commits in their order; those that change nothing are not among them."""
    asked = "".join(f"{sha} {parents[sha] or ''}".rstrip() + "\n" for sha in shas).encode("ascii")
    words = ("diff-tree", "--stdin", *_LINES, "--", *paths)
    last: Record | None = None
    with repository.objects.reading(*words, input=asked) as answer:
        # A commit is whole once the next one begins, or git has ended well.
        for record in records(answer):
            if last:
                yield _changes(last, parents)
            last = record
    if last:
        yield _changes(last, parents)


def _changes(record: Record, parents: Mapping[str, str | None]) -> Changes:
    sha, entries, patches = record
    return Changes(sha=sha, parent=parents[sha], files=_files(entries, patches))


def _files(entries: Sequence[bytes], patches: Sequence[Patch]) -> dict[str, FileChange]:
    """Put together what git says of files and the patches of them, which come in the same order."""
    rest = iter(patches)
    found = {}
    gone: dict[str, str] = {}
    for meta, name in zip(entries[::2], entries[1::2], strict=True):
        old_mode, new_mode, old, new, status = meta[1:].decode("ascii").split(" ")
        try:
            sections = [next(rest) for _ in range(2 if status == "T" else 1)]
        except StopIteration:
            raise GitError("git diff-tree printed fewer patches than files") from None
        path = as_path(name)
        change = _file_change(path, (_id(old), _id(new)), (old_mode, new_mode), sections)
        found[path] = change
        if change.after is None and change.before and change.removed:
            gone[change.before] = path
    for path, change in found.items():
        if change.before is None and change.after in gone:
            found[path] = replace(change, old_path=gone[change.after])
    return found


def _file_change(
    path: str, ids: tuple[str | None, str | None], modes: tuple[str, str], sections: Sequence[Patch]
) -> FileChange:
    submodule = _LINK in modes
    binary = any(
        section.binary or any(b"\0" in line for line in (*section.removed, *section.added))
        for section in sections
    )
    too_large = any(section.too_large for section in sections)
    removed, added = Counter[bytes](), Counter[bytes]()
    if not (binary or too_large or submodule):
        removed.update(line for section in sections for line in section.removed)
        added.update(line for section in sections for line in section.added)
    return FileChange(
        path=path,
        old_path=path,
        before=ids[0],
        after=ids[1],
        removed=removed - added,
        added=added - removed,
        binary=binary and not submodule,
        submodule=submodule,
        mode_only=ids[0] == ids[1],
        modes=modes,
        too_large=too_large,
    )


def _id(text: str) -> str | None:
    return text if text.strip("0") else None


def _split(content: bytes) -> list[bytes]:
    lines = content.split(b"\n")
    return lines[:-1] if not lines[-1] else lines
