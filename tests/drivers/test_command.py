"""Real processes: what the engine finds, what the workload reports, and what it leaves behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from workbench.engines.command import CommandEngine, CommandEngineOptions
from workbench.errors import ArmCouldNotStart
from workbench.model.ids import SessionKey
from workbench.model.outcome import Ending, Exchange
from workbench.model.plan import Arm
from workbench.ports import Endpoint, SessionRequest
from workbench.workloads.command import CommandWorkload, CommandWorkloadOptions

REQUEST = SessionRequest(run="some-run", key=SessionKey("control", 1, 7), seed=42)


def execute(*argv: str, timeout: float = 30.0, cwd: Path | None = None) -> Exchange:
    """Execute a command as one session."""

    async def one() -> Exchange:
        options = CommandWorkloadOptions(timeout=timeout, cwd=str(cwd) if cwd else None)
        endpoint = Endpoint(arm="control", argv=argv)
        return await anext(CommandWorkload(options).drive(endpoint, REQUEST))

    return asyncio.run(one())


def find(command: str, cwd: Path) -> Endpoint:
    """Let the engine find a command."""
    engine = CommandEngine(CommandEngineOptions(cwd=str(cwd)))
    return asyncio.run(engine.start(Arm(name="control", settings={"command": command})))


def script(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_output_and_exit_code_are_reported() -> None:
    seen = execute("sh", "-c", "echo out; echo err >&2; exit 3")
    assert (seen.exit_code, seen.signal, seen.ending) == (3, "", Ending.COMPLETED)
    assert seen.text == "out\nerr\n"
    assert seen.text_bytes == 8
    assert 0 < seen.start_seconds <= seen.seconds


def test_a_segfault_is_reported_as_its_signal() -> None:
    seen = execute("sh", "-c", "kill -SEGV $$")
    assert (seen.exit_code, seen.signal) == (None, "SIGSEGV")


def test_the_command_finds_its_seed_and_its_place() -> None:
    told = execute(
        "sh",
        "-c",
        'echo "$WORKBENCH_SEED $WORKBENCH_SESSION $WORKBENCH_RUN $1"',
        "-",
        "{seed}/{session}/{other}",
    )
    assert told.text == "42 7 some-run 42/7/{other}\n"


def test_no_shell_comes_near_the_arguments() -> None:
    assert execute("printf", "%s", "$(id); `id` | id > x").text == "$(id); `id` | id > x"


def test_a_timeout_ends_the_whole_group(tmp_path: Path) -> None:
    seen = execute("sh", "-c", f"sleep 60 & echo $! > {tmp_path}/child; wait", timeout=0.3)
    assert seen.ending is Ending.TIMEOUT
    assert seen.exit_code is None
    assert gone(tmp_path / "child")


def gone(file: Path) -> bool:
    """Whether the process named in a file dies, though its new parent may not have noticed yet."""
    try:
        process = psutil.Process(int(file.read_text()))
        for _ in range(1000):
            if process.status() == psutil.STATUS_ZOMBIE:
                return True
            time.sleep(0.01)  # nothing can be awaited: it is no child of ours
    except psutil.NoSuchProcess:
        return True
    return False


def test_what_a_command_leaves_in_its_group_is_ended(tmp_path: Path) -> None:
    seen = execute("sh", "-c", f"sleep 60 & echo $! > {tmp_path}/child; exit 0")
    assert seen.exit_code == 0
    assert seen.seconds < 30
    assert gone(tmp_path / "child")


def test_a_long_output_is_cut_in_the_middle_and_its_size_is_kept() -> None:
    seen = execute("sh", "-c", "echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last")
    assert seen.text.startswith("first\n")
    assert seen.text.endswith("x\nlast\n")
    assert "bytes cut" in seen.text
    assert seen.text_bytes == 3_000_012
    assert len(seen.text) < 1_100_000


def test_bytes_that_are_no_text_are_replaced_not_lost() -> None:
    seen = execute("printf", "a\\377b")
    assert seen.text == "a\ufffdb"
    assert seen.text_bytes == 3


def test_cancelling_ends_the_process(tmp_path: Path) -> None:
    async def cancelled() -> None:
        options = CommandWorkloadOptions(cwd=str(tmp_path))
        endpoint = Endpoint(
            arm="control", argv=("sh", "-c", "mkfifo up; echo $$ > pid; echo > up; sleep 60")
        )

        async def drive() -> None:
            async for _ in CommandWorkload(options).drive(endpoint, REQUEST):
                pass

        task = asyncio.create_task(drive())
        while not (tmp_path / "up").exists():  # noqa: ASYNC110 - the file is made by another process
            await asyncio.sleep(0.01)
        with (tmp_path / "up").open() as up:
            up.read()  # returns when the shell has written its pid
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert gone(tmp_path / "pid")


def test_leftovers_of_a_run_are_ended_and_only_those() -> None:
    def leave(run: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(["sleep", "60"], env={**os.environ, "WORKBENCH_RUN": run})

    with leave("mine") as mine, leave("other") as other:
        assert CommandWorkload(CommandWorkloadOptions()).leftovers("mine") == 1
        assert mine.wait(10) == -signal.SIGKILL
        assert other.poll() is None
        other.kill()


@pytest.mark.parametrize(
    ("command", "cause", "hint"),
    [
        ("./repro.sh", "no such file: ./repro.sh", "did you mean repro_.sh?"),
        ("./sub/x.sh", "no such file: ./sub/x.sh", "there is no folder"),
        ("repro_.sh", "command not found: repro_.sh", "write ./repro_.sh"),
        ("no-such-command-at-all", "command not found", "PATH"),
        ("./plain.txt", "not executable: ./plain.txt", "chmod +x ./plain.txt"),
        ("./folder", "is a folder", ""),
        ("'unbalanced", "cannot split", "quotes"),
        ("", "its command is empty", "give a command"),
        ("a\0b", "NUL", ""),
    ],
)
def test_an_arm_that_cannot_start_says_why_and_what_to_do(
    tmp_path: Path, command: str, cause: str, hint: str
) -> None:
    script(tmp_path / "repro_.sh", "#!/bin/sh\n")
    (tmp_path / "plain.txt").write_text("x")
    (tmp_path / "folder").mkdir()
    with pytest.raises(ArmCouldNotStart) as raised:
        find(command, tmp_path)
    assert cause in raised.value.what
    assert hint in raised.value.hint


@pytest.mark.parametrize(
    ("first_line", "hint"),
    [("#!/no/such/interpreter\n", "interpreter"), ("garbage\x01\n", "#!/bin/sh")],
)
def test_a_file_that_the_system_refuses_is_an_arm_that_could_not_start(
    tmp_path: Path, first_line: str, hint: str
) -> None:
    path = script(tmp_path / "broken", first_line)
    with pytest.raises(ArmCouldNotStart) as raised:
        execute(str(path))
    assert hint in raised.value.hint


@pytest.mark.parametrize("code", [126, 127])
def test_the_shells_own_codes_mean_that_the_arm_could_not_start(code: int) -> None:
    with pytest.raises(ArmCouldNotStart, match=f"exited with {code}.*because"):
        execute("sh", "-c", f"echo because; exit {code}")


def test_the_fingerprint_follows_the_script_behind_an_interpreter(tmp_path: Path) -> None:
    path = script(tmp_path / "test.py", "print(1)\n")
    arm = Arm(name="control", settings={"command": "python3 test.py --log out.txt"})
    (tmp_path / "out.txt").write_text("written by the test itself")
    engine = CommandEngine(CommandEngineOptions(cwd=str(tmp_path)))
    before = asyncio.run(engine.fingerprint(arm))
    (tmp_path / "out.txt").write_text("something else")
    assert asyncio.run(engine.fingerprint(arm)) == before
    path.write_text("print(2)\n")
    after = asyncio.run(engine.fingerprint(arm))
    changed = {name for name in before.files if before.files[name] != after.files[name]}
    assert changed == {str(path)}
