"""Events do not depend on how the network cuts them; they end where the standard says, nowhere else."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.http.sse import Event, Splitter

LINES = (
    *(b"data: a", b"data:", b"data", b"data:  b", b'data: {"x": "\xe2\x80\xa8\xc2\x85\x0b\x0c\x1c"}'),
    *(b"", b"", b"", b": comment", b"event: error", b"event:e", b"id: 7", b"error: e", b"retry: 5"),
    *(
        b"\xff\xfe",
        b"data: [DONE]",
        b"\x00",
        b":",
        b" ",
        b"\xef\xbb\xbfdata: late",
        b"data: \xef\xbb\xbf",
    ),
)
ENDS = (b"\n", b"\n", b"\r\n", b"\r")
ENDED = st.builds(bytes.__add__, st.sampled_from(LINES) | st.binary(max_size=5), st.sampled_from(ENDS))
BODIES = st.builds(
    lambda mark, lines, rest: mark + b"".join(lines) + rest,
    st.sampled_from((b"", b"\xef\xbb\xbf")),
    st.lists(ENDED, min_size=2, max_size=25),
    st.sampled_from(LINES),
)
NEARLY_PLAIN = st.lists(
    st.sampled_from(
        (
            *(b"data: a\n\n", b"data: b\n\n", b"data: \n\n", b"data: c\n\n\n", b"data: d\n"),
            *(b"data:e\n\n", b"id: 7\n\n", b": hm\n\n", b"data: f\r\n\r\n", b"\n"),
        )
    ),
    min_size=2,
    max_size=12,
).map(b"".join)
CUTS = st.lists(st.integers(min_value=0, max_value=500), max_size=40)


def reference(body: bytes) -> list[Event]:
    """The standard's algorithm, over a body that is all there, in its own words."""
    *lines, _ = re.split(rb"\r\n|\n|\r", body.removeprefix(b"\xef\xbb\xbf"))
    events, data, name = [], b"", b""
    seen = False
    for line in lines:
        if line == b"":
            if seen:
                events.append(Event(data.removesuffix(b"\n"), name))
            data, name, seen = b"", b"", False
            continue
        field, colon, value = line.partition(b":")
        value = value[1:] if value[:1] == b" " else value
        if field in (b"data", b"error") and (colon or field):
            data, seen = data + value + b"\n", True
            name = field if field == b"error" else name
        elif field == b"event":
            name = value
    return events


def cut(body: bytes, at: list[int]) -> list[bytes]:
    places = sorted({place % (len(body) + 1) for place in at})
    return [body[a:b] for a, b in zip([0, *places], [*places, len(body)], strict=True)]


@settings(max_examples=400)
@given(BODIES | NEARLY_PLAIN, CUTS)
def test_any_chunking_gives_the_events_of_the_standard(body: bytes, at: list[int]) -> None:
    splitter = Splitter()
    events = [event for chunk in cut(body, at) for event in splitter.feed(chunk)]
    assert events == reference(body)
    bytewise = Splitter()
    assert [e for byte in body for e in bytewise.feed(bytes([byte]))] == events
    assert (bytewise.pending, bytewise.torn) == (splitter.pending, splitter.torn)


@settings(max_examples=400)
@given(BODIES | NEARLY_PLAIN, CUTS, st.integers(1, 12), st.integers(1, 12))
def test_any_chunking_meets_the_same_limit_after_the_same_events(
    body: bytes, at: list[int], line: int, event: int
) -> None:
    whole, pieces = (Splitter(max_line=line, max_event=event) for _ in range(2))
    expected = whole.feed(body)
    assert [e for chunk in cut(body, at) for e in pieces.feed(chunk)] == expected
    assert pieces.overflow == whole.overflow
    assert all(len(each.data) <= event for each in expected)


@pytest.mark.parametrize("inside", ["\u2028", "\u2029", "\x85", "\v", "\f", "\x1c", "\x1e"])
def test_what_python_takes_for_a_line_end_is_none(inside: str) -> None:
    data = f'{{"content": "a{inside}b"}}'.encode()
    assert Splitter().feed(b"data: " + data + b"\n\n") == [Event(data)]


def test_an_event_that_no_empty_line_ended_is_none() -> None:
    splitter = Splitter()
    assert splitter.feed(b"data: a\n") == []
    assert (splitter.pending, splitter.torn) == (b"a", True)
    assert splitter.feed(b"\n") == [Event(b"a")]
    assert not splitter.torn


def test_the_chunks_that_most_engines_send_are_events_of_their_own() -> None:
    splitter = Splitter()
    chunks = [
        b"data: a\n\n",
        b"event: e\n",
        b"data: b\n\n",
        b"da",
        b"ta: c\n\n",
        b"data: d\n",
        b"data: e\n\n",
    ]
    events = [event for chunk in chunks for event in splitter.feed(chunk)]
    assert events == [Event(b"a"), Event(b"b", b"e"), Event(b"c"), Event(b"d\ne")]
    assert splitter.feed(b"x") + splitter.feed(b"data: f\n\n") == []  # it is the field `xdata`


def test_a_mark_of_byte_order_is_one_at_the_beginning_only() -> None:
    splitter = Splitter()
    assert splitter.feed(b"data: a\n\n") == [Event(b"a")]
    assert splitter.feed(b"\xef\xbb\xbfdata: b\n\n") == []


def test_a_line_that_never_ends_is_not_kept() -> None:
    splitter = Splitter(max_line=1000)
    assert [splitter.feed(b"a" * 100) for _ in range(1000)] == [[]] * 1000
    assert splitter.overflow == "a line of more than 1000 bytes"
    assert (splitter.pending, splitter.torn) == (b"", False)


def test_an_event_of_many_empty_lines_is_not_small() -> None:
    splitter = Splitter(max_event=1000)
    splitter.feed(b"data:\n" * 1001)
    assert splitter.overflow == "an event of more than 1000 bytes"
