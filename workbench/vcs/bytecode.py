"""Compiled Python that would be run although it is not what its source says.

Python loads, without another look at the source,

    a  a `.pyc` that lies where a source would, and no source beside it
    b  one in `__pycache__` that is marked as not to be checked (PEP 552), whatever the source says now
    c  one in `__pycache__` that names the source's size and second of change, also if the source was
       written again within that second and with that size, or was given that time on purpose

For b the hash in the file is held against the source; for c the times of the two files tell, and what
the interpreter makes of the source. That is found by a process of its own: a damaged file of bytecode
can crash whoever loads it. A source that was removed takes its bytecode with it; `-B` keeps Python from
writing bytecode and not from reading it; a cache elsewhere (PYTHONPYCACHEPREFIX) is looked at in place
of `__pycache__`. That bytecode is younger than a process means nothing: processes write it.
"""

from __future__ import annotations

import _imp
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from stat import S_ISREG

CACHE = "__pycache__"
# of the import system itself; tools such as pytest keep others of their own, which it never loads
_NAME = re.compile(r"(?P<module>.+)\.(?:cpython|pypy)-?(?P<version>3\d+)(?:\.opt-(?P<level>\d))?\.pyc")
_LEAST = 37  # before Python 3.7 the header was another
_HEADER = 16
_PATIENCE = 120.0
_LARGEST = 16 << 20  # bytes of a source
_MANY = 3000  # files from which only those are compared whose source was touched after them
_COMPARE = """
import json, marshal, sys, types
ABOUT = ("argcount", "posonlyargcount", "kwonlyargcount", "flags", "code", "names", "varnames",
         "freevars", "cellvars", "name", "firstlineno")
def told(value):  # no number that differs from itself, no set in an order of its own
    if isinstance(value, types.CodeType):
        about = [getattr(value, "co_" + name) for name in ABOUT]
        return about, [told(each) for each in value.co_consts]
    if isinstance(value, tuple):
        return "tuple", [told(each) for each in value]
    if isinstance(value, frozenset):
        return "set", sorted(repr(told(each)) for each in value)
    return type(value).__name__, repr(value)
for source, cached, level in json.load(sys.stdin):
    print("", flush=True)  # begun
    try:
        with open(source, "rb") as file:
            made = compile(file.read(), source, "exec", dont_inherit=True, optimize=level)
        with open(cached, "rb") as file:
            same = told(marshal.loads(file.read()[16:])) == told(made)
    except Exception:  # bytecode of a source that cannot be compiled would be run all the same
        same = False
    print(int(same), flush=True)
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stale:
    """A file of bytecode that is not what its source says.

    Attributes:
        path: It, from the folder that was searched; or absolute, for a cache elsewhere.
        why: What is wrong, and what becomes of it.
    """

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class _Pair:
    """Bytecode and its source."""

    cached: Path
    source: Path
    level: int


class Bytecode:
    """Finds stale bytecode, and remembers what it has compared.

    Args:
        folder: What is searched, without repositories and environments that lie in it.
        known: Says whether git knows a file, by its path from the folder: what is checked out is no
            leftover.
    """

    def __init__(self, folder: Path, known: Callable[[str], bool]) -> None:
        self._folder = folder
        self._known = known
        self._same: set[tuple[object, ...]] = set()

    def stale(self, cache: str = "") -> list[Stale]:
        """Name stale bytecode.

        Args:
            cache: Folder that is used in place of `__pycache__`; empty for none.
        """
        found: list[Stale] = []
        unsure: list[_Pair] = []
        for folder, names in _walk(self._folder):
            found += self._without_source(folder, names)
            there = Path(f"{cache}{folder}") if cache else folder / CACHE
            for pair in _pairs(folder, names, there):
                why, compare = _judge(pair)
                if why:
                    found.append(self._named(pair.cached, why))
                elif compare:
                    unsure.append(pair)
        found += self._compared(unsure)
        return sorted(found, key=lambda each: each.path)

    def _without_source(self, folder: Path, names: set[str]) -> Iterator[Stale]:
        for name in sorted(names):
            stem, dot, ending = name.rpartition(".")
            if dot and ending == "pyc" and stem.isidentifier() and f"{stem}.py" not in names:
                path = folder / name
                if not self._known(str(path.relative_to(self._folder))):
                    yield self._named(path, "there is no source beside it, and it is imported as it is")

    def _compared(self, unsure: list[_Pair]) -> Iterator[Stale]:
        """Let the interpreter say of each pair whether the bytecode is what it makes of the source."""
        marks = {pair: _mark(pair) for pair in unsure}
        fresh = [pair for pair in unsure if marks[pair] not in self._same]
        if len(fresh) > _MANY:
            fresh = [pair for pair in fresh if _touched_since(pair)]
        if not fresh:
            return
        for pair, same in zip(fresh, _compare(fresh), strict=False):
            if same:
                self._same.add(marks[pair])
            else:
                yield self._named(
                    pair.cached, "its source says something else, with the same size and time"
                )

    def _named(self, path: Path, why: str) -> Stale:
        if path.is_relative_to(self._folder):
            path = path.relative_to(self._folder)
        return Stale(path=str(path), why=why)


def _walk(top: Path) -> Iterator[tuple[Path, set[str]]]:
    """Give the folders that Python could import from, each with the names of its files."""
    for where, folders, files in os.walk(top):
        here = Path(where)
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and name not in (CACHE, "node_modules")
            if not any((here / name / mark).exists() for mark in (".git", "pyvenv.cfg"))
        )
        yield here, set(files)


def _pairs(folder: Path, names: set[str], there: Path) -> Iterator[_Pair]:
    """Give the bytecode of a folder's sources."""
    if not any(name.endswith(".py") for name in names):
        return
    try:
        cached = sorted(path.name for path in there.iterdir())
    except OSError:
        return
    for name in cached:
        found = _NAME.fullmatch(name)
        if found and int(found["version"]) >= _LEAST and f"{found['module']}.py" in names:
            level = int(found["level"] or 0)
            yield _Pair(there / name, folder / f"{found['module']}.py", level)


