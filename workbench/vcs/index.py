"""What is looked up of a whole history at once: parents, titles, numbers, files; kept on disk.

One pass of `git log` over trees alone, with no content read, gives for each commit what it can be found
by: its parents, the key of its title, its number, what its message claims, and which files it changes
from which content to which. Patch-ids, which need content, are made for the commits that are asked for.

The index is a set of commits that is closed towards the past. To extend it to a tip, of any branch,
only what it has not yet is read. A commit never changes, so nothing in it goes stale; it is dropped as
a whole where a shallow clone is cut elsewhere than it was. Its file may be deleted or damaged at any
time, and several processes may write it: each replaces it as a whole, and the last one wins.

Of a longer history than MOST commits, the newest are read, and `whole` says so.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import TypeVar

from workbench.errors import GitError
from workbench.model.commits import Undoing
from workbench.vcs import columns, patchids, titles
from workbench.vcs.ancestry import ABSENT, Ancestry
from workbench.vcs.columns import Ragged
from workbench.vcs.git import Git, as_path, checked
from workbench.vcs.repository import Repository
from workbench.vcs.titles import Claim

INDEX_FILE = "commits.index"
MOST = 200_000  # commits read at once
FEW_PATHS = 64  # files that are sought one by one
_FIELDS = "%x00".join(("%H", "%P", "%s", "%b"))
_LOG = (
    *("log", "--stdin", "-z", "--raw", "-r", "--diff-merges=first-parent", "--root", "--no-abbrev"),
    *("--no-renames", "--ignore-submodules=none", "--no-relative", "-O/dev/null", "--encoding=UTF-8"),
    *("--no-show-signature", f"--format=tformat:{_FIELDS}", "--date-order", "--reverse"),
)
_SHORT = 16  # digits of an id of content that are kept


_T = TypeVar("_T")
_Record = tuple[str, list[bytes], list[tuple[bytes, bytes]]]  # id; parents, subject, body; files


class Index:
    """Commits by what they can be found by. A *place* is a commit's number; a parent's is lower.

    Args:
        repository: The repository.
        file: Where it is kept.

    Attributes:
        keys: Keys of titles (`titles.key`), by place.
        claims: What messages claim, by place; only of those that claim something.
        undoings: What was found out of commits, by place: it depends on a commit's past alone.
    """

    def __init__(self, repository: Repository, file: Path) -> None:
        self._repository = repository
        self._file = file
        self._ancestry = Ancestry()
        self._touching: dict[int, list[int]] = {}
        self._numbers = array("Q")
        self._paths: dict[bytes, int] = {}
        self._files, self._before, self._after = Ragged("Q"), array("Q"), array("Q")
        self._patch_ids: dict[int, bytes] = {}
        self._inverse_ids: dict[int, bytes] = {}
        self._changed = False
        self.keys: list[str] = []
        self.claims: dict[int, Claim] = {}
        self.undoings: dict[int, Undoing | None] = {}

    @classmethod
    def open(cls, repository: Repository, folder: Path) -> Index:
        """Give the index that is kept in a folder; an empty one if there is none that can be used."""
        index = cls(repository, folder / INDEX_FILE)
        stored = columns.read(index._file)
        if stored is not None and stored.cut == tuple(sorted(repository.cut)):
            index._load(stored)
        return index

    @property
    def whole(self) -> bool:
        """Whether all that its commits can be reached by is in it."""
        return self._ancestry.whole

    def __len__(self) -> int:
        return len(self._ancestry)

    def extend(self, tip: str) -> None:
        """Take in a commit and all that it can be reached by; what is there already is not read again.

        Raises:
            GitError: There is no such commit, or its id is not whole, or trees were never fetched.
        """
        if self.place(checked(tip)) is not None:
            return
        heads = _present(self._repository.objects, self._ancestry.heads())
        asked = "".join(f"{line}\n" for line in (tip, *(f"^{head}" for head in heads))).encode()
        words = (*_LOG, f"--max-count={MOST}")
        last: _Record | None = None
        with self._repository.objects.reading(*words, input=asked) as answer:
            # a commit is whole once the next one begins, or git has ended well
            for record in _records(_fields(answer)):
                if last:
                    self._add(*last)
                last = record
        if last:
            self._add(*last)
        if self.place(tip) is None:
            raise GitError(f"{tip[:12]} is no commit")
        self.__dict__.pop("_path_list", None)
        self._touching.clear()
        self._changed = True
        self.save()

    def save(self) -> None:
        """Keep what was found since; what `extend` reads is kept at once. See `columns.write`."""
        if not self._changed:
            return
        stored = columns.Stored(
            cut=tuple(sorted(self._repository.cut)),
            ancestry=self._ancestry.packed(),
            keys=self.keys,
            numbers=self._numbers.tobytes(),
            paths=list(self._paths),
            files=self._files.packed(),
            before=self._before.tobytes(),
            after=self._after.tobytes(),
            claims=self.claims,
            patch_ids=self._patch_ids,
            inverse_ids=self._inverse_ids,
            undoings=self.undoings,
        )
        self._changed = not columns.write(self._file, stored)

    def remember(self, place: int, undoing: Undoing | None) -> None:
        """Keep what was found out of a commit."""
        self.undoings[place] = undoing
        self._changed = True

    # one commit

    def place(self, sha: str) -> int | None:
        """Give the place of a commit; None if it is not in here."""
        return self._ancestry.place(sha)

    def sha(self, place: int) -> str:
        """Give the id of a commit."""
        return self._ancestry.sha(place)

    def parents(self, place: int) -> Sequence[int]:
        """Give the places of a commit's parents, the first one first; ABSENT for one not in here."""
        return self._ancestry.parents(place)

    def is_merge(self, place: int) -> bool:
        """Say whether a commit has more than one parent."""
        return self._ancestry.is_merge(place)

    def number(self, place: int) -> int:
        """Give the number of the pull request that a commit came by; 0 for none."""
        return self._numbers[place]

    def files(self, place: int) -> list[tuple[int, int, int]]:
        """Give the files that a commit changes: place of the path, and contents before and after.

        Contents are the first 64 bits of their ids, 0 for none: enough to look for, not to believe.
        """
        first, last = self._files.bounds(place)
        return list(
            zip(
                self._files.values[first:last],
                self._before[first:last],
                self._after[first:last],
                strict=True,
            )
        )

    def before(self, place: int, path_place: int) -> int:
        """Give what a file was before a commit that changes it, 0 for nothing."""
        return self._before[self._entry(place, path_place)]

    def after(self, place: int, path_place: int) -> int:
        """Give what a commit that changes a file made of it, 0 for nothing."""
        return self._after[self._entry(place, path_place)]

    def _entry(self, place: int, path_place: int) -> int:
        return self._files.values.index(path_place, *self._files.bounds(place))

    def path(self, path_place: int) -> str:
        """Give a path by its place."""
        return as_path(self._path_list[path_place])

    # many commits

    def titled(self, key: str, *, cut: bool = False) -> list[int]:
        """Give the commits whose title has a key, or begins with it if it was cut off."""
        if cut:
            return [place for place, each in enumerate(self.keys) if each.startswith(key)]
        return _places(self.keys, key)

    def numbered(self, number: int) -> list[int]:
        """Give the commits that came by a pull request."""
        return _places(self._numbers, number)

    def named(self, sha: str) -> list[int]:
        """Give the commits whose id begins with some digits."""
        return self._ancestry.named(sha)

    def touching(self, path_place: int) -> list[int]:
        """Give the commits that change a file, oldest first."""
        if path_place not in self._touching:
            if len(self._touching) >= FEW_PATHS:
                self._touch_all()
            else:
                entries = _places(self._files.values, path_place)
                found = [bisect_right(self._files.ends, entry) for entry in entries]
                self._touching[path_place] = found
        return self._touching[path_place]

    def _touch_all(self) -> None:
        """Fill in the commits that change each file: one pass, where most ask for a few files."""
        self._touching = {path: [] for path in range(len(self._paths))}
        for place in range(len(self)):
            for path in self._files[place]:
                self._touching[path].append(place)

    def same_files(self, place: int) -> list[int]:
        """Give the commits that change the very files that a commit changes, itself among them."""
        mine = set(self._files[place])
        if not mine:
            return []
        fewest = min((self.touching(path) for path in mine), key=len)
        return [other for other in fewest if set(self._files[other]) == mine]

    def ancestors(self, place: int) -> set[int]:
        """Give a commit and all that it can be reached by."""
        return self._ancestry.ancestors(place)

    def descendants(self, place: int, tip: int) -> set[int]:
        """Give the commits that a tip can be reached by, and that can be reached from a commit."""
        return self._ancestry.descendants(place, tip)

    def is_ancestor(self, earlier: int, later: int) -> bool:
        """Say whether one commit can be reached from another."""
        return self._ancestry.is_ancestor(earlier, later)

    def patch_ids(self, places: Iterable[int]) -> Mapping[int, bytes]:
        """Give ids of changes, empty where there is none; those that were never asked for are made."""
        asked = list(places)
        missing = [place for place in asked if place not in self._patch_ids]
        if missing:
            self._patch_ids |= self._make_patch_ids(missing)
            self._changed = True
        return {place: self._patch_ids[place] for place in asked}

    def inverse_patch_id(self, place: int) -> bytes:
        """Give the id of the change that would take a commit back; empty if there is none."""
        if place not in self._inverse_ids:
            pair = self._pair(place)
            found = patchids.inverse(self._repository.objects, *pair) if pair else b""
            self._inverse_ids[place] = found
            self._changed = True
        return self._inverse_ids[place]

    def _make_patch_ids(self, places: Iterable[int]) -> dict[int, bytes]:
        pairs = {place: pair for place in places if (pair := self._pair(place))}
        made = patchids.many(self._repository.objects, list(pairs.values()))
        return {place: made.get(self.sha(place), b"") for place in places}

    def _pair(self, place: int) -> tuple[str, str | None] | None:
        """Give a commit and its first parent, None for a root; None if the parent was cut off."""
        sha = self.sha(place)
        parent = next(iter(self.parents(place)), None)
        if parent == ABSENT or sha in self._repository.cut:
            return None
        return sha, None if parent is None else self.sha(parent)

    def _add(self, sha: str, message: Sequence[bytes], files: Sequence[tuple[bytes, bytes]]) -> None:
        parents, subject, body = (field.decode("utf-8", "replace") for field in message)
        place = self._ancestry.add(sha, parents.split())
        if place is None:  # heads that were swept away no longer tell what is known
            return
        self.keys.append(titles.key(titles.title_of(subject, body)))
        self._numbers.append(titles.number_of(subject) or 0)
        if claim := titles.claim(subject, body):
            self.claims[place] = claim
        paths = []
        if sha not in self._repository.cut:  # all its files would seem to be its own
            for meta, path in files:
                paths.append(self._paths.setdefault(path, len(self._paths)))
                _old_mode, _new_mode, old, new, _status = meta.lstrip(b"\n:").split(b" ")
                self._before.append(int(old[:_SHORT], 16))
                self._after.append(int(new[:_SHORT], 16))
        self._files.add(paths)

    def _load(self, stored: columns.Stored) -> None:
        self._ancestry.load(stored.ancestry)
        self.keys = stored.keys
        self._numbers.frombytes(stored.numbers)
        self._paths = {path: place for place, path in enumerate(stored.paths)}
        self._files.load(stored.files)
        self._before.frombytes(stored.before)
        self._after.frombytes(stored.after)
        self.claims = stored.claims
        self._patch_ids = stored.patch_ids
        self._inverse_ids = stored.inverse_ids
        self.undoings = stored.undoings

    @cached_property
    def _path_list(self) -> list[bytes]:
        return list(self._paths)


