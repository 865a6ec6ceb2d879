"""Unified diffs in git's dress: read, reverse, apply, render. Pure: trees of texts in, trees out.

The `index` line of each file carries both full blob ids, as `git diff --full-index` writes it. They are
the expectation that an application is held to: a patch that still fits, but on another text than it was
made for, is told from one that is up to date.

Only what a history of source files needs is understood: text, one mode, no renames, and a newline at
the end of each file.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Tree = Mapping[str, str]
"""Path to text."""

ABSENT = "0" * 40
"""Blob id of a file that is not there."""

_FUZZ = 3  # all lines of context
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_INDEX = re.compile(r"index ([0-9a-f]{40})\.\.([0-9a-f]{40})")
_FILE = "diff --git "


class PatchError(ValueError):
    """A patch is malformed, or does not fit the tree that it is applied to."""


class Drifted(PatchError):
    """A patch fits, but the text before or after it is not the one that it was made for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Hunk:
    """A run of lines and what takes its place.

    Attributes:
        start: Where `before` begins in the old text, from 0.
        new_start: Where `after` begins in the new text, from 0.
        before: Old lines, context included, each with its newline.
        after: New lines, context included.
    """

    start: int
    new_start: int
    before: tuple[str, ...]
    after: tuple[str, ...]

    def trimmed(self, fuzz: int) -> Hunk:
        """Give the hunk without its outermost lines of context, up to `fuzz` at each end."""
        pairs = list(zip(self.before, self.after, strict=False))
        turned = list(zip(reversed(self.before), reversed(self.after), strict=False))
        head, tail = (_equal(ends[:fuzz]) for ends in (pairs, turned))
        return Hunk(
            start=self.start + head,
            new_start=self.new_start + head,
            before=self.before[head : len(self.before) - tail],
            after=self.after[head : len(self.after) - tail],
        )


def _equal(pairs: list[tuple[str, str]]) -> int:
    return next((place for place, (old, new) in enumerate(pairs) if old != new), len(pairs))


@dataclass(frozen=True, kw_only=True, slots=True)
class FilePatch:
    """The change of one file.

    Attributes:
        path: The file, relative to the root of the tree.
        before: Blob id of the old text; `ABSENT` if the patch makes the file.
        after: Blob id of the new text; `ABSENT` if the patch removes the file.
        hunks: Changes, from top to bottom.
    """

    path: str
    before: str
    after: str
    hunks: tuple[Hunk, ...]

    def reverse(self) -> FilePatch:
        """Give the patch that undoes this one."""
        hunks = tuple(
            Hunk(start=hunk.new_start, new_start=hunk.start, before=hunk.after, after=hunk.before)
            for hunk in self.hunks
        )
        return FilePatch(path=self.path, before=self.after, after=self.before, hunks=hunks)


def blob_id(text: str | None) -> str:
    """Give git's id (SHA-1) of a file with this text, `ABSENT` for None."""
    if text is None:
        return ABSENT
    data = text.encode()
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def reverse(patches: Iterable[FilePatch]) -> tuple[FilePatch, ...]:
    """Give the patches that undo these, last one first."""
    return tuple(patch.reverse() for patch in reversed(tuple(patches)))


def apply(tree: Tree, patches: Iterable[FilePatch], *, exact: bool = True) -> dict[str, str]:
    """Apply patches to a tree and give the new tree.

    Hunks may have moved: each is put where its old lines stand nearest to the place that it names. If
    need be, and only if not `exact`, lines of context may differ if the rest is found only once.

    Args:
        tree: Left as it is.
        patches: Applied in order.
        exact: Hold the texts before and after to the blob ids of the patch.

    Raises:
        Drifted: A patch fits, but not the very text that it names (only if `exact`).
        PatchError: A hunk does not fit, or a file is there that should not be, or the reverse.
    """
    result = dict(tree)
    for patch in patches:
        old = result.pop(patch.path, None)
        if (old is None) != (patch.before == ABSENT):
            raise PatchError(f"{patch.path}: {'missing' if old is None else 'already there'}")
        new = None if patch.after == ABSENT else _rewrite(patch, old or "", 0 if exact else _FUZZ)
        if exact and (blob_id(old), blob_id(new)) != (patch.before, patch.after):
            raise Drifted(f"{patch.path}: the text is not the one that this patch was made for")
        if new is not None:
            result[patch.path] = new
    return result


def _rewrite(patch: FilePatch, text: str, fuzz: int) -> str:
    lines = _lines(text, patch.path)
    result: list[str] = []
    done = moved = 0
    for hunk in patch.hunks:
        hunk, at = _place(lines, hunk, moved, done, fuzz)
        if at is None:
            raise PatchError(f"{patch.path}:{hunk.start + 1}: the patch does not fit here any more")
        result += lines[done:at]
        result += hunk.after
        done, moved = at + len(hunk.before), at - hunk.start
    return "".join(result + lines[done:])


