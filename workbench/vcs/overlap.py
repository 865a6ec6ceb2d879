"""How much of one change another takes back, or makes again; pure.

Both are counted in lines a file. What the earlier change put in and the later one takes out is taken
back, and so is what the earlier took out and the later puts in. Lines that anybody might write (blank,
a brace, `return`) count in the shares, and never as proof: `telling` counts the others.

What has no lines (binary files, submodules, permissions, empty files, lines in another order) counts
as one line a file, taken back if the file is as it was before.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from workbench.vcs.changes import Changes, FileChange

# A telling line has a word or a number of some length, and is more than a keyword.
_TELLING = re.compile(rb"[A-Za-z0-9_\x80-\xff]{3}")
_COMMON = frozenset(
    b"return;|break;|continue;|return none|return true|return false|return null|return 0|return 0;|"
    b"return self|default:|public:|private:|protected:|finally:|except:|except exception:|continue|"
    b"return|#endif|return result|import os|import sys|import re|import json|import logging|"
    b"import time".split(b"|")
)
_WORTH = 3  # telling lines; content that comes back by its id alone is hardly chance
_SHORTEST = 6  # characters without space; a shorter line is an accident


@dataclass(frozen=True, kw_only=True, slots=True)
class Overlap:
    """How much of an earlier change a later one takes back, or makes again.

    Attributes:
        lines: Lines that both share, as counted here.
        telling: Those of them that are not just anybody's.
        earlier: Lines of the earlier change.
        later: Lines of the later change.
        restored: Lines among them that the earlier one took out and the later one puts in again.
    """

    lines: int
    telling: int
    earlier: int
    later: int
    restored: int = 0

    @property
    def coverage(self) -> float:
        """Share of the earlier change, 0 to 1."""
        return self.lines / self.earlier if self.earlier else 0.0

    @property
    def purity(self) -> float:
        """Share of the later change, 0 to 1."""
        return self.lines / self.later if self.later else 0.0

    @property
    def whole(self) -> bool:
        """Whether the two are each other's inverse, or the same, line by line."""
        return 0 < self.lines == self.earlier == self.later


def taken_back(earlier: Changes, later: Changes) -> Overlap:
    """Hold a later change against the inverse of an earlier one."""
    return _overlap(earlier, later, inverse=True)


def made_again(earlier: Changes, later: Changes) -> Overlap:
    """Hold a later change against an earlier one as it was."""
    return _overlap(earlier, later, inverse=False)


def without(later: Changes, taken: Iterable[Changes]) -> Changes:
    """Give what is left of a change when the inverses of earlier ones are taken from it."""
    files = dict(later.files)
    for earlier in taken:
        for path, other in _pairs(earlier, files).items():
            mine = files[other]
            theirs = earlier.files[path]
            files[other] = replace(
                mine, removed=mine.removed - theirs.added, added=mine.added - theirs.removed
            )
    return Changes(sha=later.sha, parent=later.parent, files=files)


def is_telling(line: bytes) -> bool:
    """Whether a line is more than anybody might write."""
    text = line.strip()
    return len(text) >= _SHORTEST and text.lower() not in _COMMON and bool(_TELLING.search(text))


def _overlap(earlier: Changes, later: Changes, *, inverse: bool) -> Overlap:
    lines = telling = restored = more = 0
    for path, other in _pairs(earlier, later.files, inverse=inverse).items():
        old, new = earlier.files[path], later.files[other]
        if _by_id(old) or _by_id(new):
            then, now = _state(old, 0 if inverse else 1), _state(new, 1)
            if then == now:
                alone = _state(old, 1 if inverse else 0) == _state(new, 0)
                lines += 1
                more += not alone  # it takes back what came in between, too
                telling += _worth(old) if alone else _worth(old) > 1
                restored += alone
            continue
        out, back = _common(old, new, inverse=inverse)
        lines += out.total() + back.total()
        telling += sum(count for line, count in (out + back).items() if is_telling(line))
        restored += sum(count for line, count in back.items() if is_telling(line))
    return Overlap(
        lines=lines,
        telling=telling,
        earlier=sum(map(_weight, earlier.files.values())),
        later=sum(map(_weight, later.files.values())) + more,
        restored=restored,
    )


def _common(
    old: FileChange, new: FileChange, *, inverse: bool
) -> tuple[Counter[bytes], Counter[bytes]]:
    """Give the lines of both: those that the old one put in, and those that it took out."""
    if inverse:
        return old.added & new.removed, old.removed & new.added
    return old.added & new.added, old.removed & new.removed


def _pairs(
    earlier: Changes, later: Mapping[str, FileChange], *, inverse: bool = True
) -> dict[str, str]:
    """Give which file of the earlier change is which of the later one.

    The same path is the same file. A file that only one of them has may have moved in between: it is
    one of the same name elsewhere that shares a telling line.
    """
    pairs = {path: path for path in earlier.files if path in later}
    free = [path for path in later if path not in earlier.files]
    for path, old in earlier.files.items():
        if path in pairs or not free or _by_id(old):
            continue
        name = path.rpartition("/")[2]
        best, most = "", 0
        for other in free:
            if other.rpartition("/")[2] == name and not _by_id(later[other]):
                out, back = _common(old, later[other], inverse=inverse)
                shared = sum(count for line, count in (out + back).items() if is_telling(line))
                if shared > most:
                    best, most = other, shared
        if best:
            pairs[path] = best
            free.remove(best)
    return pairs


def _state(file: FileChange, side: int) -> tuple[str | None, str]:
    """Give what a file was before (0) or after (1) a change: its content and its permissions."""
    return (file.before, file.after)[side], file.modes[side]


def _by_id(file: FileChange) -> bool:
    return not file.size


def _worth(file: FileChange) -> int:
    """Give how many telling lines it is worth that an id comes back: permissions go to and fro."""
    return 1 if file.mode_only or None in (file.before, file.after) else _WORTH


def _weight(file: FileChange) -> int:
    """Give what a file counts for: its lines, or one."""
    return file.size or 1
