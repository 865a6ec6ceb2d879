"""The scalar values of anybody's YAML file, each with the place where it stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from workbench.store.yamltext import Event, Keys, parse

_COMPLEX = "?"  # a key that is no text


class Scalar(NamedTuple):
    """A scalar value.

    Attributes:
        keys: Where it is, by keys of mappings and positions in lists.
        start: Offset at which it begins.
        end: Offset behind it; equal to `start` for a value that is left away.
        text: What it says.
        style: How it is written: empty for a plain one, else the sign of its style.
        shared: It has a tag or an anchor, lies within what has one, or is an alias: what it says may be
            said elsewhere, too.
    """

    keys: Keys
    start: int
    end: int
    text: str
    style: str
    shared: bool


def scalars(text: str) -> list[Scalar]:
    """Give the scalar values of a file, in its order.

    Raises:
        ValueError: It is no YAML, holds a second document, or a key twice; says in which line.
    """
    return list(_walk(parse(text)))


class _Level:
    """A collection that is being walked through."""

    __slots__ = ("is_key", "key", "keys", "names", "shared")

    def __init__(self, keys: Keys, *, is_list: bool, shared: bool, is_key: bool) -> None:
        self.keys = keys
        self.names: set[str] | None = None if is_list else set()  # keys of a mapping seen so far
        self.shared = shared
        self.is_key = is_key  # it stands where a key is due
        self.key: str | int | None = 0 if is_list else None  # of the value that comes next

    @property
    def key_is_due(self) -> bool:
        return self.key is None

    def name(self, name: str, line: int) -> None:
        """Go on behind a key."""
        if self.names is not None and name in self.names:
            raise ValueError(f"line {line}: has the key {name!r} twice")
        if self.names is not None and name != _COMPLEX:
            self.names.add(name)
        self.key = name

    def passed(self) -> None:
        """Go on behind a value."""
        self.key = int(self.key or 0) + 1 if self.names is None else None


def _walk(events: Iterator[Event]) -> Iterator[Scalar]:
    levels: list[_Level] = []
    documents = 0
    for event in events:
        level = levels[-1] if levels else None
        if event.kind == "document":
            documents += 1
            if documents > 1:
                raise ValueError(f"line {event.line}: holds a second document")
        elif event.kind == "end":
            ended = levels.pop()
            if levels and ended.is_key:
                levels[-1].name(_COMPLEX, event.line)
            elif levels:
                levels[-1].passed()
        elif event.kind in ("mapping", "sequence"):
            levels.append(_opened(level, event))
        elif level and level.key_is_due:
            level.name(event.text if event.kind == "scalar" else _COMPLEX, event.line)
        else:
            yield _scalar(level, event)
            if level:
                level.passed()


def _opened(level: _Level | None, event: Event) -> _Level:
    is_key = level is not None and level.key_is_due
    shared = event.marked or is_key or (level is not None and level.shared)
    keys = _keys(level) if level else ()
    return _Level(keys, is_list=event.kind == "sequence", shared=shared, is_key=is_key)


def _scalar(level: _Level | None, event: Event) -> Scalar:
    alias = event.kind == "alias"
    shared = alias or event.marked or (level is not None and level.shared)
    keys = _keys(level) if level else ()
    return Scalar(keys, event.start, event.end, event.text, "*" if alias else event.style, shared)


def _keys(level: _Level) -> Keys:
    return (*level.keys, _COMPLEX if level.key is None else level.key)
