"""Strict YAML: values with the places where they stand, and every problem of a file in one pass.

YAML guesses what a person meant, and guesses wrong where it hurts: `NO` becomes false, the commit
`0123456` becomes 42798, the second of two equal keys wins in silence. Here nothing is guessed. A plain
word is text unless it is plainly a number, `true`, `false` or `null`, and whatever another reader of
YAML would take for something else is a problem whose hint is to quote it.

The events of PyYAML's C parser are read one by one, so that anchors, tags and equal keys are seen
before anything is built, and so that depth is bounded before it costs anything. Places are kept as
offsets and become line and column when somebody asks, counted in lines as an editor shows them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import yaml

from workbench.model.hypothesis import Problem
from workbench.store.plainfile import LARGEST, printable
from workbench.store.scalars import doubt_of, doubt_of_key, meaning, quoted

DEEPEST = 32  # collections within collections
MOST = 100  # problems told of one file; a file with more needs another look anyway

Keys = tuple[str | int, ...]  # where a value is: keys of mappings, positions in lists
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # some builds of PyYAML have no C parser

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
_BOMS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16", b"\xef\xbb\xbf": "a byte order mark"}


class Place(NamedTuple):
    """Offsets of a key and of its value, and the text of a plain scalar (empty for all else)."""

    key: int
    value: int
    plain: str = ""


@dataclass(slots=True)
class Document:
    """What a file says, where it says it, and what is wrong with it.

    Attributes:
        file: Path for people, relative to the campaign's folder.
        text: The file's text.
        value: What it says: dicts, lists, texts, numbers, truth values, None. None when nothing can
            be read; doubtful words stand as texts.
        problems: What is wrong, in the order of the file.
        places: Where each value stands, by its keys.
    """

    file: str
    text: str = ""
    value: Any = None
    problems: list[Problem] = field(default_factory=list)
    places: dict[Keys, Place] = field(default_factory=dict)
    _lines: list[int] = field(default_factory=list)

    def problem(self, offset: int, what: str, hint: str = "") -> None:
        """Note what is wrong at an offset of the text."""
        line, column = self.spot(offset)
        told = Problem(
            file=self.file, line=line, column=column, what=printable(what), hint=printable(hint)
        )
        self.problems.append(told)

    def spot(self, offset: int) -> tuple[int, int]:
        """Give line and column, both from 1, of an offset; columns are characters."""
        if not self._lines:
            self._lines = [0, *(each.end() for each in re.finditer(r"\n|\r(?!\n)", self.text))]
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1

    def key_at(self, keys: Keys) -> tuple[int, int]:
        """Give line and column of a key, or of the nearest thing around it that there is."""
        return self.spot(self.place(keys).key)

    def value_at(self, keys: Keys) -> tuple[int, int]:
        """Give line and column of a value, or of the nearest thing around it that there is."""
        return self.spot(self.place(keys).value)

    def plain(self, keys: Keys) -> str:
        """Give a plain scalar as it is written; empty for quoted ones and for everything else."""
        found = self.places.get(keys)
        return found.plain if found else ""

    def place(self, keys: Keys) -> Place:
        """Give the place at these keys, or that of the nearest thing around it that there is."""
        while keys and keys not in self.places:
            keys = keys[:-1]
        return self.places.get(keys, Place(0, 0))


class Event(NamedTuple):
    """What the parser met, for readers of files that are not of a campaign.

    Attributes:
        kind: `document`, `mapping`, `sequence`, `end` of one of the last two, `scalar` or `alias`.
        line: Line in which it begins, from 1.
        start: Offset at which it begins.
        end: Offset behind it.
        text: What a scalar says.
        style: How a scalar is written: empty for a plain one, else the sign of its style.
        marked: It has an anchor or a tag.
    """

    kind: str
    line: int
    start: int
    end: int
    text: str
    style: str
    marked: bool


def parse(text: str, *, loader: Any = LOADER) -> Iterator[Event]:
    """Yield what stands in a text, whatever its style.

    Raises:
        ValueError: It is no YAML; says in which line.
    """
    try:
        parser = loader(text)
        try:
            while (event := parser.get_event()) is not None:
                kind = _KINDS.get(type(event))
                if kind is not None:
                    yield _event(kind, event)
        finally:
            parser.dispose()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f"line {mark.line + 1}: " if mark else ""
        raise ValueError(f"{line}is no YAML: {getattr(error, 'problem', None) or error}") from error


_KINDS = {
    yaml.DocumentStartEvent: "document",
    yaml.MappingStartEvent: "mapping",
    yaml.SequenceStartEvent: "sequence",
    yaml.MappingEndEvent: "end",
    yaml.SequenceEndEvent: "end",
    yaml.ScalarEvent: "scalar",
    yaml.AliasEvent: "alias",
}


def _event(kind: str, event: Any) -> Event:
    return Event(
        kind,
        event.start_mark.line + 1,
        event.start_mark.index,
        event.end_mark.index,
        getattr(event, "value", ""),
        getattr(event, "style", "") or "",
        kind != "alias" and bool(getattr(event, "anchor", None) or getattr(event, "tag", None)),
    )


def never(_: Keys) -> bool:
    """Say of no key that it is the name of a field."""
    return False


def read_yaml(
    data: bytes, file: str, *, is_field: Callable[[Keys], bool] = never, loader: Any = LOADER
) -> Document:
    """Read a file's bytes; never raises.

    Args:
        data: The bytes.
        file: Path for people.
        is_field: Tells keys that are names of fields: a word such as `on` is no doubtful key there.
        loader: PyYAML's loader class whose parser is used.
    """
    document = Document(file)
    text = _decode(document, data)
    if text is not None:
        document.text = text
        _Builder(document, is_field).build(loader)
    document.problems.sort(key=lambda each: (each.line, each.column))
    if len(document.problems) > MOST:
        last = document.problems[MOST - 1]
        more = f"and {len(document.problems) - MOST} more problems after this one"
        document.problems[MOST:] = [Problem(file=file, line=last.line, column=last.column, what=more)]
    return document


def _decode(document: Document, data: bytes) -> str | None:
    """Give the text of a file, None when it has none."""
    if len(data) > LARGEST:
        document.problem(0, "is larger than 1 MiB", "split it, or move long texts elsewhere")
        return None
    for mark, name in _BOMS.items():
        if data.startswith(mark):
            document.problem(0, f"begins with {name}", "save it as UTF-8 without a byte order mark")
            data = data.removeprefix(mark) if len(mark) == 3 else b""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        document.text = data[: error.start].decode()
        document.problem(len(document.text), "is not UTF-8 from here on", "save it as UTF-8")
        return None
    document.text = text
    bad = [(found.start(), ord(found[0])) for found in _FORBIDDEN.finditer(text)]
    for offset, code in bad[:MOST]:
        document.problem(offset, f"holds the control character U+{code:04X}", "take it out")
    return None if bad or (document.problems and not text) else text


class _Frame:
    """A collection under construction."""

    __slots__ = ("container", "firsts", "is_key", "key", "key_at", "keys")

    def __init__(self, container: Any, keys: Keys, is_key: bool) -> None:
        self.container = container
        self.keys = keys
        self.is_key = is_key  # it stands where a key is due
        self.key: str | int | None = None  # of the value that comes next
        self.key_at = 0
        self.firsts: dict[str, int] = {}  # keys that there are, and where


class _Builder:
    """Builds the value of a document from the parser's events; an own stack, so nothing recurses."""

    def __init__(self, document: Document, is_field: Callable[[Keys], bool]) -> None:
        self._document = document
        self._is_field = is_field
        self._stack: list[_Frame] = []
        self._root: list[Any] = []

    def build(self, loader_class: Any) -> None:
        document = self._document
        try:
            loader = loader_class(document.text)
            try:
                while self._take(loader.get_event()):
                    pass
            finally:
                loader.dispose()
        except yaml.YAMLError as error:
            self._give_up(error)
            return
        except (ValueError, RecursionError) as error:  # the parser's last words on absurd input
            document.problem(0, f"cannot be read as YAML: {error}")
            return
        if not self._root or self._root[0] is None:
            if not document.problems:
                document.problem(0, "is empty", "a file begins with its schema line")
            return
        if not isinstance(self._root[0], dict):
            document.problem(0, "does not hold fields", "write `name: value` lines")
            return
        document.value = self._root[0]

    def _give_up(self, error: yaml.YAMLError) -> None:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        offset = mark.index if mark else getattr(error, "position", 0)
        what = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
        text = self._document.text
        hint = (
            "indent with spaces, not tabs" if text[offset : offset + 1] == "\t" else _advice(str(what))
        )
        self._document.problem(min(offset, len(text)), f"is no YAML: {what}", hint)

    def _take(self, event: Any) -> bool:
        """Work on one event; False when there is nothing more to read."""
        match event:
            case yaml.StreamEndEvent() | None:
                return False
            case yaml.DocumentStartEvent() if self._root:
                self._tell(event, "holds a second document", "one file, one document: take out `---`")
                return False
            case yaml.AliasEvent():
                self._tell(event, f"uses an alias, *{event.anchor}", "write the value out")
                self._add(None, event, "")
            case yaml.ScalarEvent():
                self._check(event)
                self._scalar(event)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._check(event)
                return self._open({} if isinstance(event, yaml.MappingStartEvent) else [], event)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self._close()
        return True

    def _tell(self, event: Any, what: str, hint: str) -> None:
        self._document.problem(event.start_mark.index, what, hint)

    def _check(self, event: Any) -> None:
        if event.anchor is not None:
            self._tell(
                event, f"has an anchor, &{event.anchor}", "write the value out where it is needed"
            )
        if event.tag is not None:
            self._tell(event, f"has a tag, {event.tag}", "take it out; quote what is text")

    def _open(self, container: Any, event: Any) -> bool:
        if len(self._stack) == DEEPEST:
            self._tell(event, f"is nested more than {DEEPEST} deep", "flatten it")
            self._root.clear()
            return False
        is_key = self._key_is_due()
        if is_key:
            self._tell(event, "has a key that is no text", "keys are single words")
            keys: Keys = (*self._stack[-1].keys, "?")
        else:
            keys = self._add(container, event, "")
        self._stack.append(_Frame(container, keys, is_key))
        return True

    def _close(self) -> None:
        if self._stack.pop().is_key:  # its value goes nowhere
            self._stack[-1].key = -1

    def _key_is_due(self) -> bool:
        return (
            bool(self._stack)
            and isinstance(self._stack[-1].container, dict)
            and (self._stack[-1].key is None)
        )

    def _scalar(self, event: Any) -> None:
        is_plain = event.implicit[0] and event.style in (None, "")
        if self._key_is_due():
            self._take_key(event, is_plain)
            return
        value = event.value
        if is_plain:
            value = self._resolve(event)
        elif "\0" in value or _surrogates(value):
            self._tell(event, "holds a NUL or half a character", "take the escape out")
        self._add(value, event, event.value if is_plain else "")

    def _take_key(self, event: Any, is_plain: bool) -> None:
        frame = self._stack[-1]
        name = event.value
        frame.key_at = event.start_mark.index
        frame.key = name
        if is_plain and name == "<<":
            self._tell(event, "uses a merge key, <<", "write the fields out")
        elif is_plain and (doubt := doubt_of_key(name)) and not self._is_field((*frame.keys, name)):
            self._tell(event, f"has the key {name}, which is {doubt}", f"quote it: {quoted(name)}")
        elif "\0" in name or _surrogates(name):
            self._tell(event, "holds a NUL or half a character", "take the escape out")
        if name in frame.firsts:
            line, _ = self._document.spot(frame.firsts[name])
            what = f"has the key {name!r} twice, first in line {line}"
            self._tell(event, what, "keep one of the two")
            frame.key = -1
        frame.firsts.setdefault(name, frame.key_at)

    def _resolve(self, event: Any) -> Any:
        """Give what a plain scalar stands for; text where in doubt, and the doubt as a problem."""
        text: str = event.value
        if doubt := doubt_of(text):
            self._tell(event, *doubt)
            return text
        return meaning(text)

    def _add(self, value: Any, event: Any, plain: str) -> Keys:
        """Put a value where it is due and give its keys."""
        start = event.start_mark.index
        if not self._stack:
            self._root.append(value)
            self._document.places[()] = Place(start, start)
            return ()
        frame = self._stack[-1]
        if isinstance(frame.container, list):
            keys: Keys = (*frame.keys, len(frame.container))
            frame.container.append(value)
            self._document.places[keys] = Place(start, start, plain)
            return keys
        key, frame.key = frame.key, None
        keys = (*frame.keys, key if key is not None else "?")
        if isinstance(key, str):  # else a second of its name, or no key at all
            frame.container[key] = value
            self._document.places[keys] = Place(frame.key_at, start, plain)
        return keys


def _surrogates(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text) if not text.isascii() else False


def _advice(what: str) -> str:
    if "mapping values" in what:
        return "quote a text that holds `: `"
    if "cannot start any token" in what:
        return "quote a text that begins with @, ` or %"
    if "nesting depth" in what:
        return f"collections may be nested {DEEPEST} deep"
    if "expected <block end>" in what or "could not find expected" in what:
        return "check the indentation of this line and the ones above"
    return ""
