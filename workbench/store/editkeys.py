"""One value of a JSON or YAML file becomes another, in place: all around it stays as it is written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from workbench.errors import nearest
from workbench.store.scalars import doubt_of, meaning
from workbench.store.yamlscalars import Scalar, scalars
from workbench.store.yamltext import Keys

_BLANKS = re.compile(r"[ \t\r\n]*")
_SAFE = re.compile(r"[A-Za-z_/][A-Za-z0-9_./+-]*")  # a text that needs no quotes anywhere in YAML
_DECODER = json.JSONDecoder()


def set_json(text: str, key: str, value: Any) -> str:
    """Give a JSON text with the value at a dotted key replaced.

    Raises:
        ValueError: It is no JSON, or there is not exactly one such key.
    """
    try:
        json.loads(text, object_pairs_hook=_no_key_twice)
        spans = list(_spans(text, _behind(text, 0), key))
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}: is no JSON: {error.msg}") from error
    except RecursionError as error:
        raise ValueError("is nested too deep") from error
    start, end = _only(spans, key, [])
    if _same(_DECODER.raw_decode(text, start)[0], value):
        return text
    return text[:start] + json.dumps(value, ensure_ascii=False, allow_nan=False) + text[end:]


def set_yaml(text: str, key: str, value: Any) -> str:
    """Give a YAML text with the scalar at a dotted key replaced.

    Raises:
        ValueError: It is no YAML, there is not exactly one such key, its value is no scalar of one
            line, or what it says is said elsewhere, too.
    """
    if isinstance(value, list | tuple | dict):
        raise ValueError(f"{key} cannot become a list or a mapping, only a single value")
    before = scalars(text)
    found = _only([each for each in before if _dotted(each.keys) == key], key, before)
    line = f"line {text.count(chr(10), 0, found.start) + 1}"
    if found.shared:
        raise ValueError(f"{line}: {key} has an anchor, a tag or an alias, and is used elsewhere, too")
    if found.style in ("|", ">") or "\n" in text[found.start : found.end]:
        raise ValueError(f"{line}: {key} is a text of several lines")
    if _same(_said(found), value):
        return text
    word = _word(value, found.style)
    if found.start == found.end:
        if text[found.start - 1 : found.start] != ":":
            raise ValueError(f"{line}: {key} has no place for a value; write `{key}: null` there")
        word = f" {word}"
    new = text[: found.start] + word + text[found.end :]
    if not _only_that_has_changed(before, scalars(new), found.keys, value):
        raise ValueError(f"{line}: {key} cannot be set to {value!r} there without a change of the rest")
    return new


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"has the key {next(n for n in names if names.count(n) > 1)!r} twice")
    return found


def _spans(text: str, at: int, key: str) -> Iterator[tuple[int, int]]:
    """Yield where values of this dotted key stand, within the value at an offset of sound JSON."""
    for name, start, end in _members(text, at):
        if name == key:
            yield start, end
        elif key.startswith(f"{name}."):
            yield from _spans(text, start, key[len(name) + 1 :])


def _members(text: str, at: int) -> Iterator[tuple[str, int, int]]:
    """Yield the name, or the position, of each value of a collection, and where it stands."""
    closing = {"{": "}", "[": "]"}.get(text[at])
    if closing is None:
        return
    place, number = _behind(text, at + 1), 0
    while text[place] != closing:
        name: Any = str(number)
        if closing == "}":
            name, place = _DECODER.raw_decode(text, place)
            place = _behind(text, _behind(text, place) + 1)
        _, end = _DECODER.raw_decode(text, place)
        yield name, place, end
        place, number = _behind(text, end), number + 1
        if text[place] == ",":
            place = _behind(text, place + 1)


def _behind(text: str, at: int) -> int:
    """Give the offset behind blanks."""
    found = _BLANKS.match(text, at)
    return found.end() if found else at


def _only(found: list[Any], key: str, there: list[Scalar]) -> Any:
    if len(found) == 1:
        return found[0]
    if found:
        raise ValueError(f"has {key} {len(found)} times")
    if any(_dotted(each.keys).startswith(f"{key}.") for each in there):
        raise ValueError(f"{key} is a list or a mapping; name a value within it")
    hint = nearest(key, [_dotted(each.keys) for each in there])
    raise ValueError(f"there is no {key}; {hint}" if hint else f"there is no {key}")


def _dotted(keys: Keys) -> str:
    return ".".join(map(str, keys))


def _same(there: Any, value: Any) -> bool:
    """Whether two values are one and the same, of the same type at any depth."""
    return json.dumps([there], sort_keys=True) == json.dumps([value], sort_keys=True)


def _said(scalar: Scalar) -> Any:
    """Give what a scalar says, itself in place of it where readers of YAML would not agree."""
    if scalar.style:
        return scalar.text
    return ["in doubt", scalar.text] if doubt_of(scalar.text) else meaning(scalar.text)


def _word(value: Any, style: str) -> str:
    """Write a value so that every reader of YAML reads it alike."""
    if isinstance(value, str):
        return _quoted(value, style)
    word = json.dumps(value, allow_nan=False)
    mantissa, e, exponent = word.partition("e")
    # without a point the older readers take 1e-05 for a text
    return f"{mantissa}.0e{exponent}" if _is_number(value) and e and "." not in mantissa else word


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _quoted(text: str, style: str) -> str:
    """Write a text, in the style of what was there as far as it can be."""
    is_plain = _SAFE.fullmatch(text) and not doubt_of(text) and meaning(text) == text
    if not style and is_plain:
        return text
    if style == "'" and text.isascii() and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(sign: str) -> str:
    if sign in '"\\':
        return f"\\{sign}"
    if sign.isprintable():
        return sign
    code = ord(sign)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


def _only_that_has_changed(before: list[Scalar], after: list[Scalar], at: Keys, value: Any) -> bool:
    def rest(found: list[Scalar]) -> list[tuple[Keys, str, str]]:
        return [(each.keys, each.text, each.style) for each in found if each.keys != at]

    now = [each for each in after if each.keys == at]
    return rest(before) == rest(after) and len(now) == 1 and _same(_said(now[0]), value)
