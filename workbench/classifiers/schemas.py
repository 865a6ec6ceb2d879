"""JSON Schemas of tools: checked once when they are given, then held against the arguments of calls.

`jsonschema` does both; it is loaded when there is a schema, not before. A schema may refer to parts of
itself and to nothing else: no file and no network is ever asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_DATA = frozenset({"const", "default", "enum", "examples"})  # what stands there is no schema


class Schemas:
    """Schemas by the name of a tool.

    Args:
        given: Name of a tool to the schema of its arguments; an empty one allows all.

    Raises:
        ValueError: A schema is none; says of which tool, where in it, and why.
    """

    def __init__(self, given: Mapping[str, Mapping[str, Any]]) -> None:
        self._validators = {name: _validator(name, schema) for name, schema in given.items()}

    def __contains__(self, name: str) -> bool:
        return name in self._validators

    def violation(self, name: str, arguments: Any) -> str:
        """Say what is wrong with a tool's arguments: which rule of the schema, and where; or nothing.

        Values are left out on purpose: the reply has them, and failures of one kind shall be told
        alike.
        """
        from jsonschema.exceptions import best_match

        try:
            error = best_match(self._validators[name].iter_errors(arguments))
        except RecursionError:
            return "nested too deeply"
        except (ArithmeticError, ValueError):  # multipleOf of 1e400, of NaN: JSON in name only
            return "a number out of range"
        if error is None:
            return ""
        keys = (str(key) if isinstance(key, int) else f".{key}" for key in error.absolute_path)
        place = "".join(f"[{key}]" if not key.startswith(".") else key for key in keys)
        return f"{error.validator} at ${place}"


def _validator(tool: str, schema: Mapping[str, Any]) -> Any:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import validator_for
    from referencing import Registry, Resource
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    kind = validator_for(schema, default=Draft202012Validator)
    try:
        kind.check_schema(schema, format_checker=kind.FORMAT_CHECKER)
    except SchemaError as error:
        place = "".join(f".{key}" for key in error.absolute_path) or " as a whole"
        raise ValueError(f"the schema of tool {tool!r} is none: at ${place}: {error.message}") from None
    for reference in _references(schema):
        if not reference.startswith("#"):
            raise ValueError(
                f"the schema of tool {tool!r} refers to {reference!r}; it may refer to parts of itself,"
                " such as '#/$defs/day'"
            )
    nothing_else: Registry[Any] = Registry()
    root = Resource.from_contents(schema, default_specification=DRAFT202012)
    resolver = nothing_else.resolver_with_root(root)
    for reference in _references(schema):
        try:
            resolver.lookup(reference)
        except Unresolvable:
            raise ValueError(
                f"the schema of tool {tool!r} refers to {reference!r}, which is not there"
            ) from None
    validator = kind(schema, registry=nothing_else)
    try:
        validator.is_valid({})
    except RecursionError:
        raise ValueError(f"the schema of tool {tool!r} refers to itself without end") from None
    return validator


def _references(schema: Any) -> Iterator[str]:
    waiting = [schema]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Mapping):
            for key in ("$ref", "$dynamicRef"):
                if isinstance(each.get(key), str):
                    yield each[key]
            waiting.extend(value for key, value in each.items() if key not in _DATA)
        elif isinstance(each, list):
            waiting.extend(each)
