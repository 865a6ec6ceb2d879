"""Events on their way to a line and back: every kind, later workbenches, damage, secrets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Any, get_args, get_origin, get_type_hints

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.store.campaign_examples import ANA, BODIES, BOT, FUTURE, INVALID, VERDICT, event, line
from workbench.errors import UsageError
from workbench.model.event import (
    KINDS,
    Actor,
    ArmResult,
    Body,
    Event,
    EvidenceGiven,
    Note,
    OutsideChange,
    Source,
    Unknown,
    VerdictGiven,
)
from workbench.model.outcome import Counts
from workbench.store import Writing
from workbench.store.eventlines import (
    GREATEST_SEQ,
    LONGEST_LINE,
    check_actor,
    decode,
    digest_of,
    encode,
)
from workbench.store.jsonl import BadLine, seal, unseal
from workbench.store.private import Gate
from workbench.store.redact import REDACTED

TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=12)  # lone surrogates too
NUMBERS = st.floats(allow_nan=False)  # a NaN is no equal of itself; infinite ones are meant
TIMES = st.datetimes(
    datetime(1970, 1, 1),  # noqa: DTZ001 - the strategy adds the zone
    datetime(2200, 1, 1),  # noqa: DTZ001
    timezones=st.just(UTC),
)
COUNTS = st.builds(Counts, *[st.integers(0, 99)] * 4)
PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXT,
    float: NUMBERS,
    datetime: TIMES,
    Counts: COUNTS,
    bool: st.booleans(),
    int: st.integers(-(2**62), 2**62),
    type(None): st.none(),
}


def values_of(hint: Any) -> st.SearchStrategy[Any]:
    """Give values of a type that a field of an event has."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint in PLAIN:
        return PLAIN[hint]
    if origin is Mapping:
        return st.dictionaries(values_of(inner[0]), values_of(inner[1]), max_size=3)
    if origin is tuple and inner[-1] is ...:
        return st.lists(values_of(inner[0]), max_size=3).map(tuple)
    if origin is tuple:
        return st.tuples(*map(values_of, inner))
    if inner:
        return st.one_of([values_of(each) for each in inner])
    if issubclass(hint, Enum):
        return st.sampled_from(hint)
    hints = get_type_hints(hint)
    return st.builds(hint, **{name: values_of(each) for name, each in hints.items()})


KNOWN = st.one_of([values_of(cls) for cls in KINDS.values()])


def altered(body: Body = BODIES["note"], **changes: Any) -> bytes:
    """Give the line of an event with some members changed, sealed as if that had been written."""
    document = msgspec.json.decode(unseal(line(event(body)))) | changes
    kept = {name: value for name, value in document.items() if value is not ...}
    return seal(msgspec.json.encode(kept))[:-1]


def test_there_is_an_example_of_each_kind() -> None:
    assert {kind: type(body) for kind, body in BODIES.items()} == dict(KINDS)


@pytest.mark.parametrize("body", [*BODIES.values(), replace(VERDICT, **INVALID), FUTURE])  # type: ignore[arg-type]
def test_an_event_comes_back_as_it_was(body: Body) -> None:
    written = event(body, prev=("0" * 64, "f" * 64), seq=12, by=BOT)
    found = decode(line(written))
    assert found.event == written
    assert found.event.body == body
    assert type(found.event.body) is type(body)
    assert found.event.kind == written.kind
    assert found.event.digest == digest_of(line(written))
    assert not found.newer


@given(body=KNOWN, at=TIMES, seq=st.integers(1, GREATEST_SEQ))
def test_whatever_an_event_says_comes_back(body: Body, at: datetime, seq: int) -> None:
    written = Event(id="E-abcd", prev=(), seq=seq, at=at, by=ANA, body=body, digest="")
    sealed = encode(written)
    assert sealed.count(b"\n") == 1
    found = decode(sealed[:-1]).event
    assert replace(found, digest="") == written


