"""Values that JSON cannot hold, as tagged JSON values, and back.

    nan, inf, -inf            {"$nonfinite": "nan"}
    a text with lone
      surrogates              {"$text": "<base64 of its UTF-8 bytes, surrogates passed through>"}
    bytes                     {"$bytes": "<base64>"}
    an integer over 64 bits   {"$integer": "123456789012345678901234567890"}
    a mapping with such a
      text, another type or a
      leading `$` among keys  {"$pairs": [[key, value], ...]}

Everything else stays as it is, so `untag(tag(value)) == value` for all JSON values and the ones above
(tuples come back as lists).
"""

from __future__ import annotations

import math
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

_INT64 = range(-(2**63), 2**64)


def encodable(text: str) -> bool:
    """Whether a text can be written as UTF-8, that is, holds no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def tag(value: Any) -> Any:
    """Make a value that strict JSON can hold.

    Raises:
        TypeError: The value is of a kind that a file of ours has no use for.
    """
    match value:
        case None | bool():
            return value
        case str():
            plain = str(value)  # an enum member is its word
            return (
                plain
                if encodable(plain)
                else {"$text": _to_base64(plain.encode("utf-8", "surrogatepass"))}
            )
        case int():
            return int(value) if value in _INT64 else {"$integer": str(value)}
        case float():
            return value if math.isfinite(value) else {"$nonfinite": str(value)}
        case bytes():
            return {"$bytes": _to_base64(value)}
        case list() | tuple():
            return [tag(item) for item in value]
        case Mapping():
            if all(_plain_key(key) for key in value):
                return {str(key): tag(item) for key, item in value.items()}
            return {"$pairs": [[tag(key), tag(item)] for key, item in value.items()]}
    raise TypeError(f"a {type(value).__name__} cannot be stored as JSON")


def untag(value: Any) -> Any:
    """Give back what `tag` was given. Raises ValueError for a tag that says nothing."""
    match value:
        case list():
            return [untag(item) for item in value]
        case {"$text": str(text)} if len(value) == 1:
            return b64decode(text, validate=True).decode("utf-8", "surrogatepass")
        case {"$bytes": str(text)} if len(value) == 1:
            return b64decode(text, validate=True)
        case {"$integer": str(text)} if len(value) == 1:
            return int(text)
        case {"$nonfinite": "nan" | "inf" | "-inf" as text} if len(value) == 1:
            return float(text)
        case {"$pairs": list(pairs)} if len(value) == 1:
            return _from_pairs(pairs)
        case dict():
            return {key: untag(item) for key, item in value.items()}
    return value


def _from_pairs(pairs: list[Any]) -> dict[Any, Any]:
    try:
        return {untag(key): untag(item) for key, item in pairs}
    except TypeError as error:  # no pair, or a key that no mapping can have
        raise ValueError("$pairs holds what is no pair of key and value") from error


def _plain_key(key: object) -> bool:
    return isinstance(key, str) and not key.startswith("$") and encodable(key)


def _to_base64(data: bytes) -> str:
    return b64encode(data).decode("ascii")