def _places(values: Sequence[_T], wanted: _T) -> list[int]:
    """Give the places of a value; faster than a loop, as most are sought where there are few."""
    found = []
    at = -1
    with suppress(ValueError):
        while True:
            at = values.index(wanted, at + 1)
            found.append(at)
    return found


def _present(git: Git, shas: Sequence[str]) -> list[str]:
    """Give those commits that are still there: branches that are gone are swept away some day."""
    if not shas:
        return []
    asked = "".join(f"{sha}\n" for sha in shas).encode("ascii")
    answer = git.run("cat-file", "--batch-check=%(objectname) %(objecttype)", input=asked)
    return [line[:-7] for line in answer.decode("ascii").splitlines() if line.endswith(" commit")]


def _records(fields: Iterator[bytes]) -> Iterator[_Record]:
    """Give the commits in what `git log` prints; one that is cut short is left out."""
    sha = next(fields, None)
    while sha is not None:
        message = list(islice(fields, 3))
        files = []
        sha_or_file = next(fields, None)
        while sha_or_file is not None and sha_or_file.startswith((b":", b"\n:")):
            if (path := next(fields, None)) is None:
                return
            files.append((sha_or_file, path))
            sha_or_file = next(fields, None)
        if len(message) == 3:
            yield sha.decode("ascii"), message, files
        sha = sha_or_file


def _fields(answer: BufferedReader) -> Iterator[bytes]:
    """Give what ends with NUL in what a command prints."""
    rest = b""
    while chunk := answer.read1(1 << 20):
        *whole, rest = (rest + chunk).split(b"\0")
        yield from whole