def _judge(pair: _Pair) -> tuple[str, bool]:
    """Give what is wrong with bytecode, and whether only a comparison can tell."""
    try:
        written, source = pair.cached.stat(), pair.source.stat()
        if not (S_ISREG(written.st_mode) and S_ISREG(source.st_mode)):  # others may never end
            return "", False
        with pair.cached.open("rb") as file:
            header = file.read(_HEADER)
        if len(header) < _HEADER or source.st_size > _LARGEST:
            return "", False
        magic, flags = header[:4], int.from_bytes(header[4:8], "little")
        if flags & 0b1:
            if flags & 0b10:  # Python looks at the source itself
                return "", False
            key = int.from_bytes(magic, "little")
            if _imp.source_hash(key, pair.source.read_bytes()) == header[8:]:
                return "", magic == MAGIC_NUMBER
            return "it is never checked (PEP 552), and made from another source than is there", False
    except OSError:  # gone meanwhile, or not ours to read
        return "", False
    second, size = int.from_bytes(header[8:12], "little"), int.from_bytes(header[12:], "little")
    if second != int(source.st_mtime) & 0xFFFFFFFF or size != source.st_size & 0xFFFFFFFF:
        return "", False  # Python makes it anew
    if written.st_mtime_ns < source.st_mtime_ns and written.st_mtime_ns % 1_000_000_000:
        return "its source was written after it, in the same second and with the same size", False
    return "", magic == MAGIC_NUMBER


def _compare(pairs: Sequence[_Pair]) -> Iterator[bool]:
    """Say of each pair whether the interpreter makes that bytecode of the source.

    Bytecode that crashes who loads it, or never lets go of it, is another one, and those after it are
    still looked at.
    """
    while pairs:
        asked = [[str(pair.source), str(pair.cached), pair.level] for pair in pairs]
        try:
            said, killed = _interpreter(json.dumps(asked).encode())
        except OSError:
            return
        told = [word == b"1" for word in said.split()]
        yield from told
        pairs = pairs[len(told) :]
        if pairs and (not killed or not told):
            if not said:  # it did not even begin
                return
            yield False
            pairs = pairs[1:]


def _interpreter(asked: bytes) -> tuple[bytes, bool]:
    """Give what an interpreter says of pairs of files, and whether it had to be ended."""
    words = [sys.executable, "-I", "-S", "-W", "ignore", "-c", _COMPARE]
    try:
        done = subprocess.run(words, input=asked, capture_output=True, timeout=_PATIENCE, check=False)
    except subprocess.TimeoutExpired as error:
        return error.stdout or b"", True
    return done.stdout, False


def _mark(pair: _Pair) -> tuple[object, ...]:
    """Give what tells two states of a pair apart."""
    about = [file.stat() for file in (pair.cached, pair.source)]
    return (pair, *((each.st_ino, each.st_size, each.st_mtime_ns, each.st_ctime_ns) for each in about))


def _touched_since(pair: _Pair) -> bool:
    """Whether the source was written, or given another time, after the bytecode."""
    return pair.source.stat().st_ctime_ns > pair.cached.stat().st_ctime_ns


def cache_of(argv: Iterable[str], environment: Mapping[str, str]) -> str:
    """Give the folder that a Python process uses in place of `__pycache__`; empty for none."""
    words = list(argv)
    for at, word in enumerate(words):
        option = word[2:] if word.startswith("-X") and len(word) > 2 else ""
        if word == "-X" and at + 1 < len(words):
            option = words[at + 1]
        if option.startswith("pycache_prefix="):
            return option.partition("=")[2]
    return environment.get("PYTHONPYCACHEPREFIX", "")