def test_the_two_fields_that_python_has_words_for_are_spelled_as_people_say_them() -> None:
    verdict = msgspec.json.decode(line(event(replace(VERDICT, harmful=True))))
    assert verdict["reversed"] is True
    assert "harmful" not in verdict
    change = msgspec.json.decode(line(event(BODIES["renumbered"])))
    assert change["from"] == "H5"
    assert "was" not in change
    with pytest.raises(BadLine, match="harmful"):  # our word for it is not the file's
        decode(altered(VERDICT, reversed=..., harmful=True))


def test_the_head_comes_first_and_the_checksum_last() -> None:
    document = msgspec.json.decode(line(event(BODIES["claim"])))
    head = ["schema", "id", "prev", "seq", "at", "who", "agent", "kind"]
    assert list(document) == [*head, "hypothesis", "until", "crc"]


def test_unknown_fields_are_ignored_and_unknown_kinds_kept() -> None:
    assert decode(altered(mood="fine")).event.body == BODIES["note"]
    strange = decode(altered(kind="dream", mood={"$nonfinite": "inf"})).event
    assert isinstance(strange.body, Unknown)
    assert strange.kind == "dream"
    assert strange.body.facts == {
        "text": "restarts take ten minutes on this host",
        "about": ["H5", "20261129T151200Z-k3m7q2xa"],
        "mood": float("inf"),
    }


def test_a_time_of_another_zone_is_the_same_time() -> None:
    found = decode(altered(at="2026-11-29T17:12:00+02:00")).event
    assert found.at == datetime(2026, 11, 29, 15, 12, tzinfo=UTC)
    assert found.at.utcoffset() == timedelta(0)


def test_a_newer_format_is_read_as_far_as_it_is_understood() -> None:
    known = decode(altered(schema="workbench/event@2"))
    assert known.newer
    assert known.event.body == BODIES["note"]
    changed = decode(altered(schema="workbench/event@3", text=["in", "parts"])).event
    assert isinstance(changed.body, Unknown)
    assert changed.body.facts["text"] == ["in", "parts"]
    assert changed.kind == "note"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"schema": "workbench/run@1"}, "schema is 'workbench/run@1'"),
        ({"schema": "workbench/event@0"}, "schema is"),
        ({"schema": 7}, "schema is '7'"),
        ({"schema": ...}, "schema is 'None'"),
        ({"id": "../x"}, "is not the id of an event"),
        ({"id": 5}, r"\$\.id"),
        ({"prev": ["short"]}, "no digest"),
        ({"prev": "0" * 64}, r"\$\.prev"),
        ({"id": "abcdefgh\n"}, "is not the id of an event"),
        ({"prev": ["0" * 64 + "\n"]}, "no digest"),
        ({"at": "0001-01-01T00:00:00+05:00"}, "range"),
        ({"seq": 2**53}, "counts from 1"),
        ({"seq": 10**30}, "counts from 1"),
        ({"seq": 0}, "counts from 1"),
        ({"seq": 1.5}, r"\$\.seq"),
        ({"at": "2026-11-29T15:12:00"}, "time zone"),
        ({"at": "yesterday"}, r"\$\.at"),
        ({"who": None}, r"\$\.who"),
        ({"text": 5}, r"\$\.text"),
        ({"text": ...}, "text"),
        ({"text": {"$text": "no base64!"}}, "base64|discontinuous|Only"),
        ({"text": {"$pairs": [[[1], 2]]}}, "pairs"),
        ({"text": {"$pairs": [7]}}, "pairs"),
    ],
)
def test_a_line_that_says_nonsense_is_refused_with_a_cause(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(BadLine, match=why):
        decode(altered(**changes))


@pytest.mark.parametrize("body", [b"[]", b"7", b"null", b'{"a":' * 3000 + b"1" + b"}" * 3000])
def test_what_is_no_event_at_all_is_refused(body: bytes) -> None:
    with pytest.raises(BadLine):
        decode(seal(body)[:-1])


@pytest.mark.parametrize("kind", ["proposed", "verdict", "renumbered"])
def test_no_changed_byte_goes_unseen(kind: str) -> None:
    whole = line(event(BODIES[kind]))
    for at in range(len(whole)):
        with pytest.raises(BadLine):
            decode(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(BadLine):
            decode(whole[:at])


def test_what_no_line_can_hold_is_refused_before_it_is_written() -> None:
    with pytest.raises(UsageError, match="too long"):
        event(Note(text="x" * LONGEST_LINE))
    with pytest.raises(UsageError, match="cannot be called seq"):
        event(Unknown(kind="dream", facts={"seq": 1}))
    with pytest.raises(UsageError, match="needs the fields"):
        event(Unknown(kind="note", facts={}))
    with pytest.raises(UsageError, match="cannot be stored"):
        event(Unknown(kind="dream", facts={"thing": object()}))


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "\x1b[31mred", "x" * 300, "\ud800"])
def test_nobody_signs_with_a_name_that_a_terminal_would_obey(name: str) -> None:
    with pytest.raises(UsageError, match="cannot sign"):
        check_actor(Actor(name=name))


