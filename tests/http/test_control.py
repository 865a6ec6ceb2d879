"""What `Control` asks, what it takes for an answer, and what it says when there is none."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.http.doubles import CHUNKED, Answer, Server, chunk, head, says, serving, stays
from workbench.errors import EngineError, UsageError
from workbench.http.control import Control, Page, shown

WHOLE = says(head(kind="text/plain", length=2) + b"hm", close=False)


def get(*answers: Answer, control: Control | None = None) -> tuple[Page, Server]:
    async def ask() -> tuple[Page, Server]:
        async with serving(*answers) as server:
            return await (control or Control()).get(server.url), server

    return asyncio.run(ask())


def refused(answer: Answer, control: Control | None = None) -> str:
    with pytest.raises(EngineError) as raised:
        get(answer, control=control)
    assert raised.value.what.startswith("http://127.0.0.1:")
    return raised.value.what.partition("completions")[2]


def test_a_page_is_its_status_and_its_bytes() -> None:
    page, server = get(WHOLE)
    assert page == Page(status=200, body=b"hm")
    assert server.requests[0][0].startswith("GET /v1/chat/completions HTTP/1.1\r\n")
    assert "content-length" not in server.requests[0][0].lower()


def test_an_error_is_a_page_too_and_an_empty_body_is_no_error() -> None:
    assert get(says(head(status="503 Busy", length=4) + b"soon"))[0].status == 503
    assert get(says(head(kind="", length=0)))[0] == Page(status=200, body=b"")


def test_each_request_has_a_connection_of_its_own() -> None:
    async def twice() -> int:
        async with serving(WHOLE) as server:
            for _ in range(2):
                await Control().get(server.url)
            return server.connections

    assert asyncio.run(twice()) == 2


def test_a_connection_that_is_closed_at_once_is_not_asked_again() -> None:
    async def closed() -> int:
        async with serving(says()) as server:
            with pytest.raises(EngineError, match="closed before any answer"):
                await Control().get(server.url)
            return len(server.requests)

    assert asyncio.run(closed()) == 1


def test_json_is_posted() -> None:
    async def post() -> Server:
        async with serving(WHOLE) as server:
            assert (await Control().post(server.url)).good
            return server

    header, body = asyncio.run(post()).requests[0]
    assert header.startswith("POST /v1")
    assert json.loads(body) == {}


def test_the_key_is_sent_and_a_missing_one_told_before_anything_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SOME_KEY", "of-an-engine")
    _, server = get(WHOLE, control=Control(api_key_env="SOME_KEY"))
    assert "authorization: bearer of-an-engine" in server.requests[0][0].lower()
    with pytest.raises(UsageError, match="NO_SUCH_KEY is not set"):
        Control(api_key_env="NO_SUCH_KEY")


def test_what_goes_wrong_is_one_line_with_its_cause() -> None:
    assert refused(stays(), Control(deadline=0.2)) == " does not answer: no end within 0.2 s"
    assert refused(says(head("Location: /", status="302 Found", length=0))) == (
        " answers what cannot be used: HTTP status 302; it is not followed"
    )
    flood = says(head(CHUNKED) + chunk(b"x" * 2000))
    assert (
        refused(flood, Control(largest=1000))
        == " answers what cannot be used: a body of more than 1000 bytes"
    )
    assert "encoded as 'br'" in refused(says(head("Content-Encoding: br", length=1) + b"x"))
    assert "shorter than was promised" in refused(says(head(length=9) + b"x"))
    with pytest.raises(EngineError, match=r"http://127.0.0.1:9/x does not answer: no connection"):
        asyncio.run(Control().get("http://127.0.0.1:9/x"))
    with pytest.raises(EngineError, match="cannot be asked"):
        asyncio.run(Control().get("ftp://127.0.0.1/"))


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (says(head(status="500 Broken", length=2) + b"{}"), "HTTP status 500"),
        (says(head(length=3) + b'{"a'), "is not JSON"),
        (says(head(length=0)), "is not JSON"),
    ],
)
def test_json_is_due_where_it_is_asked_for(answer: Answer, why: str) -> None:
    async def ask() -> None:
        async with serving(answer) as server:
            await Control().json(server.url)

    with pytest.raises(EngineError, match=why):
        asyncio.run(ask())


def test_a_password_in_a_url_is_not_shown() -> None:
    assert shown("http://me:secret@host:8/a?key=secret#x") == "http://host:8/a"
    assert shown("http://[") == "a URL that cannot be read"
