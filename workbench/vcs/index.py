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
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from io import BufferedReader
from pathlib import Path
from typing import TypeVar

from workbench.errors import GitError
from workbench.model.commits import Undoing
from workbench.vcs import columns, patchids, titles
from workbench.vcs.columns import Ragged
from workbench.vcs.git import Git, as_path, checked
from workbench.vcs.repository import Repository
from workbench.vcs.titles import Claim

INDEX_FILE = "commits.index"
MOST = 200_000  # commits read at once
ABSENT = -1  # place of a parent that is not in here
_FIELDS = "%x00".join(("%H", "%P", "%s", "%b"))
_LOG = (
    *("log", "--stdin", "-z", "--raw", "-r", "--diff-merges=first-parent", "--root", "--no-abbrev"),
    *("--no-renames", "--ignore-submodules=none", "--no-relative", "-O/dev/null", "--encoding=UTF-8"),
    *("--no-show-signature", f"--format=tformat:{_FIELDS}", "--date-order", "--reverse"),
)
_SHORT = 16  # digits of an id of content that are kept


class Index:
    """Commits by what they can be found by. A *place* is a commit's number; a parent's is lower.

    Args:
        repository: The repository.
        file: Where it is kept.

    Attributes:
        keys: Keys of titles (`titles.key`), by place.
        claims: What messages claim, by place; only of those that claim something.
        undoings: What was found out of commits, by place: it depends on a commit's past alone.
        whole: All that its commits can be reached from is in it.
    """

    def __init__(self, repository: Repository, file: Path) -> None:
        self._repository = repository
        self._file = file
        self._shas: list[str] = []
        self._places: dict[str, int] = {}
        self._parents = Ragged("q")
        self._numbers = array("Q")
        self._paths: dict[bytes, int] = {}
        self._files, self._before, self._after = Ragged("Q"), array("Q"), array("Q")
        self._patch_ids: dict[int, bytes] = {}
        self._changed = False
        self.keys: list[str] = []
        self.claims: dict[int, Claim] = {}
        self.undoings: dict[int, Undoing | None] = {}
        self.whole = True

    @classmethod
    def open(cls, repository: Repository, folder: Path) -> Index:
        """Give the index that is kept in a folder; an empty one if there is none that can be used."""
        index = cls(repository, folder / INDEX_FILE)
        stored = columns.read(index._file)
        if stored is not None and stored.cut == tuple(sorted(repository.cut)):
            index._load(stored)
        return index

    def __len__(self) -> int:
        return len(self._shas)

    def extend(self, tip: str) -> None:
        """Take in a commit and all that it can be reached by; what is there already is not read again.

        Raises:
            GitError: There is no such commit, or its id is not whole, or trees were never fetched.
        """
        if checked(tip) in self._places:
            return
        heads = _present(self._repository.objects, self._heads())
        asked = "".join(f"{line}\n" for line in (tip, *(f"^{head}" for head in heads))).encode()
        words = (*_LOG, f"--max-count={MOST}")
        with self._repository.objects.reading(*words, input=asked) as answer:
            self._take(_fields(answer))
        if tip not in self._places:
            raise GitError(f"{tip[:12]} is no commit")
        self._forget()
        self._changed = True
        self.save()

    def save(self) -> None:
        """Keep what was found since; what `extend` reads is kept at once. See `columns.write`."""
        if not self._changed:
            return
        stored = columns.Stored(
            cut=tuple(sorted(self._repository.cut)),
            shas=bytes.fromhex("".join(self._shas)),
            parents=self._parents.packed(),
            keys=self.keys,
            numbers=self._numbers.tobytes(),
            paths=list(self._paths),
            files=self._files.packed(),
            before=self._before.tobytes(),
            after=self._after.tobytes(),
            claims=self.claims,
            patch_ids=self._patch_ids,
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
        return self._places.get(sha)

    def sha(self, place: int) -> str:
        """Give the id of a commit."""
        return self._shas[place]

    def parents(self, place: int) -> Sequence[int]:
        """Give the places of a commit's parents, the first one first; ABSENT for one not in here."""
        return self._parents[place]

    def is_merge(self, place: int) -> bool:
        """Say whether a commit has more than one parent."""
        return len(self._parents[place]) > 1

    def number(self, place: int) -> int:
        """Give the number of the pull request that a commit came by; 0 for none."""
        return self._numbers[place]

    def files(self, place: int) -> list[tuple[int, int, int]]:
        """Give the files that a commit changes: place of the path, and contents before and after.

        Contents are the first 64 bits of their ids, 0 for none: enough to look for, not to believe.
        """
        first = self._files.ends[place - 1] if place else 0
        last = self._files.ends[place]
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
        first = self._files.ends[place - 1] if place else 0
        return self._files.values.index(path_place, first, self._files.ends[place])

    def path(self, path_place: int) -> str:
        """Give a path by its place."""
        return as_path(self._path_list[path_place])

    # many commits

    def titled(self, key: str, *, cut: bool = False) -> Sequence[int]:
        """Give the commits whose title has a key, or begins with it if it was cut off."""
        if not cut:
            return self._by_key.get(key, ())
        return [place for place, each in enumerate(self.keys) if each.startswith(key)]

    def numbered(self, number: int) -> Sequence[int]:
        """Give the commits that came by a pull request."""
        return self._by_number.get(number, ())

    def named(self, sha: str) -> Sequence[int]:
        """Give the commits whose id begins with some digits."""
        if sha in self._places:
            return [self._places[sha]]
        return [place for place, each in enumerate(self._shas) if each.startswith(sha)]

    def touching(self, path_place: int) -> Sequence[int]:
        """Give the commits that change a file, oldest first."""
        return self._by_path.get(path_place, ())

    def same_files(self, place: int) -> Sequence[int]:
        """Give the commits that change the very files that a commit changes, itself among them."""
        return self._by_files.get(self._set_of_files(place), ())

    def ancestors(self, place: int, floor: int = 0) -> set[int]:
        """Give a commit and all that it can be reached by, down to a place."""
        seen = {place}
        waiting = [place]
        while waiting:
            for parent in self._parents[waiting.pop()]:
                if parent >= floor and parent not in seen:
                    seen.add(parent)
                    waiting.append(parent)
        return seen

    def descendants(self, place: int, tip: int) -> set[int]:
        """Give the commits that a tip can be reached by, and that can be reached from a commit."""
        found = {place}
        for each in sorted(self.ancestors(tip, place)):
            if not found.isdisjoint(self._parents[each]):
                found.add(each)
        return found - {place} if tip in found else set()

    def is_ancestor(self, earlier: int, later: int) -> bool:
        """Say whether one commit can be reached from another."""
        return earlier <= later and earlier in self.ancestors(later, earlier)

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
        pair = self._pair(place)
        return patchids.inverse(self._repository.objects, *pair) if pair else b""

    def _make_patch_ids(self, places: Iterable[int]) -> dict[int, bytes]:
        pairs = {place: pair for place in places if (pair := self._pair(place))}
        made = patchids.many(self._repository.objects, list(pairs.values()))
        return {place: made.get(self._shas[place], b"") for place in places}

    def _pair(self, place: int) -> tuple[str, str | None] | None:
        """Give a commit and its first parent, None for a root; None if the parent was cut off."""
        sha = self._shas[place]
        parent = next(iter(self._parents[place]), None)
        if parent == ABSENT or sha in self._repository.cut:
            return None
        return sha, None if parent is None else self._shas[parent]

    def _heads(self) -> list[str]:
        """Give the commits that are no one's parents."""
        return [
            self._shas[place] for place in set(range(len(self._shas))).difference(self._parents.values)
        ]

    def _take(self, fields: Iterator[bytes]) -> None:
        sha = next(fields, None)
        while sha is not None:
            parents, subject, body = (next(fields).decode("utf-8", "replace") for _ in range(3))
            files = []
            sha_or_file = next(fields, None)
            while sha_or_file is not None and sha_or_file.startswith((b":", b"\n:")):
                files.append((sha_or_file, next(fields)))
                sha_or_file = next(fields, None)
            self._add(sha.decode("ascii"), parents.split(), subject, body, files)
            sha = sha_or_file

    def _add(
        self,
        sha: str,
        parents: Sequence[str],
        subject: str,
        body: str,
        files: Iterable[tuple[bytes, bytes]],
    ) -> None:
        if sha in self._places:  # heads that were swept away no longer tell what is known
            return
        place = self._places[sha] = len(self._shas)
        self._shas.append(sha)
        known = [self._places.get(parent, ABSENT) for parent in parents]
        self._parents.add(known)
        self.whole = self.whole and ABSENT not in known
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
        width = len(stored.shas) // len(stored.keys) * 2 if stored.keys else 40
        digits = stored.shas.hex()
        self._shas = [digits[at : at + width] for at in range(0, len(digits), width)]
        self._places = {sha: place for place, sha in enumerate(self._shas)}
        self._parents.load(stored.parents)
        self.whole = ABSENT not in self._parents.values
        self.keys = stored.keys
        self._numbers.frombytes(stored.numbers)
        self._paths = {path: place for place, path in enumerate(stored.paths)}
        self._files.load(stored.files)
        self._before.frombytes(stored.before)
        self._after.frombytes(stored.after)
        self.claims = stored.claims
        self._patch_ids = stored.patch_ids
        self.undoings = stored.undoings

    # made when somebody asks, and again once there are more commits

    @cached_property
    def _path_list(self) -> list[bytes]:
        return list(self._paths)

    @cached_property
    def _by_key(self) -> Mapping[str, Sequence[int]]:
        return _grouped(self.keys)

    @cached_property
    def _by_number(self) -> Mapping[int, Sequence[int]]:
        return _grouped(self._numbers)

    @cached_property
    def _by_files(self) -> Mapping[bytes, Sequence[int]]:
        return _grouped(map(self._set_of_files, range(len(self))))

    @cached_property
    def _by_path(self) -> Mapping[int, Sequence[int]]:
        found = defaultdict(list)
        for place in range(len(self)):
            for path in self._files[place]:
                found[path].append(place)
        return found

    def _set_of_files(self, place: int) -> bytes:
        return array("Q", sorted(self._files[place])).tobytes()

    def _forget(self) -> None:
        for name in ("_path_list", "_by_key", "_by_number", "_by_files", "_by_path"):
            self.__dict__.pop(name, None)


_Key = TypeVar("_Key", bound=Hashable)


def _grouped(keys: Iterable[_Key]) -> dict[_Key, list[int]]:
    found: dict[_Key, list[int]] = defaultdict(list)
    for place, key in enumerate(keys):
        found[key].append(place)
    return found


def _present(git: Git, shas: Sequence[str]) -> list[str]:
    """Give those commits that are still there: branches that are gone are swept away some day."""
    if not shas:
        return []
    asked = "".join(f"{sha}\n" for sha in shas).encode("ascii")
    answer = git.run("cat-file", "--batch-check=%(objectname) %(objecttype)", input=asked)
    return [line[:-7] for line in answer.decode("ascii").splitlines() if line.endswith(" commit")]


def _fields(answer: BufferedReader) -> Iterator[bytes]:
    """Give what ends with NUL in what a command prints."""
    rest = b""
    while chunk := answer.read1(1 << 20):
        *whole, rest = (rest + chunk).split(b"\0")
        yield from whole
