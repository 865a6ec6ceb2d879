"""The first text of a hypothesis file: what was given, and hints for what is still missing.

It is written for somebody who will go on editing it, and it says exactly what was given, whatever that
holds: every text is read back before it leaves here, and what YAML could take for anything else is
quoted.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from workbench.errors import UsageError
from workbench.model.hypothesis import HYPOTHESIS_ID, HYPOTHESIS_SCHEMA, Problem
from workbench.store.validation import HypothesisRead, check_hypothesis_fields, read_hypothesis
from workbench.store.yamltext import Document, read_yaml

LONGEST_SLUG = 48

_PLAIN = re.compile(r"[A-Za-z](?:[A-Za-z0-9 _./@+-]*[A-Za-z0-9_./+])?")
_SHORT = ("y", "n")  # truth values to some readers of YAML
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
_HINTS = {
    "symptom": "# symptom: NAME   # the failure that it explains, one of the campaign's symptoms\n",
    "statement": "# statement: >\n#   How it makes the system fail, in a few sentences.\n",
    "prediction": (
        "# prediction: {control: 0.4, treatment: 0.1}   # rates per session, stated before any run\n"
        "#                                              # or {control: 0.4, removes: true}\n"
    ),
    "test": (
        "# test:\n"
        "#   control: {KNOB: LEVEL}    # the suspect as found: the arm predicted to fail\n"
        "#   treatment: {KNOB: LEVEL}  # the suspect removed or fixed; one knob differs\n"
    ),
    "falsified_by": "# falsified_by: what would speak against it\n",
}


def slug(title: str) -> str:
    """Give the words of a title for a file name: `[a-z0-9-]`, 48 characters at most, never empty."""
    ascii_only = unicodedata.normalize("NFKD", title.casefold()).encode("ascii", "ignore").decode()
    words = re.findall(r"[a-z0-9]+", ascii_only)
    text = ""
    for word in words:
        longer = f"{text}-{word}" if text else word[:LONGEST_SLUG]
        if len(longer) > LONGEST_SLUG:
            break
        text = longer
    return text or "untitled"


def render_hypothesis(id: str, fields: Mapping[str, Any]) -> str:
    """Give the text of a new hypothesis file.

    Args:
        id: The id that it was given.
        fields: What is known of it, named and shaped as in the file; `title` at least.

    Raises:
        UsageError: A field is unknown or wrong; all of them are named.
    """
    if not HYPOTHESIS_ID.match(id):
        raise UsageError(f"{id!r} is no hypothesis id", hint="ids are H1, H2, H3, ...")
    asked = fields.get("id", id)
    if asked != id:
        raise UsageError(f"the id {asked} cannot be asked for", hint="take `id` out; one is given")
    given = {"schema": HYPOTHESIS_SCHEMA, "id": id, "title": fields.get("title", "")}
    given |= {name: value for name, value in fields.items() if name not in given and value is not None}
    text = "".join(f"{_scalar(name)}:{_value(value, 0)}" for name, value in given.items())
    read = read_hypothesis(text.encode("utf-8", "surrogatepass"), "the hypothesis")
    _refuse_unless_right(read, given)
    missing = "".join(hint for name, hint in _HINTS.items() if name not in given)
    return f"{text}\n# Still to be said before it can be tested:\n{missing}" if missing else text


def read_draft(data: bytes, origin: str, *, thing: str = "") -> dict[str, Any]:
    """Read fields that somebody wrote as YAML, such as those of `--from -`.

    Args:
        data: The bytes.
        origin: What to call them in messages.
        thing: `hypothesis` checks the fields against its shape; `id` and `schema` may be left out.

    Raises:
        UsageError: They cannot be read; all problems are named with line and column.
    """
    document = read_yaml(data, origin)
    if thing == "hypothesis" and document.value is not None:
        check_hypothesis_fields(document)
    if document.problems:
        raise _refused(document.problems)
    fields: dict[str, Any] = document.value
    return {name: value for name, value in fields.items() if name != "schema"}


def _refused(problems: list[Problem]) -> UsageError:
    return UsageError("\n".join(str(problem) for problem in problems))


def _refuse_unless_right(read: HypothesisRead, given: Mapping[str, Any]) -> None:
    """Refuse fields that do not make a file, or would not come back as they were given."""
    document: Document = read.document
    if read.hypothesis is None:
        whats = [f"{each.what}; {each.hint}" if each.hint else each.what for each in document.problems]
        raise UsageError("\n".join(whats))
    if document.value != _as_read(given):  # a value of a kind that a file cannot hold
        raise UsageError(
            "the fields hold something that no file can", hint="give texts, numbers, lists"
        )


def _as_read(value: Any) -> Any:
    match value:
        case Mapping():
            return {str(key): _as_read(each) for key, each in value.items()}
        case list() | tuple():
            return [_as_read(each) for each in value]
        case str():
            return str(value)
    return value


# --- values as YAML -------------------------------------------------------------------------------


def _value(value: Any, depth: int) -> str:
    """Give a value with what separates it from its key, and the newline after it."""
    indent = "  " * (depth + 1)
    if isinstance(value, Mapping) and any(isinstance(each, Mapping) for each in value.values()):
        lines = (f"{indent}{_scalar(name)}:{_value(each, depth + 1)}" for name, each in value.items())
        return "\n" + "".join(lines)
    if isinstance(value, list | tuple) and len(value) > 1 and not all(map(_is_scalar, value)):
        return "\n" + "".join(f"{indent}- {_flow(each)}\n" for each in value)
    if isinstance(value, str) and depth == 0 and _is_block(value):
        return " |\n" + "".join(
            f"{indent}{line}\n" if line else "\n" for line in value[:-1].split("\n")
        )
    return f" {_flow(value)}\n"


def _flow(value: Any) -> str:
    match value:
        case Mapping():
            return (
                "{" + ", ".join(f"{_scalar(name)}: {_flow(each)}" for name, each in value.items()) + "}"
            )
        case list() | tuple():
            return "[" + ", ".join(map(_flow, value)) + "]"
    return _scalar(value)


def _is_scalar(value: Any) -> bool:
    return not isinstance(value, Mapping | list | tuple)


def _is_block(text: str) -> bool:
    """Whether a text reads better, and comes back the same, as a block of lines."""
    lines = text.split("\n")
    return (
        len(lines) > 2
        and not lines[-1]
        and bool(lines[-2].strip())
        and text[:1] not in ("", " ", "\n")
        and all(line.isprintable() and line == line.rstrip() for line in lines)
    )


def _scalar(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(int(value))
        case float():
            return repr(float(value))
    text = str(value)
    if _PLAIN.fullmatch(text) and text.lower() not in _SHORT and _stays_text(text):
        return text
    return '"' + "".join(_ESCAPES.get(each) or _printable(each) for each in text) + '"'


def _stays_text(text: str) -> bool:
    document = read_yaml(f'"=": {text}\n{text}: key\n'.encode(), "")
    return not document.problems and document.value.get("=") == text


def _printable(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