# --- secrets ----------------------------------------------------------------------------------------

KNOWN_SECRET = "correct-horse-battery"
TOKEN = "ghp_" + "aB3dE6gH9jK2mN5pQ8rS"
RANDOM = "q7Zx2Lp9Vt4Rk8Wm3Ns6Yb1"
GATE: Gate = Writing(secrets=(KNOWN_SECRET,)).gate()


@pytest.mark.parametrize(
    "words",
    [
        f"we used {KNOWN_SECRET} there",
        f"push with {TOKEN} fails",
        "curl http://ana:hunter2hunter2@host/x",
        f"API_KEY={RANDOM} was set",
        f"started with --api-key {RANDOM}",
        f"password: {RANDOM}",
        f"password: {RANDOM[:5]} and token: {RANDOM}",
        f"HF_TOKEN={RANDOM}",
    ],
)
def test_secrets_in_the_words_of_people_do_not_reach_the_log(words: str) -> None:
    bodies: list[Body] = [
        Note(text=words),
        OutsideChange(text="a restart", engine=words),
        EvidenceGiven(**vars_of(BODIES["evidence"], text="", source=Source(text=words))),
        replace(VERDICT, notes=(words,)),
        Unknown(kind="dream", facts={"deep": [{"down": words}]}),
    ]
    for body in bodies:
        written = encode(event(GATE.campaign_event(body)))
        assert REDACTED.encode() in written
        for secret in (KNOWN_SECRET, TOKEN, RANDOM, "hunter2hunter2"):
            assert secret.encode() not in written


def test_a_garbled_quote_looks_random_and_stays() -> None:
    quote = f"it said: {RANDOM} <|tool_calls_begin|> and then nothing"
    assert GATE.campaign_event(Note(text=quote)) == Note(text=quote)


@pytest.mark.parametrize(
    "words",
    [
        "the stop token: <|im_end|> came twice",
        "special_token=128009 is never sent",
        "pass: 12 of 20, and the auth: off",
        "first key: `name`, last token: }",
        "max_tokens=4096 and token: tool_calls_begin",
    ],
)
def test_what_people_say_of_tokens_and_keys_of_other_kinds_stays(words: str) -> None:
    assert GATE.prose(words) == words


def test_settings_of_a_verdict_are_redacted_as_settings() -> None:
    arm = ArmResult(settings={"api_key": "x", "mode": RANDOM}, counts=Counts(1, 2), interval=(0.0, 1.0))
    clean = GATE.campaign_event(replace(VERDICT, arms={"control": arm}))
    assert isinstance(clean, VerdictGiven)
    assert clean.arms["control"].settings == {"api_key": REDACTED, "mode": REDACTED}
    assert clean.arms["control"].counts == Counts(1, 2)


@pytest.mark.parametrize("kind", sorted(BODIES))
def test_what_holds_no_secret_passes_unchanged(kind: str) -> None:
    assert GATE.campaign_event(BODIES[kind]) == BODIES[kind]
    again = GATE.campaign_event(GATE.campaign_event(BODIES[kind]))
    assert again == BODIES[kind]


def vars_of(body: Any, **changes: Any) -> dict[str, Any]:
    return {name: getattr(body, name) for name in body.__slots__} | changes