def _place(lines: list[str], hunk: Hunk, moved: int, least: int, fuzz: int) -> tuple[Hunk, int | None]:
    """Find where a hunk goes, with as much of its context as fits."""
    for missing in range(fuzz + 1):
        less = hunk.trimmed(missing)
        if less.before or not missing:
            places = _find(lines, less.before, near=less.start + moved, least=least)
            if len(places) == 1 or (places and not missing):
                return less, places[0]
    return hunk, None


def _find(lines: list[str], wanted: tuple[str, ...], *, near: int, least: int) -> list[int]:
    """Find the places of `wanted` that are not above `least`, the nearest to `near` first."""
    size = len(wanted)
    starts = range(least, len(lines) - size + 1)
    places = [at for at in starts if tuple(lines[at : at + size]) == wanted]
    return sorted(places, key=lambda at: abs(at - near))


def parse(text: str) -> tuple[FilePatch, ...]:
    """Read a patch. What stands before its first file is a comment.

    Raises:
        PatchError: Something is not understood, with the number of the line.
    """
    return tuple(_Reader(text).files())


class _Reader:
    """Walks the lines of a patch."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._at = 0

    def files(self) -> Iterable[FilePatch]:
        while self._at < len(self._lines) and not self._line.startswith(_FILE):
            self._at += 1
        while self._line.startswith(_FILE):
            yield self._file()
        if self._line:
            raise self._error("expected the next file or hunk")

    @property
    def _line(self) -> str:
        return self._lines[self._at] if self._at < len(self._lines) else ""

    def _error(self, what: str) -> PatchError:
        return PatchError(f"line {self._at + 1} of the patch: {what}, not {self._line!r}")

    def _take(self, start: str) -> str:
        if not self._line.startswith(start):
            raise self._error(f"expected {start!r}")
        self._at += 1
        return self._lines[self._at - 1].removeprefix(start)

    def _file(self) -> FilePatch:
        names = self._take(_FILE)
        path = names[len("a/") : (len(names) - 1) // 2]
        if names != f"a/{path} b/{path}":
            raise PatchError(f"line {self._at} of the patch: renames are not understood: {names}")
        while self._line.startswith(("new file", "deleted file")):
            self._at += 1
        ids = _INDEX.match(self._line)
        if ids is None:
            raise self._error("expected `index` with two full blob ids")
        self._at += 1
        before, after = ids.groups()
        hunks: list[Hunk] = []
        if self._line.startswith("--- "):
            self._at += 1
            self._take("+++ ")
            while self._line.startswith("@@"):
                hunks.append(self._hunk())
        return FilePatch(path=path, before=before, after=after, hunks=tuple(hunks))

    def _hunk(self) -> Hunk:
        head = _HUNK.match(self._line)
        if head is None:
            raise self._error("expected a hunk")
        self._at += 1
        start, old_size, new_start, new_size = map(int, head.groups("1"))
        before: list[str] = []
        after: list[str] = []
        while len(before) < old_size or len(after) < new_size:
            line = self._line
            sign, content = line[:1], line[1:] + "\n"
            if sign not in (" ", "-", "+") or not line:
                raise self._error("expected a line of the hunk")
            self._at += 1
            if sign in (" ", "-"):
                before.append(content)
            if sign in (" ", "+"):
                after.append(content)
        if (len(before), len(after)) != (old_size, new_size):
            raise PatchError(f"line {self._at} of the patch: the hunk has more lines than it says")
        return Hunk(
            start=start - 1 if old_size else start,  # an empty side names the line that it follows
            new_start=new_start - 1 if new_size else new_start,
            before=tuple(before),
            after=tuple(after),
        )


def render(old: Tree, new: Tree) -> str:
    """Write the patch that leads from one tree to another, files in the order of their paths."""
    paths = sorted(old.keys() | new.keys())
    changed = (path for path in paths if old.get(path) != new.get(path))
    return "".join(_render(path, old.get(path), new.get(path)) for path in changed)


def _render(path: str, old: str | None, new: str | None) -> str:
    head = f"{_FILE}a/{path} b/{path}\n"
    mode = ""
    if old is None:
        head += "new file mode 100644\n"
    elif new is None:
        head += "deleted file mode 100644\n"
    else:
        mode = " 100644"
    head += f"index {blob_id(old)}..{blob_id(new)}{mode}\n"
    names = ("/dev/null" if old is None else f"a/{path}", "/dev/null" if new is None else f"b/{path}")
    before, after = (_lines(text or "", path) for text in (old, new))
    return head + "".join(difflib.unified_diff(before, after, *names))


def _lines(text: str, path: str) -> list[str]:
    """Split at newlines alone, as git does; `str.splitlines` knows more ends of line than that."""
    *lines, rest = text.split("\n")
    if rest:
        raise PatchError(f"{path}: no newline at the end of the file")
    return [line + "\n" for line in lines]
