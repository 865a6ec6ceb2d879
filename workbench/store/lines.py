"""The one place that knows how samples and events stand in their files; `docs/formats.md` for people.

A line is a flat object with short keys. Fields at their default are left out, unknown ones are ignored
on reading, so that a later workbench of the same format may add some.
"""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from workbench.model.ids import ExchangeKey
from workbench.model.outcome import Ending, Exchange, Label, Status
from workbench.model.run import RunEvent, Sample, Seen
from workbench.store.jsonl import BadLine, seal
from workbench.store.tags import tag, untag

Tagged = dict[str, str]
_Struct = TypeVar("_Struct", bound=msgspec.Struct)


class SeenLine(msgspec.Struct, omit_defaults=True):
    """What an exchange is for another symptom; without a label, it has the line's own."""

    status: Status = Status.CLEAN
    label: str | Tagged = ""
    rule: str | Tagged = ""
    signature: str | Tagged = ""


class SampleLine(msgspec.Struct, omit_defaults=True):
    """One line of `samples-w<N>.jsonl`.

    The key of resume comes first, so that people can grep for it; `text` and `blob` are alternatives.
    """

    k: str
    attempt: int
    status: Status
    label: str | Tagged
    rule: str | Tagged
    ending: Ending
    seconds: float | Tagged
    bytes: int
    text_sha256: str
    at: datetime
    signature: str | Tagged = ""
    exit: int | None = None
    signal: str | Tagged = ""
    start_seconds: float | Tagged = 0.0
    last: bool = True
    text: str | Tagged = ""
    blob: str = ""
    expected: str | Tagged = ""
    first_seconds: float | None = None
    http: int | None = None
    finish: str | Tagged = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    detail: str | Tagged = ""
    earlier: list[str | Tagged] = []
    request_sha256: str = ""
    also: dict[str, SeenLine] = {}


class EventLine(msgspec.Struct, omit_defaults=True):
    """One line of `events.jsonl`; `facts` holds whatever that kind of event has to say, tagged."""

    at: datetime
    kind: str
    facts: dict[str, Any] = {}


_encode = msgspec.json.Encoder().encode
_decode_sample = msgspec.json.Decoder(SampleLine).decode
_decode_event = msgspec.json.Decoder(EventLine).decode
_TAGGABLE = (
    *("label", "rule", "seconds", "signature", "signal", "start_seconds", "text", "expected"),
    *("finish", "detail", "earlier"),
)
_TAGGABLE_OF_SEEN = ("label", "rule", "signature")


def encode_sample(sample: Sample, blob: str = "") -> bytes:
    """Give the sealed line of a sample; with `blob`, its text stands there instead."""
    exchange, label = sample.exchange, sample.label
    session = exchange.key.session
    line = SampleLine(
        f"{session.arm}/{session.block}/{session.session}/{exchange.key.turn}",
        sample.attempt,
        sample.status,
        label.word,
        label.rule,
        exchange.ending,
        exchange.seconds,
        exchange.text_bytes,
        sample.text_sha256,
        sample.at,
        label.signature,
        exchange.exit_code,
        exchange.signal,
        exchange.start_seconds,
        exchange.last,
        "" if blob else exchange.text,
        blob,
        exchange.expected,
        exchange.first_seconds,
        exchange.http_status,
        exchange.finish,
        exchange.prompt_tokens,
        exchange.completion_tokens,
        exchange.cached_tokens,
        exchange.detail,
        list(exchange.earlier),
        exchange.request_sha256,
        also={name: _seen_line(seen, label) for name, seen in sample.others.items()}
        if sample.others
        else {},
    )
    if not (math.isfinite(exchange.seconds) and math.isfinite(exchange.start_seconds)):
        return seal(
            _encode(_tagged(line))
        )  # JSON has no such numbers, and the encoder would write null
    try:
        return seal(_encode(line))
    except UnicodeEncodeError:
        return seal(_encode(_tagged(line)))


def decode_sample(body: bytes) -> tuple[Sample, str]:
    """Give the sample of an unsealed line and the digest of the blob that holds its text, or "".

    Raises:
        ValueError: The object is not a sample.
    """
    line = _decode_sample(body)
    key = ExchangeKey.parse(line.k)
    if str(key) != line.k:
        raise BadLine(f"{line.k!r} is not a key")
    sample = Sample(
        exchange=Exchange(
            key=key,
            ending=line.ending,
            text=_plain(line.text, str),
            text_bytes=line.bytes,
            seconds=_plain(line.seconds, float),
            start_seconds=_plain(line.start_seconds, float),
            exit_code=line.exit,
            signal=_plain(line.signal, str),
            last=line.last,
            expected=_plain(line.expected, str),
            first_seconds=line.first_seconds,
            http_status=line.http,
            finish=_plain(line.finish, str),
            prompt_tokens=line.prompt_tokens,
            completion_tokens=line.completion_tokens,
            cached_tokens=line.cached_tokens,
            detail=_plain(line.detail, str),
            earlier=tuple(_plain(each, str) for each in line.earlier),
            request_sha256=line.request_sha256,
        ),
        attempt=line.attempt,
        label=Label(
            word=_plain(line.label, str),
            rule=_plain(line.rule, str),
            signature=_plain(line.signature, str),
        ),
        status=line.status,
        text_sha256=line.text_sha256,
        at=line.at,
    )
    if line.also:
        others = {name: _seen(each, sample.label) for name, each in line.also.items()}
        sample = replace(sample, others=others)
    return sample, line.blob


def encode_event(event: RunEvent) -> bytes:
    """Give the sealed line of an event. Raises TypeError when its facts are no JSON values."""
    facts = tag(dict(event.facts))
    return seal(_encode(EventLine(event.at, event.kind, facts)))


def decode_event(body: bytes) -> RunEvent:
    """Give the event of an unsealed line. Raises ValueError when the object is not one."""
    line = _decode_event(body)
    facts = untag(line.facts)
    if not isinstance(facts, dict):
        raise BadLine("the facts are not a mapping")
    return RunEvent(at=line.at, kind=line.kind, facts=facts)


def _seen_line(seen: Seen, own: Label) -> SeenLine:
    label = seen.label
    if label == own:
        return SeenLine(seen.status)
    return SeenLine(seen.status, label.word, label.rule, label.signature)


def _seen(line: SeenLine, own: Label) -> Seen:
    if line.label == "":
        return Seen(label=own, status=line.status)
    word, rule, signature = (_plain(getattr(line, name), str) for name in _TAGGABLE_OF_SEEN)
    return Seen(label=Label(word=word, rule=rule, signature=signature), status=line.status)


def _tagged(line: SampleLine) -> SampleLine:
    also = {name: _with_tags(each, _TAGGABLE_OF_SEEN) for name, each in line.also.items()}
    return msgspec.structs.replace(_with_tags(line, _TAGGABLE), also=also)


def _with_tags(line: _Struct, names: tuple[str, ...]) -> _Struct:
    return msgspec.structs.replace(line, **{name: tag(getattr(line, name)) for name in names})


def _plain(value: Any, kind: type[Any]) -> Any:
    if type(value) is dict:
        value = untag(value)
        if type(value) is not kind:
            raise BadLine(f"a {kind.__name__} is due where a tag says otherwise")
    return value
