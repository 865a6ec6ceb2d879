"""A server that runs already: what is read back of it, and that another one in its place is noticed."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest

from tests.drivers.pages import pages
from workbench import plugins
from workbench.engines.attach import AttachEngine, AttachEngineOptions
from workbench.engines.components import draw_ports
from workbench.errors import ArmCouldNotStart, EngineError
from workbench.model.plan import Arm, Part
from workbench.ports import Edit, Launch, Sighting, Turn, untouched

ARM = Arm(name="control", settings={})
LITTLE = str(Path(__file__).parent / "component.py")
INFO = {"/health": "", "/server_info": '{"dtype": "bf16", "port": 1, "process": {"pid": 7}}'}


def engine_of(url: str, *, dialect: str = "sglang", **options: Any) -> AttachEngine:
    options = {"url": url, "dialect": dialect, **options}
    engine: AttachEngine = plugins.build_engine(Part(kind="attach", options=options))
    return engine


@contextmanager
def server(port: int) -> Iterator[subprocess.Popen[str]]:
    """Run a little server, which the dialect `openai` takes for ready."""
    process = subprocess.Popen([sys.executable, LITTLE, str(port)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.communicate()


async def attached(engine: AttachEngine) -> Sighting:
    """Attach as soon as the server listens; give how it looks."""
    async with asyncio.timeout(60):
        while True:
            try:
                await engine.start(ARM)
                break
            except ArmCouldNotStart:
                await asyncio.sleep(0.01)
    seen = await engine.look()
    assert seen is not None
    return seen


def test_the_process_behind_a_url_is_found_and_missed_when_it_is_gone(tmp_path: Path) -> None:
    port = draw_ports(["server"])["server"]
    engine = engine_of(f"http://127.0.0.1:{port}", dialect="openai")

    async def watch() -> None:
        with server(port) as first:
            seen = (await attached(engine)).components[""]
            assert seen.pid == first.pid
            assert seen.started == psutil.Process(first.pid).create_time()
            assert seen.argv[1:] == (LITTLE, str(port))
            assert seen.env["PATH"]
            assert engine.died() == ""
        gone = f"process {first.pid} behind http://127.0.0.1:{port} has ended"
        assert engine.died() == gone
        with server(port) as second:
            await attached(engine_of(f"http://127.0.0.1:{port}", dialect="openai"))
            assert engine.died() == f"{gone}; process {second.pid} has taken its place"
            now = await engine.look()
            assert now is not None
            assert now.components[""].pid == second.pid
            await engine.stop()
            assert engine.died() == ""
            assert second.poll() is None

    asyncio.run(watch())


@pytest.mark.parametrize("how", ["number", "file"])
def test_a_process_can_be_named(how: str, tmp_path: Path) -> None:
    port = draw_ports(["server"])["server"]

    async def watch() -> None:
        with server(port) as process:
            (tmp_path / "server.pid").write_text(f"{process.pid}\n")
            (tmp_path / "server.log").write_text("before\n")
            pid = process.pid if how == "number" else "server.pid"
            options = {"cwd": str(tmp_path), "log": "server.log", "files": ["*.pid"]}
            url = f"http://localhost:{port}"
            seen = (await attached(engine_of(url, dialect="openai", pid=pid, **options))).components[""]
            assert seen.pid == process.pid
            assert (seen.log, seen.log_from) == (str(tmp_path / "server.log"), 7)
            assert set(seen.files) == {"server.pid"}
            assert seen.newest == (tmp_path / "server.pid").stat().st_mtime

    asyncio.run(watch())


@pytest.mark.parametrize("pid", ["no.pid", "bad.pid", 2**31 - 1])
def test_a_process_that_cannot_be_told_is_none(pid: int | str, tmp_path: Path) -> None:
    (tmp_path / "bad.pid").write_text("soon")

    async def look() -> None:
        async with pages(INFO) as url:
            engine = engine_of(url, pid=pid, cwd=str(tmp_path))
            seen = (await attached(engine)).components[""]
            assert (seen.pid, seen.started, seen.argv, seen.env) == (None, None, (), {})
            assert seen.info["dtype"] == "bf16"
            assert engine.died() == ""

    asyncio.run(look())


def test_what_is_read_back_is_its_url_and_its_settings() -> None:
    async def read() -> tuple[str, Mapping[str, str], Mapping[str, str]]:
        async with pages(INFO) as url:
            found = await engine_of(url).fingerprint(ARM)
            return url, found.config, found.volatile

    url, config, volatile = asyncio.run(read())
    assert config == {"url": url, "dtype": "bf16"}
    assert (volatile["port"], volatile["process.pid"]) == ("1", "7")


def test_a_knob_may_name_another_server() -> None:
    def turn(launch: Launch, component: str = "") -> Launch:
        return Launch(url=urls[0], request={"seed": 1})

    async def start() -> None:
        async with pages(INFO) as url:
            urls.append(url)
            engine = engine_of("http://127.0.0.1:9")
            endpoint = await engine.start(ARM, turn)
            assert (endpoint.url, endpoint.request) == (url, {"seed": 1})
            assert (await engine.fingerprint(ARM, turn)).config["url"] == url
            assert engine.lease == "http://127.0.0.1:9"

    urls: list[str] = []
    asyncio.run(start())


@pytest.mark.parametrize(
    ("launch", "what"),
    [
        (Launch(argv=("--bf16",)), "its command line"),
        (Launch(env={"BF16": "1", "A": None}), r"its environment \(BF16, A\)"),
        (Launch(edits=(Edit(path="serve.sh", line="--bf16", value=True),)), "a file that it reads"),
    ],
)
def test_knobs_that_only_a_start_could_turn_are_refused(launch: Launch, what: str) -> None:
    async def start(turn: Turn) -> None:
        async with pages(INFO) as url:
            await engine_of(url).start(ARM, turn)

    with pytest.raises(ArmCouldNotStart, match=what):
        asyncio.run(start(lambda given, component="": launch))


def test_a_server_that_is_not_ready_is_told_without_its_password() -> None:
    engine = engine_of("http://me:secret@127.0.0.1:9")
    for start in (engine.start, engine.fingerprint):
        with pytest.raises(ArmCouldNotStart) as raised:
            asyncio.run(start(ARM, untouched))
        assert raised.value.cause == "http://127.0.0.1:9 does not answer as a server that is ready"
        assert "curl http://127.0.0.1:9/health" in raised.value.hint


def test_settings_that_cannot_be_read_are_told() -> None:
    async def read() -> None:
        async with pages({**INFO, "/server_info": "<html>"}) as url:
            await engine_of(url).fingerprint(ARM)

    with pytest.raises(ArmCouldNotStart, match="is not JSON"):
        asyncio.run(read())


def test_nothing_can_be_asked_before_a_start() -> None:
    engine = engine_of("http://127.0.0.1:9")
    for ask in (engine.traffic, engine.flush):
        with pytest.raises(EngineError, match="no server was attached to"):
            asyncio.run(ask())


@pytest.mark.parametrize(
    "options",
    [{"url": "127.0.0.1:1"}, {"url": "http://"}, {"url": "http://a:x"}, {"url": "http://a", "pid": 0}],
)
def test_options_that_cannot_be_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(options, AttachEngineOptions)
