"""Builds what was checked out: one command, without a shell, under a deadline, its output kept.

The command is a process group of its own, and it and all that descends from it carry the folder in
their environment: so a build can be ended whole, also by whoever comes after a workbench that died.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from workbench.ports import CHECKOUT
from workbench.vcs.git import shown

MARK = "WORKBENCH_BUILD"  # variable that names the folder in all processes of its build
_LAST, _TAIL = 3, 4096  # lines, and bytes of the end of a log, that are told of
_UNTIL_GONE = 10.0
_OF_OTHERS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR")


class BuildFailed(Exception):
    """A build failed; the text says how, as the end of a sentence."""


async def build(argv: Sequence[str], folder: Path, log: Path, *, within: float) -> None:
    """Build what lies in a folder. Cancelling ends it.

    Args:
        argv: The command; `{checkout}` is the folder, `{python}` the interpreter that runs this.
        folder: Where it is executed.
        log: Where its output goes, in place of what an earlier one has left there.
        within: Seconds that it may take.

    Raises:
        BuildFailed: It cannot be executed, fails, or takes too long.
    """
    words = [word.replace(CHECKOUT, str(folder)).replace("{python}", sys.executable) for word in argv]
    inherited = {name: value for name, value in os.environ.items() if name not in _OF_OTHERS}
    try:
        with log.open("wb") as output:
            process = await asyncio.create_subprocess_exec(
                *words,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=asyncio.subprocess.STDOUT,
                cwd=folder,
                env={**inherited, MARK: str(folder)},
                start_new_session=True,
            )
    except OSError as error:
        raise BuildFailed(f"cannot be executed: {argv[0]}: {error.strerror or error}") from error
    try:
        async with asyncio.timeout(within):
            code = await process.wait()
    except TimeoutError as error:
        raise BuildFailed(f"took more than {within:g} s{_last(log)}") from error
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    if code:
        how = f"exit code {code}" if code > 0 else f"signal {-code}"
        raise BuildFailed(f"ended with {how}{_last(log)}")


def end(folder: Path) -> None:
    """End what an earlier build of a folder has left running."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.pid != os.getpid() and process.environ().get(MARK) == str(folder):
                process.kill()
                found.append(process)
    psutil.wait_procs(found, timeout=_UNTIL_GONE)


def _last(log: Path) -> str:
    """Give the last lines of a log, as the end of a sentence."""
    with suppress(OSError), log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - _TAIL))
        lines = [line.strip() for line in file.read().decode("utf-8", "replace").splitlines()]
        last = " | ".join([line for line in lines if line][-_LAST:])
        return f": {shown(last, _TAIL)}" if last else ""
    return ""
