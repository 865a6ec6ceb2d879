"""One process that is up: started under a warden, its log kept, ended with all that it has started."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, STDOUT, Process
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from workbench.engines import logs, warden

_WARDEN = str(Path(warden.__file__))
_UNTIL_GONE = 10.0  # seconds for what was killed before


class Kept:
    """A process of ours.

    Attributes:
        pid: Its id, which is also that of its session and process group.
        log: File to which its output is appended.
        log_from: Byte of it at which this start begins.
    """

    def __init__(self, log: Path, log_from: int, life: int, process: Process, pid: int) -> None:
        self.log = log
        self.log_from = log_from
        self.pid = pid
        self._life: int | None = life
        self._process = process

    @classmethod
    async def start(cls, argv: Sequence[str], *, env: Mapping[str, str], cwd: Path, log: Path) -> Kept:
        """Start a process.

        Args:
            argv: Its command line; the program is looked up in the PATH of `env`.
            env: Its whole environment.
            cwd: Folder in which it runs.
            log: File to which its output is appended; its folder is made.

        Raises:
            OSError: It cannot be executed, or the log cannot be written.
        """
        log.parent.mkdir(parents=True, exist_ok=True)
        (theirs, life), (told, tell) = os.pipe(), os.pipe()
        try:
            try:
                with log.open("ab") as output:
                    begun = output.tell()
                    process = await asyncio.create_subprocess_exec(
                        *(sys.executable, "-I", "-S", _WARDEN, str(theirs), str(tell), *argv),
                        stdin=DEVNULL,
                        stdout=output,
                        stderr=STDOUT,
                        env=env,
                        cwd=cwd,
                        start_new_session=True,
                        pass_fds=(theirs, tell),
                    )
            finally:
                os.close(theirs)
                os.close(tell)
        except BaseException:
            os.close(life)
            os.close(told)
            raise
        kept = cls(log, begun, life, process, process.pid)
        try:
            kept.pid = await _told(told)
        except BaseException:
            await kept.end(0.0)
            raise
        return kept

    @property
    def code(self) -> int | None:
        """How it has ended: its exit code, or its signal as a negative number; None while it is up."""
        return self._process.returncode

    @property
    def ending(self) -> str:
        """The same in words; empty while it is up."""
        if self.code is None:
            return ""
        return f"exit code {self.code}" if self.code >= 0 else f"signal {_signal_name(-self.code)}"

    async def ended(self, within: float) -> bool:
        """Wait for its end, so many seconds; say whether it has ended."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), within)
        return self.code is not None

    def terminate(self) -> None:
        """Ask it, and its process group, to end."""
        with suppress(ProcessLookupError):
            self._process.terminate()

    def cut(self) -> None:
        """End it and all that descends from it, without asking; returns before that has happened."""
        if self._life is not None:
            os.close(self._life)
            self._life = None

    async def end(self, patience: float) -> bool:
        """End it: so many seconds after it was asked, by force. Say whether it is gone.

        Cancelling ends it by force at once.
        """
        try:
            if patience > 0 and self.code is None:
                self.terminate()
                await self.ended(patience)
        finally:
            self.cut()
            gone = await self.ended(_UNTIL_GONE)
        return gone

    def last_lines(self, most: int) -> list[str]:
        """Give the last lines of its output."""
        return logs.last_lines(self.log, self.log_from, most)


def end_marked(name: str, value: str) -> int:
    """End all processes that have a variable in their environment; give how many there were."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.pid != os.getpid() and process.environ().get(name) == value:
                process.kill()
                found.append(process)
    psutil.wait_procs(found, timeout=_UNTIL_GONE)
    return len(found)


async def _told(reading: int) -> int:
    """Read what the warden tells: the id of the process. Raises OSError if it was not executed."""
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    pipe = os.fdopen(reading, "rb", buffering=0)
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    try:
        pid, _, error = (await reader.read()).decode().partition("\n")
    finally:
        transport.close()
    if error or not pid:
        number = int(error or 0)
        raise OSError(number, os.strerror(number) if number else "it ended before it was executed")
    return int(pid)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
