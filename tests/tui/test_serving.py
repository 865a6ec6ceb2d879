"""The interface in a browser: nobody gets in but a browser of this machine that has the key."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
from aiohttp import web

from workbench.tui.serving import LoopbackServer, command

Use = Callable[[aiohttp.ClientSession, str], Awaitable[None]]


def served(what: Use) -> None:
    """Serve a command that ends at once, and use it."""

    async def main() -> None:
        server = LoopbackServer(["true"], title="a <b>title</b>")
        runner = web.AppRunner(await server._make_app())
        await runner.setup()
        await web.SockSite(runner, server._socket).start()
        try:
            async with aiohttp.ClientSession() as session:
                await what(session, server.url)
        finally:
            await runner.cleanup()

    asyncio.run(main())


def test_the_page_needs_the_key_and_names_no_other_host() -> None:
    async def what(session: aiohttp.ClientSession, url: str) -> None:
        async with session.get(url) as answer:
            page = await answer.text()
            assert answer.status == 200
            assert answer.headers["X-Frame-Options"] == "DENY"
        assert "<b>" not in page
        assert set(re.findall(r"(?:https?|wss?)://([^/\"']+)", page)) == {urlsplit(url).netloc}
        root = f"http://{urlsplit(url).netloc}/"
        for elsewhere in (root, f"{root}ws", f"{root}guess/"):
            async with session.get(elsewhere) as answer:
                assert answer.status == 404

    served(what)


def test_no_page_of_another_site_and_no_other_name_leads_to_it() -> None:
    async def what(session: aiohttp.ClientSession, url: str) -> None:
        for headers in (
            {"Host": "evil.example"},
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
        ):
            for path in ("", "ws"):
                async with session.get(url + path, headers=headers) as answer:
                    assert answer.status == 403
        own = f"http://{urlsplit(url).netloc}"
        async with session.get(url, headers={"Origin": own}) as answer:
            assert answer.status == 200

    served(what)


def test_the_command_is_one_campaign_and_one_writer() -> None:
    words = command(Path("/campaign of mine"), "ana:agent")
    assert words[1:] == ["-m", "workbench", "-C", "/campaign of mine", "tui", "--by", "ana:agent"]
