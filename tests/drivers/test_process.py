"""Real components: what they are given, what is said when they fail, and that none is left behind."""

from __future__ import annotations

import asyncio
import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.vcs.trees import Tree
from workbench import plugins
from workbench.engines.components import ProcessEngineOptions, draw_ports, fill
from workbench.engines.process import MARK, ProcessEngine
from workbench.errors import ArmCouldNotStart, EngineError
from workbench.http.control import Control
from workbench.model.plan import Arm, Part
from workbench.ports import Component, Launch, Place, Sighting, Turn

ARM = Arm(name="control", settings={})
LITTLE = str(Path(__file__).parent / "component.py")
PATIENCE = 60.0
RUNNER = """
import asyncio, sys
from pathlib import Path
from tests.drivers.test_process import ARM, engine_of, little

async def main():
    engine = engine_of(Path(sys.argv[1]), little("fork", sys.argv[2]))
    await engine.start(ARM)
    print((await engine.look()).components["server"].pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


def little(*words: str, **more: Any) -> dict[str, Any]:
    return {"argv": ["{python}", LITTLE, "{port}", *words], "health": "/", **more}


def engine_of(cwd: Path, server: dict[str, Any], **options: Any) -> ProcessEngine:
    options = {"components": {"server": server}, "dialect": "openai", "cwd": str(cwd), **options}
    engine: ProcessEngine = plugins.build_engine(Part(kind="process", options=options))
    return engine


@asynccontextmanager
async def up(engine: ProcessEngine) -> AsyncIterator[tuple[str, Sighting]]:
    """Start an engine; give its URL and how it looks."""
    try:
        endpoint = await engine.start(ARM)
        seen = await engine.look()
        assert seen is not None
        yield endpoint.url, seen
    finally:
        await engine.stop()


def told(cwd: Path, server: dict[str, Any], **options: Any) -> tuple[dict[str, Any], Component]:
    """Start a little server, and give what it tells and how it looks."""

    async def ask() -> tuple[dict[str, Any], Component]:
        async with up(engine_of(cwd, server, **options)) as (url, seen):
            answer: dict[str, Any] = await Control().json(url)
            return answer, seen.components["server"]

    return asyncio.run(ask())


def refused(cwd: Path, server: dict[str, Any], **options: Any) -> ArmCouldNotStart:
    async def start() -> ArmCouldNotStart:
        engine = engine_of(cwd, server, **options)
        with pytest.raises(ArmCouldNotStart) as raised:
            await engine.start(ARM)
        assert not psutil.Process().children(recursive=True)
        return raised.value

    return asyncio.run(start())


def gone(*pids: int) -> bool:
    """Wait until processes are gone."""
    there = []
    for pid in pids:
        try:
            there.append(psutil.Process(pid))
        except psutil.NoSuchProcess:
            continue
    _, alive = psutil.wait_procs(there, timeout=PATIENCE)
    return not alive


def test_a_component_gets_its_words_and_variables_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAKEN_OUT", "1")
    monkeypatch.setenv("STAYS", "{session} {port}")
    (tmp_path / "inner").mkdir()
    env = {
        "TAKEN_OUT": None,
        "PEER": "http://127.0.0.1:{port:extra}/{port}",
        "SHELL_LIKE": "$(id) `id`",
    }
    words = ["$(id); `id` | id > x", "{session}", '{"a": {"port": 1}}', "--x={python}"]
    answer, seen = told(tmp_path, little(*words, env=env, cwd="inner"), ports=["extra"])
    port = seen.url.rpartition(":")[2]
    assert answer["argv"] == [LITTLE, port, *words[:3], f"--x={sys.executable}"]
    assert answer["env"]["SHELL_LIKE"] == "$(id) `id`"
    assert answer["env"]["PEER"].endswith(f"/{port}")
    assert answer["env"]["PEER"].split("/")[2] not in seen.url
    assert "TAKEN_OUT" not in answer["env"]
    assert answer["env"]["STAYS"] == "{session} {port}"
    assert (answer["stdin"], answer["cwd"]) == ("/dev/null", str(tmp_path / "inner"))
    assert answer["sid"] == seen.pid
    assert seen.argv[1:] == tuple(answer["argv"])
    assert seen.env == answer["env"]


def test_on_record_stands_the_template(tmp_path: Path) -> None:
    (tmp_path / "model.txt").write_text("one")
    server = little(env={"PEER": "{port}", "OFF": None})
    engine = engine_of(tmp_path, server, files=["*.txt"])

    def turn(launch: Launch, component: str = "") -> Launch:
        assert component == "server"
        return Launch(argv=(*launch.argv, "--bf16"), env={**launch.env, "MODE": "x"})

    found = asyncio.run(engine.fingerprint(ARM, turn))
    assert found.config == {
        "server argv": f"'{{python}}' {LITTLE} '{{port}}' --bf16",
        "server env PEER": "{port}",
        "server env OFF": "(not set)",
        "server env MODE": "x",
    }
    assert set(found.files) == {sys.executable, LITTLE, "model.txt"}
    (tmp_path / "model.txt").write_text("two")
    again = asyncio.run(engine.fingerprint(ARM, turn))
    assert again.config == found.config
    assert {name for name in again.files if again.files[name] != found.files[name]} == {"model.txt"}


def test_a_knob_may_name_another_url_fields_of_requests_and_load(tmp_path: Path) -> None:
    def turn(launch: Launch, component: str = "") -> Launch:
        return Launch(
            argv=launch.argv,
            url=f"http://127.0.0.1:{proxied[0]}",
            request={"temperature": 0},
            load={"turns": 2},
        )

    async def start() -> None:
        other = engine_of(tmp_path / "other", little())
        (tmp_path / "other").mkdir()
        engine = engine_of(tmp_path, little())
        async with up(other) as (url, _):
            proxied.append(url.rpartition(":")[2])
            endpoint = await engine.start(ARM, turn)
            await engine.stop()
            assert (endpoint.url, endpoint.request) == (url, {"temperature": 0})
            assert endpoint.load == {"turns": 2}

    proxied: list[str] = []
    asyncio.run(start())


def test_a_server_on_a_port_of_its_own_is_asked_where_clients_find_it(tmp_path: Path) -> None:
    port = str(draw_ports(["server"])["server"])
    server = {"argv": ["{python}", LITTLE, port], "health": "/"}
    url = f"http://127.0.0.1:{port}"
    answer, seen = told(tmp_path, server, url=url)
    assert answer["argv"] == [LITTLE, port]
    assert seen.url == url
    assert told(tmp_path, {**server, "url": url})[1].url == url
    late = {"argv": [*server["argv"], "later"], "health": "/"}
    refused(tmp_path, late, url=url, ready_timeout=0.5, stop_timeout=0.1)


def settled(tree: Path, folder: Path) -> Turn:
    """Give the turn of an arm that is run from another folder than its repository."""
    place = Place(folder=str(folder), instead_of=str(tree))

    def turn(launch: Launch, component: str = "") -> Launch:
        return replace(launch, cwd=place.moved(launch.cwd), place=place)

    return turn


def test_a_component_runs_in_the_worktree_with_its_files_and_its_log(tmp_path: Path) -> None:
    """What lies in the repository is that of the worktree; on record stands no path of this machine."""
    for name in ("engine", "worktree"):
        tree = Tree(tmp_path / name)
        tree.write("lib/model.txt", name)
        tree.commit(serve__py=Path(LITTLE).read_text())
    turn = settled(tmp_path / "engine", tmp_path / "worktree")
    server = {
        "argv": ["{python}", "../serve.py", "{port}", "{checkout}/x"],
        "env": {"PYTHONPATH": "{checkout}/lib:/y"},
        "cwd": "engine/lib",
        "log": "engine/own.log",
        "health": "/",
    }
    engine = engine_of(tmp_path, server, files=["engine/lib/*.txt"])

    async def look() -> tuple[dict[str, Any], Component]:
        endpoint = await engine.start(ARM, turn)
        try:
            seen = await engine.look()
            assert seen is not None
            answer: dict[str, Any] = await Control().json(endpoint.url)
            return answer, seen.components["server"]
        finally:
            await engine.stop()

    worktree = tmp_path / "worktree"
    answer, seen = asyncio.run(look())
    assert answer["cwd"] == seen.cwd == str(worktree / "lib")
    assert answer["argv"][2] == f"{worktree}/x"
    assert answer["env"]["PYTHONPATH"] == f"{worktree}/lib:/y"
    assert seen.log == str(worktree / "own.log")
    found = asyncio.run(engine.fingerprint(ARM, turn))
    assert found.files.keys() == seen.files.keys()
    assert set(found.files) - {sys.executable} == {"{checkout}/serve.py", "{checkout}/lib/model.txt"}
    assert found.files["{checkout}/lib/model.txt"] == hashlib.sha256(b"worktree").hexdigest()
    assert found.config["server env PYTHONPATH"] == "{checkout}/lib:/y"
    assert "{checkout}/x" in found.config["server argv"]


@pytest.mark.parametrize("own", [False, True], ids=["checked-out", "own-tree"])
def test_any_tracked_file_of_a_worktree_counts_as_run(own: bool, tmp_path: Path) -> None:
    tree = Tree(tmp_path / "worktree")
    tree.commit(other__py="x", serve__py=Path(LITTLE).read_text())
    turn = settled(tree.path if own else tmp_path / "engine", tree.path)
    server = {"argv": ["{python}", str(tree.path / "serve.py"), "{port}"], "health": "/"}
    engine = engine_of(tmp_path, server)

    async def look() -> list[Component]:
        await engine.start(ARM, turn)
        try:
            found = []
            for name in ("", "unknown.py", "other.py"):
                if name:
                    (tree.path / name).touch()
                    later = time.time() + 60
                    os.utime(tree.path / name, (later, later))
                seen = await engine.look()
                assert seen is not None
                found.append(seen.components["server"])
            return found
        finally:
            await engine.stop()

    before, unknown, after = asyncio.run(look())
    for each in (before, unknown):
        assert each.newest is not None
        assert each.started is not None
        assert each.newest <= each.started + each.early + 0.01
    assert before.newest == unknown.newest
    assert after.newest is not None
    assert after.started is not None
    assert (after.newest > after.started + after.early) is not own


def test_logs_are_kept_and_each_start_knows_where_it_begins(tmp_path: Path) -> None:
    first = told(tmp_path, little("one"))[1]
    second = told(tmp_path, little("two"))[1]
    log = tmp_path / ".workbench/logs/engine/server.log"
    assert first.log == second.log == str(log)
    assert first.log_from == 0
    assert log.read_bytes()[second.log_from :].startswith(b"listening, two\n")
    (tmp_path / "own.log").write_text("before\n")
    own = told(tmp_path, little(log="own.log"), logs="kept")[1]
    assert (own.log, own.log_from) == (str(tmp_path / "own.log"), 7)
    assert (tmp_path / "kept/server.log").exists()


def test_an_early_end_is_told_with_its_last_words(tmp_path: Path) -> None:
    error = refused(tmp_path, little("exit", "3", "no model"))
    assert error.cause == "component server ended with exit code 3 before it was ready"
    assert error.hint == "it said last: listening, exit 3 no model | \\x1b[31mno model\\x1b[0m"
    silent = {"argv": ["sh", "-c", "kill -SEGV $$", "{port}"]}
    error = refused(tmp_path, silent, logs="silent")
    assert error.cause == "component server ended with signal SIGSEGV before it was ready"
    assert error.hint == f"it said nothing; its log is {tmp_path}/silent/server.log"


def test_one_that_is_never_ready_is_ended(tmp_path: Path) -> None:
    error = refused(tmp_path, little("later", "ignore-term"), ready_timeout=1.0, stop_timeout=0.1)
    assert error.cause == "component server was not ready within 1 s"
    said = ("it said last: listening, later ignore-term", "it said nothing; its log is ")
    assert error.hint.startswith(said)  # nothing, where a second is too short for it to begin


@pytest.mark.parametrize(
    ("argv", "what", "hint"),
    [
        (["no-such-program", "{port}"], "command not found: no-such-program", "is it on the PATH?"),
        (["./serve.sh", "{port}"], "no such file: ./serve.sh", "did you mean server.sh?"),
        (["./server.sh", "{port}"], "not executable: ./server.sh", "chmod +x ./server.sh"),
        (
            ["./odd", "{port}"],
            "component server: ./odd: No such file",
            "interpreter that its first line",
        ),
        (
            ["./none", "{port}"],
            "component server: ./none: Exec format error",
            "must name an interpreter",
        ),
    ],
)
def test_what_cannot_be_executed_says_why(
    tmp_path: Path, argv: list[str], what: str, hint: str
) -> None:
    (tmp_path / "server.sh").write_text("#!/bin/sh\n")
    for name, text in (("odd", "#!/no/such/interpreter\n"), ("none", "\0")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    error = refused(tmp_path, {"argv": argv})
    assert what in error.cause
    assert hint in error.hint


def test_folders_and_patterns_that_are_wrong_are_told(tmp_path: Path) -> None:
    assert "there is no folder" in refused(tmp_path, little(cwd="inner")).cause
    error = refused(tmp_path, little(), files=["src/**/*.py"])
    assert error.cause == "no file matches 'src/**/*.py'"


def test_a_component_that_cannot_tell_its_settings_tells_none(tmp_path: Path) -> None:
    async def look() -> Sighting:
        plain = {"argv": ["{python}", LITTLE, "{port}"], "health": "/"}
        mute = {"argv": ["{python}", LITTLE, "{port}", "mute"], "health": "/"}
        async with up(engine_of(tmp_path, {}, components={"plain": plain, "mute": mute})) as (_, seen):
            return seen

    seen = asyncio.run(look())
    assert seen.components["mute"].info == {}
    assert seen.components["mute"].pid


def test_when_none_can_tell_that_is_an_error(tmp_path: Path) -> None:
    async def look() -> None:
        async with up(engine_of(tmp_path, little("mute"))):
            pass

    with pytest.raises(EngineError, match="is not JSON"):
        asyncio.run(look())


def test_a_death_is_told_with_its_last_line(tmp_path: Path) -> None:
    async def die() -> str:
        engine = engine_of(tmp_path, little("hello"))
        async with up(engine) as (_, seen):
            os.kill(seen.components["server"].pid or 0, signal.SIGKILL)
            async with asyncio.timeout(PATIENCE):
                while not engine.died():  # noqa: ASYNC110 - a port has no event for it
                    await asyncio.sleep(0.01)
            return engine.died()

    said = asyncio.run(die())
    assert said.startswith("component server ended with signal SIGKILL: ")


def ends(tmp_path: Path, how: Callable[[ProcessEngine, int], Any]) -> tuple[int, int]:
    """Start a server that leaves a process in a session of its own, end it somehow; give both ids."""

    async def run() -> tuple[int, int]:
        engine = engine_of(
            tmp_path, little("ignore-term", "fork", str(tmp_path / "pid")), stop_timeout=0.1
        )
        async with up(engine) as (_, seen):
            pid = seen.components["server"].pid or 0
            left = int((tmp_path / "pid").read_text())
            assert psutil.pid_exists(left)
            if (done := how(engine, pid)) is not None:
                await done
        return pid, left

    return asyncio.run(run())


def test_a_stop_ends_what_has_left_the_group_too(tmp_path: Path) -> None:
    pids = ends(tmp_path, lambda engine, _: engine.stop())
    assert not any(map(psutil.pid_exists, pids))


def test_a_stop_that_is_cancelled_ends_all_by_force(tmp_path: Path) -> None:
    async def stop() -> None:
        engine = engine_of(tmp_path, little("ignore-term"), stop_timeout=3600)
        async with up(engine) as (_, seen):
            pid = seen.components["server"].pid or 0
            stopping = asyncio.create_task(engine.stop())
            await asyncio.sleep(0)
            stopping.cancel()
            async with asyncio.timeout(PATIENCE):
                await asyncio.wait([stopping])
            assert not psutil.pid_exists(pid)

    asyncio.run(stop())


def test_what_a_component_leaves_behind_when_it_dies_ends_with_it(tmp_path: Path) -> None:
    assert gone(*ends(tmp_path, lambda _, pid: os.kill(pid, signal.SIGKILL)))


def test_a_component_dies_with_its_warden(tmp_path: Path) -> None:
    pid, left = ends(tmp_path, lambda _, pid: psutil.Process(pid).parent().kill())
    assert gone(pid)
    os.kill(left, signal.SIGKILL)  # this one only the next start would find


def test_nothing_outlives_a_workbench_that_is_killed(tmp_path: Path) -> None:
    runner = subprocess.Popen(
        [sys.executable, "-c", RUNNER, str(tmp_path), str(tmp_path / "pid")],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert runner.stdout is not None
    pid = int(runner.stdout.readline())
    family = [each.pid for each in psutil.Process(runner.pid).children(recursive=True)]
    assert pid in family
    runner.kill()
    runner.communicate(timeout=PATIENCE)
    assert gone(*family, int((tmp_path / "pid").read_text()))


def test_what_an_earlier_start_has_left_is_ended_before_the_next(tmp_path: Path) -> None:
    engine = engine_of(tmp_path, little())
    sleep = [sys.executable, "-c", "import signal; signal.pause()"]
    left = subprocess.Popen(sleep, env={**os.environ, MARK: engine.lease})
    other = subprocess.Popen(sleep, env={**os.environ, MARK: f"{engine.lease} of another"})

    async def start() -> None:
        async with up(engine):
            assert other.poll() is None

    try:
        asyncio.run(start())
        assert left.poll() is not None
    finally:
        other.kill()
        other.wait()


def test_the_lease_is_of_the_folder_and_the_components(tmp_path: Path) -> None:
    engines = [
        engine_of(tmp_path, little()),
        engine_of(tmp_path, little(), stop_timeout=3),
        engine_of(tmp_path, little("x")),
        engine_of(tmp_path / "other", little()),
    ]
    leases = [engine.lease for engine in engines]
    assert leases[0] == leases[1]
    assert len(set(leases)) == 3
    assert engine_of(tmp_path, little(), lease="gpu 0").lease == "gpu 0"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"components": {}}, "name at least one process"),
        ({"components": {"a": {"argv": []}}}, "argv is empty"),
        ({"components": {"a": {"argv": ["x", "\0"]}}}, "NUL byte"),
        ({"components": {"a": {"argv": ["x"], "env": {"A=B": "1"}}}}, "empty or holds '='"),
        ({"components": {"a": {"argv": ["x"]}}}, "nobody says where clients find 'a'"),
        ({"components": {"../a": {"argv": ["x", "{port}"]}}}, "'../a' cannot be a name"),
        ({"components": {"a": {"argv": ["x", "{port:b}"]}}}, "there is no port 'b'"),
        ({"components": {"a": {"argv": ["{port}"], "helth": "/"}}}, "unknown field `helth`"),
        ({"components": {"a": {"argv": ["{port}"]}}, "url": "http://h:{port:b}"}, "url: there is no"),
        ({"components": {"a": {"argv": ["{port}"], "health": "up"}}}, "health is a path"),
        ({"components": {"a": {"argv": ["{port}"], "url": "a:1"}}}, "must begin with http://"),
        ({"components": {"a": {"argv": ["{port}"]}}, "client": "b"}, "there is no component 'b'"),
        ({"components": {"a": {"argv": ["{port}"]}}, "stop_timeout": 0}, "must be positive"),
        ({"components": {"a": {"argv": ["{port}"]}}, "lease": "\0"}, "lease holds a NUL"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, Any], why: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=why.replace("{", r"\{")):
        msgspec.convert(options, ProcessEngineOptions)


@given(st.text(), st.text("{}:portyhn ", max_size=30))
def test_only_placeholders_are_filled(text: str, like: str) -> None:
    known = {"a": 1, "b": 2}
    for each in (text, like):
        if not any(name in each for name in ("{port", "{python}")):
            assert fill(each, "a", known) == each
    assert fill(f"{text}{{port}}", "a", known).endswith("1")
    assert fill("{port} {port:b} {port:c} {portal} {{port}}", "a", known) == "1 2 {port:c} {portal} {1}"


def test_ports_that_are_drawn_differ() -> None:
    drawn = draw_ports(map(str, range(50)))
    assert len(set(drawn.values())) == 50
