"""Whatever bytes a server sends, an attempt has one outcome, and nothing is raised."""

from __future__ import annotations

import asyncio
import hashlib
import ssl

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.http.doubles import CHUNKED, DONE, chunk, delta, head, says, serving
from workbench.http.client import Client
from workbench.http.reply import Attempt, Form, Limits, Outcome, Request

TLS = ssl.create_default_context()  # reading the authorities takes longer than an attempt
HEADERS = (
    *(CHUNKED, "Content-Length: 12", "Content-Length: x", "Content-Encoding: br", "Connection: close"),
    *("Set-Cookie: =;;=\x01", "Set-Cookie: a=b; Domain=..", "Location: //[", "Location: \xff", "X: "),
    *(
        "Content-Type: a/b; charset=none",
        "Retry-After: soon",
        "Transfer-Encoding: gzip",
        " folded",
        ":",
    ),
)
GOOD = ("200 OK",) * 8  # so that bodies are reached
STATUSES = (*GOOD, "204 None", "302 Found", "304 Same", "401 No", "503 Busy", "199 Odd", "999 Odd")
PIECES = (
    *(
        delta("a"),
        delta("", "stop"),
        DONE,
        chunk(delta("b")),
        chunk(DONE),
        b"0\r\n\r\n",
        b"data: {\n\n",
    ),
    *(b"\n", b"\r", b"data: ", b'{"error": 1}', b'{"choices": [{}]}', b"\xff\xfe", b"event: error\n"),
)
HEADS = st.builds(
    lambda headers, status, kind: head(*headers, status=status, kind=kind),
    st.just([]) | st.just([CHUNKED]) | st.lists(st.sampled_from(HEADERS), max_size=3),
    st.sampled_from(STATUSES),
    st.sampled_from(("text/event-stream", "application/json", "")),
)
BODIES = st.lists(st.sampled_from(PIECES) | st.binary(max_size=8), max_size=8).map(b"".join)


UNSTREAMED = (Form.JSON, Form.BYTES)
WHOLE = st.lists(st.sampled_from((delta("a"), delta("b"), delta("", "stop"), DONE)), max_size=4)


def framed(parts: list[bytes], how: str, cut: int) -> bytes:
    """Write a stream that is in order, less its last bytes."""
    body = b"".join(parts)
    ways = {
        "chunked": head(CHUNKED) + b"".join(map(chunk, parts)) + b"0\r\n\r\n",
        "length": head(length=len(body)) + body,
        "close": head() + body,
    }
    return ways[how][: -cut or None]


NEARLY = st.builds(framed, WHOLE, st.sampled_from(("chunked", "length", "close")), st.integers(0, 40))
ANYTHING = st.builds(bytes.__add__, HEADS | st.binary(max_size=60), BODIES)


def ask(sent: bytes, *, broken: bool, form: Form, stream: bool) -> Attempt:
    async def go() -> Attempt:
        limits = Limits(body=400, event=200, line=150, kept=60)
        async with (
            serving(says(sent, broken=broken)) as server,
            Client(tls=TLS, limits=limits) as client,
        ):
            request = Request(url=server.url, body=b"{}", form=form, stream=stream, deadline=20.0)
            return (await client.send(request)).last

    return asyncio.run(go())


@settings(max_examples=300)
@given(NEARLY | ANYTHING, st.booleans(), st.sampled_from(Form), st.booleans())
@example(head("Location: http://[", status="302 Found"), False, Form.CHAT, True)
def test_any_answer_has_one_outcome(sent: bytes, broken: bool, form: Form, stream: bool) -> None:
    attempt = ask(sent, broken=broken, form=form, stream=stream and form not in UNSTREAMED)
    assert attempt.outcome is not Outcome.TIMEOUT
    assert attempt.outcome is not Outcome.REFUSED
    assert (attempt.outcome is Outcome.COMPLETED) <= (attempt.status == 200)
    assert len(attempt.body) <= 60
    assert attempt.body_bytes >= len(attempt.body)
    if attempt.body_bytes == len(attempt.body):
        assert attempt.body_sha256 == hashlib.sha256(attempt.body).hexdigest()
    assert attempt.detail.isprintable()
    assert (attempt.outcome is Outcome.COMPLETED) == (attempt.detail == "")
    if attempt.answer is not None:
        for choice in attempt.answer.choices:
            choice.content.encode()
