"""How an event of a campaign stands in its line, and back; `docs/formats.md` for people.

A line is a flat object: the head that all events have, then the fields of its kind, sealed like every
line of ours. Fields at their default are left out, unknown ones are ignored on reading, and an event of
an unknown kind keeps all that it says, so that a later workbench may add fields and kinds.

Two fields are spelled otherwise than in the model, where the word is taken: see `_SPELLED`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import msgspec

from workbench.errors import UsageError
from workbench.model.event import (
    EVENT_SCHEMA,
    KINDS,
    Actor,
    Body,
    Event,
    Renumbered,
    Unknown,
    VerdictGiven,
)
from workbench.store.jsonl import BadLine, seal, unseal
from workbench.store.tags import tag, untag

LONGEST_LINE = 1 << 20
"""Bytes of the longest line that is written; what is longer is refused before it reaches the disk."""

GREATEST_SEQ = 2**53 - 1
"""Beyond it other readers of JSON lose digits; who counts that far stays there, it is only a hint."""

_HEAD = ("schema", "id", "prev", "seq", "at", "who", "agent", "kind")
_RESERVED = frozenset({*_HEAD, "crc"})
_SPELLED: Mapping[type[Body], Mapping[str, str]] = {
    VerdictGiven: {"harmful": "reversed"},
    Renumbered: {"was": "from"},
}
_SCHEMA = re.compile(r"workbench/event@([1-9][0-9]{0,8})")
_OURS = int(EVENT_SCHEMA.partition("@")[2])
_ID = re.compile(r"(?:[A-Z]-)?[a-z2-7]{4,16}")
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Head(msgspec.Struct, frozen=True):
    """What every event says, whatever its kind and whichever workbench wrote it."""

    id: str
    prev: tuple[str, ...]
    seq: int
    at: datetime
    who: str
    kind: str
    agent: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """A whole line of the log as it was understood.

    Attributes:
        event: The event.
        version: Version of the format that it was written in; one above ours is understood in part.
    """

    event: Event
    version: int

    @property
    def newer(self) -> bool:
        """Whether a newer workbench wrote it."""
        return self.version > _OURS


def digest_of(line: bytes) -> str:
    """Give the digest of a line without its newline: what later events name it by."""
    return sha256(line).hexdigest()


def encode(event: Event) -> bytes:
    """Give the sealed line of an event; its `digest` is not looked at.

    Raises:
        UsageError: The body is not one that a line can hold.
    """
    head = {
        "schema": EVENT_SCHEMA,
        "id": event.id,
        "prev": list(event.prev),
        "seq": event.seq,
        "at": event.at,
        "who": event.by.name,
        "agent": event.by.agent,
        "kind": event.kind,
    }
    body = _unknown(event.body) if isinstance(event.body, Unknown) else _lean(event.body)
    try:
        line = seal(msgspec.json.encode(tag(_texts(head | body))))
    except TypeError as error:
        raise UsageError(f"an event of kind {event.kind} cannot be stored: {error}") from error
    if len(line) > LONGEST_LINE:
        raise UsageError(
            f"an event of {len(line):,} bytes is too long for the log",
            hint=f"keep it under {LONGEST_LINE:,}; put long texts in a file and name that",
        )
    return line


def decode(line: bytes, digest: str = "") -> Line:
    """Read a line without its newline.

    Args:
        line: The line.
        digest: Its digest, where that is known already.

    Raises:
        BadLine: It is not what was written, or says nothing that an event can say.
    """
    try:
        document = msgspec.json.decode(unseal(line))
        if b'"$' in line:
            document = untag(document)
        if not isinstance(document, dict):
            raise BadLine("is not an event")
        version = _version(document)
        head = msgspec.convert(document, Head)
        _check(head)
        at = head.at.astimezone(UTC)
        body = _body(document, head.kind, version)
    except BadLine:
        raise
    except (ValueError, TypeError, RecursionError, OverflowError) as error:
        raise BadLine(str(error) or type(error).__name__) from error
    event = Event(
        id=head.id,
        prev=head.prev,
        seq=head.seq,
        at=at,
        by=Actor(name=head.who, agent=head.agent),
        body=body,
        digest=digest or digest_of(line),
    )
    return Line(event=event, version=version)


def version_of(line: bytes) -> int:
    """Give the format's version of a line that `decode` refused, as far as it can be told; else 0."""
    try:
        document = msgspec.json.decode(unseal(line))
        return _version(document) if isinstance(document, dict) else 0
    except (ValueError, RecursionError):
        return 0


def check_actor(by: Actor) -> Actor:
    """Give the actor back. Raises UsageError for a name that no log should hold."""
    if not by.name.strip() or not by.name.isprintable() or len(by.name) > 200:
        raise UsageError(
            f"{by.name[:200]!r} cannot sign an event", hint="give a name of printable letters"
        )
    return by


def _version(document: Mapping[str, Any]) -> int:
    schema = document.get("schema")
    found = _SCHEMA.fullmatch(schema) if isinstance(schema, str) else None
    if found is None:
        raise BadLine(f"schema is {str(schema)[:40]!r}, not workbench/event@N")
    return int(found[1])


def _check(head: Head) -> None:
    if not _ID.fullmatch(head.id):
        raise BadLine(f"{head.id[:40]!r} is not the id of an event")
    if not all(map(_DIGEST.fullmatch, head.prev)):
        raise BadLine("`prev` holds what is no digest")
    if not 1 <= head.seq <= GREATEST_SEQ:
        raise BadLine(f"`seq` counts from 1 to {GREATEST_SEQ}")
    if head.at.tzinfo is None:
        raise BadLine("`at` lacks its time zone")


def _body(document: dict[str, Any], kind: str, version: int) -> Body:
    cls = KINDS.get(kind)
    facts = {name: value for name, value in document.items() if name not in _RESERVED}
    if cls is None:
        return Unknown(kind=kind, facts=facts)
    spelled = dict(facts)
    for ours, theirs in _SPELLED.get(cls, {}).items():
        spelled.pop(ours, None)
        if theirs in facts:
            spelled[ours] = spelled.pop(theirs)
    try:
        body: Body = msgspec.convert(spelled, cls)
    except msgspec.ValidationError:
        if version > _OURS:  # a kind that has changed since; what it says is kept for whoever knows
            return Unknown(kind=kind, facts=facts)
        raise
    return body


def _unknown(body: Unknown) -> dict[str, Any]:
    taken = sorted(_RESERVED & body.facts.keys())
    if taken:
        raise UsageError(f"a fact of an event cannot be called {taken[0]}: every event has that")
    if body.kind in KINDS:
        raise UsageError(f"an event of kind {body.kind} needs the fields of that kind")
    return dict(body.facts)


def _lean(body: Any) -> dict[str, Any]:
    """Fields of a record that are not at their default, as the line spells them."""
    spelled = _SPELLED.get(type(body), {})
    fields: dict[str, Any] = {}
    for field in dataclasses.fields(body):
        value = getattr(body, field.name)
        default = field.default
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        if default is dataclasses.MISSING or value != default:
            fields[spelled.get(field.name, field.name)] = value
    return fields


def _texts(value: Any) -> Any:
    """Records as mappings and times as texts, at any depth."""
    if isinstance(value, datetime):
        return msgspec.to_builtins(value)
    if dataclasses.is_dataclass(value):
        value = _lean(value)
    if isinstance(value, Mapping):
        return {key: _texts(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_texts(item) for item in value]
    return value
