"""Executes an arm's command once a session and reports how it ended; it never judges.

Every execution is a process group of its own, so that a time-out, an interrupt or a resume can end all
of it, and so that a terminal's Ctrl-C reaches the workbench alone. Whatever the command leaves running
in its group when it exits is ended too: a trial that leaves something behind would be part of the next.

The command sees `WORKBENCH_RUN`, `WORKBENCH_SESSION` and `WORKBENCH_SEED` in its environment, and
`{session}` and `{seed}` in its arguments are replaced. The seed differs between arms on purpose: the
evidence of a verdict is computed for arms that fail independently.
"""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from workbench.errors import ArmCouldNotStart
from workbench.model.ids import ExchangeKey
from workbench.model.outcome import Ending, Exchange
from workbench.ports import Endpoint, SessionRequest, Workload

_CANNOT_EXECUTE = {
    126: "it exited with 126: found but not executable",
    127: "it exited with 127: command not found",
}
_HALF_CAP = 512 * 1024  # of a longer output the first and the last half MiB are kept
_GRACE = 1.0  # seconds for the output of a process that has left the group
_RUN, _SESSION, _SEED = "WORKBENCH_RUN", "WORKBENCH_SESSION", "WORKBENCH_SEED"


@dataclass(frozen=True, kw_only=True)
class CommandWorkloadOptions:
    """Options of the workload.

    Attributes:
        timeout: Seconds after which an execution is ended; it then made no observation.
        cwd: Folder in which the command runs; None for the current one.
    """

    timeout: float = 600.0
    cwd: str | None = None

    def __post_init__(self) -> None:
        if not self.timeout > 0:
            raise ValueError(f"timeout must be positive, not {self.timeout}")


class CommandWorkload(Workload):
    """Workload `command`: one execution, one exchange, one session."""

    Options = CommandWorkloadOptions

    def __init__(self, options: CommandWorkloadOptions) -> None:
        self._timeout = options.timeout
        self._cwd = Path(options.cwd) if options.cwd else Path.cwd()

    async def drive(self, endpoint: Endpoint, session: SessionRequest) -> AsyncIterator[Exchange]:
        """Execute the command once. Cancelling ends its process group."""
        begun = time.monotonic()
        reader, writer = os.pipe()
        output = _Output(reader)
        try:
            process = await self._spawn(endpoint, session, writer)
        except BaseException as error:
            output.close()
            if isinstance(error, OSError):
                raise _not_executable(endpoint, error) from error
            raise
        finally:
            os.close(writer)
        started = time.monotonic()
        ending = Ending.COMPLETED
        try:
            await output.open()
            async with asyncio.timeout(self._timeout):
                await process.wait()
        except TimeoutError:
            ending = Ending.TIMEOUT
        finally:
            _end_group(process.pid)
            await process.wait()
            ended = time.monotonic()
            text, size = await output.finish()
        code = process.returncode or 0
        if ending is Ending.COMPLETED and code in _CANNOT_EXECUTE:
            last = text.strip().splitlines()[-1:] or [""]
            raise ArmCouldNotStart(endpoint.arm, f"{_CANNOT_EXECUTE[code]} {last[0]}".strip())
        yield Exchange(
            key=ExchangeKey(session.key, 0),
            ending=ending,
            text=text,
            text_bytes=size,
            seconds=ended - begun,
            start_seconds=started - begun,
            exit_code=code if code >= 0 and ending is Ending.COMPLETED else None,
            signal=_signal_name(-code) if code < 0 and ending is Ending.COMPLETED else "",
        )

    def leftovers(self, run: str) -> int:
        """End processes that a killed opening of this run left, found by their environment."""
        found = 0
        for process in psutil.process_iter():
            try:
                if process.pid != os.getpid() and process.environ().get(_RUN) == run:
                    process.kill()
                    found += 1
            except psutil.Error:
                continue
        return found

    async def _spawn(
        self, endpoint: Endpoint, session: SessionRequest, writer: int
    ) -> asyncio.subprocess.Process:
        place = {"{session}": str(session.key.session), "{seed}": str(session.seed)}
        laid_over: dict[str, str | None] = {**os.environ, **endpoint.env}
        environment = {
            **{name: value for name, value in laid_over.items() if value is not None},
            _RUN: session.run,
            _SESSION: str(session.key.session),
            _SEED: str(session.seed),
        }
        return await asyncio.create_subprocess_exec(
            *(_fill(argument, place) for argument in endpoint.argv),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=writer,
            stderr=writer,
            env=environment,
            cwd=endpoint.cwd or self._cwd,
            start_new_session=True,
        )


class _Output:
    """What a process writes, read as it comes so that it never blocks, and cut in the middle.

    It is a pipe of ours and not of the process object: waiting for the process then never waits for a
    grandchild that keeps the pipe open.
    """

    def __init__(self, reader: int) -> None:
        self._fd: int | None = reader
        self._size = 0
        self._head = bytearray()
        self._tail = bytearray()
        self._closed = asyncio.Event()

    async def open(self) -> None:
        assert self._fd is not None
        os.set_blocking(self._fd, False)
        asyncio.get_running_loop().add_reader(self._fd, self._read)

    async def finish(self) -> tuple[str, int]:
        """Wait for the end of the output, not long, and give its text and size in bytes."""
        try:
            async with asyncio.timeout(_GRACE):
                await self._closed.wait()
        except TimeoutError:
            self.close()
        data = bytes(self._head)
        cut = self._size - len(self._head) - len(self._tail)
        if cut > 0:
            data += f"\n[... {cut} bytes cut ...]\n".encode()
        return (data + bytes(self._tail)).decode("utf-8", "replace"), self._size

    def close(self) -> None:
        if self._fd is not None:
            asyncio.get_running_loop().remove_reader(self._fd)
            os.close(self._fd)
            self._fd = None
        self._closed.set()

    def _read(self) -> None:
        assert self._fd is not None
        try:
            data = os.read(self._fd, 65536)
        except BlockingIOError:
            return
        if not data:
            self.close()
            return
        self._size += len(data)
        room = _HALF_CAP - len(self._head)
        self._head += data[:room] if room > 0 else b""
        self._tail += data[max(room, 0) :]
        del self._tail[:-_HALF_CAP]


def _fill(argument: str, place: dict[str, str]) -> str:
    for name, value in place.items():
        argument = argument.replace(name, value)
    return argument


def _end_group(pid: int) -> None:
    """End what is left of a process group that we started; its leader may be long gone."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"


def _not_executable(endpoint: Endpoint, error: OSError) -> ArmCouldNotStart:
    hints = {
        errno.ENOEXEC: "its first line must name an interpreter, such as #!/bin/sh",
        errno.ENOENT: "the interpreter that its first line names does not exist",
        errno.EACCES: f"chmod +x {endpoint.argv[0]}",
    }
    hint = hints.get(error.errno or 0, "")
    return ArmCouldNotStart(endpoint.arm, f"{endpoint.argv[0]}: {error.strerror}", hint=hint)
