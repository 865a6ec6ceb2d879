"""Lines that look as if somebody had put them there to see something, by the ending of their file.

The one and only place of the patterns. They are looked for in added lines alone: code that has always
printed is no finding. Documents are left out; in tests only what stops a program counts.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

_STOPS = "stops in a debugger"
_PRINTS = "prints"
_WAITS = "waits for the device"
_FLAG = "a debug flag"
_REMOVE = "says that it is to be removed"

_DOCUMENTS = {".md", ".rst", ".adoc", ".markdown"}
_DOCUMENT_FOLDERS = {"doc", "docs"}
_TEST_FOLDERS = {"test", "tests", "testing", "__tests__", "spec"}
_TEST_NAME = re.compile(r"(?:test_.*|.*[_.]test|.*[_.]spec|conftest)(?:\.[^.]+)?", re.IGNORECASE)

_LANGUAGES = {
    "python": (".py", ".pyi", ".pyx", ".ipynb"),
    "c": (".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".cu", ".cuh", ".m", ".mm"),
    "javascript": (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".vue", ".svelte"),
    "rust": (".rs",),
    "go": (".go",),
    "java": (".java", ".kt", ".scala"),
    "ruby": (".rb",),
    "shell": (".sh", ".bash", ".zsh"),
}
_BY_ENDING = {ending: name for name, endings in _LANGUAGES.items() for ending in endings}
_PATTERNS = {
    "python": (
        (_STOPS, r"\bbreakpoint\(|\b(?:pdb|ipdb|pudb|debugpy)\b|\bset_trace\("),
        (_PRINTS, r"(?<![\w.])(?:pp|pprint|print)\(|\bprint_(?:stack|exc)\(|\bstderr\.write\("),
        (_WAITS, r"\bsynchronize\("),
    ),
    "c": (
        (_STOPS, r"\b__builtin_trap\(|\b__debugbreak\(|\braise\(SIGTRAP\)|\bassert\((?:0|false)\)"),
        (_PRINTS, r"\bf?printf\(|\bputs\(|\bstd::c(?:out|err)\b"),
        (_WAITS, r"\b(?:cuda|hip)(?:Device|Stream|Event)Synchronize\(|\bsynchronize\("),
    ),
    "javascript": (
        (_STOPS, r"(?<![\w.])debugger\s*;?\s*(?:$|//)"),
        (_PRINTS, r"\bconsole\.(?:log|debug|trace|dir|table|warn|error)\("),
    ),
    "rust": ((_PRINTS, r"\be?print(?:ln)?!\(|\bdbg!\("),),
    "go": (
        (_STOPS, r"\bruntime\.Breakpoint\("),
        (_PRINTS, r"\bfmt\.Print(?:f|ln)?\(|(?<![\w.])println\(|\bspew\.Dump\("),
    ),
    "java": ((_PRINTS, r"\bSystem\.(?:out|err)\.print|\bprintStackTrace\(|(?<![\w.])println\("),),
    "ruby": (
        (_STOPS, r"\bbinding\.(?:pry|irb)\b|\bbyebug\b"),
        (_PRINTS, r"^\s*(?:puts|pp|p)\s"),
    ),
    "shell": ((_PRINTS, r"^\s*set -[a-z]*x|\bPS4="),),
}
_ANYWHERE = (
    (_REMOVE, r"\b(?:TODO|FIXME|XXX|HACK)\b.{0,60}\b(?i:remove|revert|delete|drop|debug)"),
    (_REMOVE, r"\b(?i:do not (?:commit|merge)|don't (?:commit|merge)|nocommit)\b"),
    (_FLAG, r"\b(?:[A-Z0-9]+_)*(?:DEBUG|TRACE|PROBE|DUMP)(?:_[A-Z0-9]+)+\b"),
    (_FLAG, r"\b(?:[A-Z0-9]+_)+(?:DEBUG|TRACE|PROBE|DUMP)\b"),
    (_FLAG, r"(?:\b|_)debug(?:_\w+)?\b(?!\s*\()"),
)
_COMPILED = {
    name: tuple((why, re.compile(pattern)) for why, pattern in (*patterns, *_ANYWHERE))
    for name, patterns in {**_PATTERNS, "": ()}.items()
}


def suspicious(path: str, text: str) -> str:
    """Say what makes a line suspicious; empty for a line that is none.

    Args:
        path: Its file, from the top of the repository.
        text: The line.
    """
    place = PurePosixPath(path)
    if is_document(path):
        return ""
    for why, pattern in _COMPILED[_BY_ENDING.get(place.suffix.lower(), "")]:
        if pattern.search(text):
            return why if why == _STOPS or not _is_test(place) else ""
    return ""


def is_document(path: str) -> bool:
    """Say whether a file is a document, in which no line is code."""
    place = PurePosixPath(path)
    folders = {part.lower() for part in place.parts[:-1]}
    return place.suffix.lower() in _DOCUMENTS or bool(folders & _DOCUMENT_FOLDERS)


def _is_test(place: PurePosixPath) -> bool:
    folders = {part.lower() for part in place.parts[:-1]}
    return bool(folders & _TEST_FOLDERS) or _TEST_NAME.fullmatch(place.name) is not None
