"""Executes a command once a session and reports how it ended; it never judges.

Every execution is a process group of its own, so that a time-out, an interrupt or a resume can end all
of it, and so that a terminal's Ctrl-C reaches the workbench alone. Whatever the command leaves running
in its group when it exits is ended too: a trial that leaves something behind would be part of the next.

The command sees `WORKBENCH_RUN`, `WORKBENCH_SESSION` and `WORKBENCH_SEED` in its environment, and
`{session}` and `{seed}` in its arguments are replaced. The seed differs between arms on purpose: the
evidence of a verdict is computed for arms that fail independently.

It is the arm's command; or, with an engine that serves or an `argv` of its own, a harness of the team's
that sends to the engine itself. A harness also gets `{url}` and `{out}` (`WORKBENCH_URL`,
`WORKBENCH_OUT`): if it wrote exchanges to that file they are the session's (`harness.py`), and how it
ended itself is one more, the last, unless it exited with 0.
"""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import signal
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from workbench.errors import ArmCouldNotStart
from workbench.model.ids import ExchangeKey
from workbench.model.outcome import Ending, Exchange
from workbench.ports import Endpoint, SessionRequest, Workload
from workbench.workloads.harness import folders_of, private_folder, written_in
from workbench.workloads.output import Output
from workbench.workloads.server import CONDUCTORS

_CANNOT_EXECUTE = {
    126: "it exited with 126: found but not executable",
    127: "it exited with 127: command not found",
}
_VARIABLE = "WORKBENCH_"
_RUN = f"{_VARIABLE}RUN"


@dataclass(frozen=True, kw_only=True)
class CommandWorkloadOptions:
    """Options of the workload.

    Attributes:
        argv: Command line of a harness, word by word; empty to execute the arm's command.
        timeout: Seconds after which an execution is ended; it then made no observation.
        cwd: Folder in which the command runs; null for the current one.
    """

    argv: tuple[str, ...] = ()
    timeout: float = 600.0
    cwd: str | None = None

    def __post_init__(self) -> None:
        if not self.timeout > 0:
            raise ValueError(f"timeout must be positive, not {self.timeout}")
        if self.argv and (not self.argv[0] or any("\0" in word for word in self.argv)):
            raise ValueError("argv must begin with a command and hold no NUL byte")


@dataclass(frozen=True, slots=True)
class _Execution:
    """What is executed once, and the names that it finds its place by."""

    endpoint: Endpoint
    argv: tuple[str, ...]
    run: str
    place: Mapping[str, str]


class CommandWorkload(Workload):
    """Workload `command`: one execution, one session; one exchange, if it writes none itself."""

    Options = CommandWorkloadOptions

    def __init__(self, options: CommandWorkloadOptions) -> None:
        self._argv = options.argv
        self._timeout = options.timeout
        self._cwd = Path(options.cwd) if options.cwd else Path.cwd()

    async def drive(self, endpoint: Endpoint, session: SessionRequest) -> AsyncIterator[Exchange]:
        """Execute the command once. Cancelling ends its process group."""
        argv = self._argv or endpoint.argv
        _check(endpoint, argv)
        place = {"session": str(session.key.session), "seed": str(session.seed)}
        if not (self._argv or endpoint.url):
            yield await self._execute(_Execution(endpoint, argv, session.run, place), session)
            return
        with private_folder(session.run) as folder:
            out = Path(folder) / "exchanges.jsonl"
            place |= {"url": endpoint.url, "out": str(out)}
            ended = await self._execute(_Execution(endpoint, argv, session.run, place), session)
            exchanges = written_in(out, session.key)
        if not exchanges or ended.ending is not Ending.COMPLETED or ended.exit_code != 0:
            exchanges.append(replace(ended, key=ExchangeKey(session.key, len(exchanges))))
        for exchange in exchanges[:-1]:
            yield exchange
        yield replace(exchanges[-1], last=True)

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
        for folder in folders_of(run):
            shutil.rmtree(folder, ignore_errors=True)
        return found

    async def close(self) -> None:
        """Nothing stays between sessions."""

    async def _execute(self, what: _Execution, session: SessionRequest) -> Exchange:
        begun = time.monotonic()
        reader, writer = os.pipe()
        output = Output(reader)
        try:
            process = await self._spawn(what, writer)
        except BaseException as error:
            output.close()
            if isinstance(error, OSError):
                raise _not_executable(what, error) from error
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
            raise ArmCouldNotStart(what.endpoint.arm, f"{_CANNOT_EXECUTE[code]} {last[0]}".strip())
        return Exchange(
            key=ExchangeKey(session.key, 0),
            ending=ending,
            text=text,
            text_bytes=size,
            seconds=ended - begun,
            start_seconds=started - begun,
            exit_code=code if code >= 0 and ending is Ending.COMPLETED else None,
            signal=_signal_name(-code) if code < 0 and ending is Ending.COMPLETED else "",
        )

    async def _spawn(self, what: _Execution, writer: int) -> asyncio.subprocess.Process:
        laid_over: dict[str, str | None] = {**os.environ, **what.endpoint.env}
        environment = {
            **{name: value for name, value in laid_over.items() if value is not None},
            _RUN: what.run,
            **{f"{_VARIABLE}{name.upper()}": value for name, value in what.place.items()},
        }
        return await asyncio.create_subprocess_exec(
            *(_fill(argument, what.place) for argument in what.argv),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=writer,
            stderr=writer,
            env=environment,
            cwd=what.endpoint.cwd or self._cwd,
            start_new_session=True,
        )


def _check(endpoint: Endpoint, argv: tuple[str, ...]) -> None:
    """Refuse an arm that this workload cannot be what it says for: a knob without effect."""
    if not argv:
        hint = "give the workload an `argv`, or use one that sends requests itself"
        raise ArmCouldNotStart(endpoint.arm, "there is no command to execute", hint=hint)
    beyond = [*endpoint.request, *(name for name in endpoint.load if name not in CONDUCTORS)]
    if beyond:
        what = f"a command sends what it likes: {beyond[0]!r} cannot be set from here"
        raise ArmCouldNotStart(endpoint.arm, what, hint="hand it down by a knob of kind env or flag")


def _fill(argument: str, place: Mapping[str, str]) -> str:
    for name, value in place.items():
        argument = argument.replace(f"{{{name}}}", value)
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


def _not_executable(what: _Execution, error: OSError) -> ArmCouldNotStart:
    program = what.argv[0]
    hints = {
        errno.ENOEXEC: "its first line must name an interpreter, such as #!/bin/sh",
        errno.ENOENT: "it is not there, or the interpreter that its first line names is not",
        errno.EACCES: f"chmod +x {program}",
    }
    hint = hints.get(error.errno or 0, "")
    return ArmCouldNotStart(what.endpoint.arm, f"{program}: {error.strerror}", hint=hint)
