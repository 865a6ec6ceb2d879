"""What a file becomes by an edit: new bytes from old ones, and nothing else of the file touched.

    edits       which way it is done; here
    editlines   a line, or a flag of a command, is there or not, or is followed by a value
    editkeys    a value of a JSON or YAML file is another

All of it is pure and idempotent. What cannot be done for certain is refused, with the place: an arm
that could not start costs minutes, and an arm that ran something else costs the night.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.ports import Edit
from workbench.store.editkeys import set_json, set_yaml
from workbench.store.editlines import set_line

_KEYS = {".json": set_json, ".yaml": set_yaml, ".yml": set_yaml}


def render(old: bytes, edit: Edit) -> bytes:
    """Give the bytes of a file as an edit makes them.

    Args:
        old: Its bytes.
        edit: What is to be changed; its path says what kind of file it is.

    Raises:
        ValueError: It cannot be done; gives the file, the line where there is one, and the reason.
    """
    try:
        if edit.line:
            return _line(old, edit)
        for ending, set_key in _KEYS.items():
            if edit.path.endswith(ending):
                return set_key(_text(old), edit.key, edit.value).encode()
        raise ValueError("has no keys that are known")
    except ValueError as error:
        raise ValueError(f"{edit.path}: {error}") from error


def render_all(old: bytes, edits: Iterable[Edit]) -> bytes:
    """Give the bytes of a file as several edits of it make them; raises ValueError."""
    for edit in edits:
        old = render(old, edit)
    return old


def _line(old: bytes, edit: Edit) -> bytes:
    if b"\0" in old:
        raise ValueError("is no text: it holds a NUL byte")
    # bytes that are no UTF-8 pass through, and come out as they went in
    text = old.decode(errors="surrogateescape")
    return set_line(text, edit.line, edit.value).encode(errors="surrogateescape")


def _text(old: bytes) -> str:
    try:
        text = old.decode()
    except UnicodeDecodeError as error:
        line = old[: error.start].count(b"\n") + 1
        raise ValueError(f"line {line}: is not UTF-8") from error
    if text.startswith("\ufeff"):
        raise ValueError("begins with a byte order mark")
    return text
