"""What a single field may hold, and the two kinds of shape; the words of our own findings.

Nothing is coerced: where text is due, a number is a mistake.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Any, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from workbench.model.hypothesis import HYPOTHESIS_ID

S = TypeVar("S", bound="AnyShape")
REFUSAL = "workbench"  # type of our own findings among pydantic's
LONGEST_LINE = 300

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_REF = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,199}")
_DURATION = re.compile(r"([0-9]*\.?[0-9]+)\s*(ms|s|m|min|h)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_LINES = {"\n", "\t"}


def refusal(what: str, hint: str = "", at: Iterable[str | int] = ()) -> PydanticCustomError:
    """Make a finding of ours: what is wrong, what to do, and which part of the value is at fault."""
    return PydanticCustomError(REFUSAL, "{what}", {"what": what, "hint": hint, "at": tuple(at)})


def seconds(value: Any) -> float:
    """Read a duration such as `120s`, `1.5m` or a plain number of seconds."""
    if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
        return float(value)
    found = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if found is None or float(found[1]) <= 0:
        raise refusal("is no duration", "write 90s, 1.5m or 2h")
    return float(found[1]) * _UNITS[found[2]]


def _line(text: str) -> str:
    if not text.strip():
        raise refusal("is empty", "give it a value, or take the line out")
    if not text.isprintable():
        raise refusal("holds a line break or a control character", "one line of plain text is due here")
    if len(text) > LONGEST_LINE:
        raise refusal(f"is longer than {LONGEST_LINE} characters", "put the rest into the statement")
    return text


def _prose(text: str) -> str:
    if any(not each.isprintable() and each not in _LINES for each in text):
        raise refusal("holds a control character", "take it out")
    return text


def _name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise refusal(f"{text[:70]!r} is no name", "use letters, digits and . _ -, 64 at most")
    return text


def _level(text: str) -> str:
    if not text or len(text) > 64 or not text.isprintable() or " " in text:
        raise refusal(f"{text[:70]!r} is no level", "a level is one word of 64 characters at most")
    return text


def _hypothesis_id(text: str) -> str:
    if not HYPOTHESIS_ID.match(text):
        raise refusal(f"{text[:70]!r} is no hypothesis id", "ids are H1, H2, H3, ...")
    return text


def _ref(text: str) -> str:
    if not _REF.fullmatch(text) or ".." in text:
        raise refusal(f"{text[:70]!r} names no commit", "give a commit, a branch or a tag")
    return text


def _margin(value: Any) -> float | None:
    if value == "half-control":
        return None
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1:
        return float(value)
    raise refusal("is no margin", "write half-control, or a risk difference such as 0.05")


Line = Annotated[str, AfterValidator(_line)]
Prose = Annotated[str, AfterValidator(_prose)]
Name = Annotated[str, AfterValidator(_name), Field(json_schema_extra={"pattern": f"^{_NAME.pattern}$"})]
Level = Annotated[str, AfterValidator(_level)]
HypothesisId = Annotated[
    str,
    AfterValidator(_hypothesis_id),
    Field(json_schema_extra={"pattern": HYPOTHESIS_ID.pattern}),
]
Ref = Annotated[str, AfterValidator(_ref)]
Rate = Annotated[float, Field(gt=0, lt=1)]
Count = Annotated[int, Field(ge=1)]
Duration = Annotated[
    float,
    BeforeValidator(seconds),
    WithJsonSchema({"type": ["number", "string"], "examples": ["90s", "1.5m", "2h", 90]}),
]
Margin = Annotated[
    float | None,
    BeforeValidator(_margin),
    WithJsonSchema({"anyOf": [{"const": "half-control"}, {"type": "number"}]}),
]
Settings = Annotated[dict[Name, Level], Field(min_length=1)]


class AnyShape(BaseModel):
    """What both kinds of shape are."""


class Shape(AnyShape):
    """Fields that are known, each of the type that it says, and no others."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Open(AnyShape):
    """Fields that are known, and others that a plug-in knows."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    @property
    def options(self) -> dict[str, Any]:
        """What the plug-in is to be asked about; time-outs in seconds."""
        return {
            name: seconds(value) if _is_duration(name, value) else value
            for name, value in (self.model_extra or {}).items()
        }

    @model_validator(mode="after")
    def _durations(self) -> Self:
        for name, value in (self.model_extra or {}).items():
            if _is_duration(name, value):
                try:
                    seconds(value)
                except PydanticCustomError as error:
                    raise refusal("is no duration", "write 90s, 1.5m or 2h", [name]) from error
        return self


def _is_duration(name: str, value: Any) -> bool:
    return isinstance(value, str) and (name == "timeout" or name.endswith("_timeout"))


def judge(shape: type[S], fields: dict[str, Any]) -> tuple[S | None, list[Any]]:
    """Give the shape that fields make, or what is wrong with them as pydantic's `errors` tell it."""
    try:
        return shape.model_validate(fields), []
    except ValidationError as error:
        return None, list(error.errors(include_url=False))


def field_names(shape: type[AnyShape], keys: tuple[str | int, ...]) -> list[str]:
    """Give the names of the fields of the shape that a value at `keys` has."""
    here: type[AnyShape] | None = shape
    skip = False  # the next key is a name or a position in a collection of shapes
    for key in keys:
        if skip:
            skip = False
            continue
        if here is None:
            return []
        field = next(
            (each for name, each in here.model_fields.items() if key in (name, each.alias)), None
        )
        here, skip = _inner(field.annotation) if field else (None, False)
    return [each.alias or name for name, each in here.model_fields.items()] if here else []


def _inner(annotation: Any) -> tuple[type[AnyShape] | None, bool]:
    """Give the shape within an annotation, and whether a collection lies around it."""
    if isinstance(annotation, type) and issubclass(annotation, AnyShape):
        return annotation, False
    collection = getattr(annotation, "__origin__", None) in (dict, list)
    for argument in getattr(annotation, "__args__", ()):
        found, _ = _inner(argument)
        if found is not None:
            return found, collection
    return None, False
