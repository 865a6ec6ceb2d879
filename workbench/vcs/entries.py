"""Files as trees have them, by mode and id: of a tree, and before and after a commit.

A merge is held against its first parent, a root commit against the empty tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from workbench.vcs.git import as_path, checked, empty_tree
from workbench.vcs.repository import Repository

_AT_ONCE = 400  # paths of one command line
_RENAMES = ("-M", "-l1000")
SUBMODULE, LINK = "160000", "120000"
GREATEST = 4 << 20  # bytes of a file whose content is looked at


@dataclass(frozen=True, slots=True)
class Entry:
    """A file in a tree: its mode, as git writes it, and the id of its content."""

    mode: str
    id: str

    @property
    def is_file(self) -> bool:
        """Whether it has content of its own, and is no link."""
        return self.mode not in (SUBMODULE, LINK)


@dataclass(frozen=True, kw_only=True, slots=True)
class Touched:
    """A file before and after a commit.

    Attributes:
        path: Its path after it; before it, if it was deleted.
        was_at: Its path before, where it was renamed; else the same.
        before: What it was; None if it was not there.
        after: What it became; None if it was deleted.
    """

    path: str
    was_at: str
    before: Entry | None
    after: Entry | None


def at(repository: Repository, sha: str, paths: Sequence[str]) -> Mapping[str, Entry]:
    """Give the files that a commit has at some paths; what is not there is left out."""
    found = {}
    for start in range(0, len(paths), _AT_ONCE):
        said = repository.objects.run(
            *("ls-tree", "-z", "--full-tree", checked(sha), "--"),
            *paths[start : start + _AT_ONCE],
        )
        for line in said.split(b"\0")[:-1]:
            head, _, path = line.partition(b"\t")
            mode, kind, id = head.decode().split(" ")
            if kind != "tree":
                found[as_path(path)] = Entry(mode, id)
    return found


def touched(repository: Repository, sha: str, paths: Sequence[str] = ()) -> tuple[Touched, ...]:
    """Give the files that a commit changes, by path; with `paths`, of those alone and no renames."""
    parents = repository.objects.text("rev-list", "--parents", "-n1", checked(sha)).split()[1:]
    since = parents[0] if parents else empty_tree(repository.objects)
    return changed(repository, since, sha, paths)


def changed(
    repository: Repository, since: str, until: str, paths: Sequence[str] = ()
) -> tuple[Touched, ...]:
    """Give the files that differ between two commits or trees; see `touched`."""
    renames = () if paths else _RENAMES
    said = repository.objects.run(
        *("diff-tree", "-r", "--raw", "-z", "--no-abbrev"),
        *(*renames, checked(since), checked(until), "--", *paths),
    )
    fields = iter(said.split(b"\0")[:-1])
    return tuple(_touched(head.decode(), fields) for head in fields)


def each(
    repository: Repository, shas: Sequence[str], paths: Sequence[str]
) -> Iterator[tuple[str, Touched]]:
    """Give what each of some commits changes of some files, in the order of the commits; no renames."""
    asked = "".join(f"{checked(sha)}\n" for sha in shas).encode("ascii")
    words = ("diff-tree", "--stdin", "-r", "--root", "--raw", "-z", "--no-abbrev", "--no-renames")
    said = repository.objects.run(*words, "--", *paths, input=asked) if shas else b""
    fields = iter(said.split(b"\0")[:-1])
    sha = ""
    for field in fields:
        if field.startswith(b":"):
            yield sha, _touched(field.decode(), fields)
        else:
            sha = field.decode()


def contents(repository: Repository, entries: Iterable[Entry | None], most: int) -> list[bytes | None]:
    """Give contents of files, in order; None for what is not there or has more than `most` bytes."""
    wanted = [entry.id if entry else "" for entry in entries]
    asked = "".join(f"{id}\n" for id in wanted if id).encode()
    sizes = iter(repository.objects.run("cat-file", "--batch-check", input=asked).splitlines())
    heads = [next(sizes).split() if id else [] for id in wanted]
    fit = [len(head) == 3 and head[1] == b"blob" and int(head[2]) <= most for head in heads]
    asked = "".join(f"{id}\n" for id, fits in zip(wanted, fit, strict=True) if fits).encode()
    said = repository.objects.run("cat-file", "--batch", input=asked) if asked else b""
    found: list[bytes | None] = []
    place = 0
    for head, fits in zip(heads, fit, strict=True):
        if not fits:
            found.append(None)
            continue
        start = said.index(b"\n", place) + 1
        place = start + int(head[2])
        found.append(said[start:place])
        place += 1  # the line break behind it
    return found


def _touched(head: str, fields: Iterable[bytes]) -> Touched:
    """Read `:MODE MODE ID ID STATUS` and the one or two paths that follow it."""
    more = iter(fields)
    was_mode, mode, was_id, id, status = head.removeprefix(":").split(" ")
    was_at = path = as_path(next(more))
    if status[0] in "RC":
        path = as_path(next(more))
    before = Entry(was_mode, was_id) if status[0] != "A" else None
    after = Entry(mode, id) if status[0] != "D" else None
    return Touched(path=path, was_at=was_at, before=before, after=after)
