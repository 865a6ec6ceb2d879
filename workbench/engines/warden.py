"""Keeps one process company, and sees to it that nothing of it outlives the workbench.

    python -I -S warden.py LIFE TOLD PROGRAM ARGUMENT...

A program of its own, run by its path: it needs nothing but the standard library, whatever environment
and folder the process is to have. LIFE is the reading end of a pipe whose other end only the workbench
holds. When that is closed, by the workbench or by its death, everything ends that descends from here,
also what has left the process group: as a subreaper the warden inherits it. If the warden itself is
killed, the kernel ends the process. (Both are Linux; elsewhere the process group is what ends.)

TOLD is told the process's id, and on a second line the number of the error if it cannot be executed;
then it is closed. SIGTERM is passed on to the process group. The warden ends when the process ends, and
in the same way: with its exit code, or by its signal; what the process leaves behind ends with it.
"""

from __future__ import annotations

import ctypes
import os
import resource
import select
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_CANNOT_EXECUTE = 127


def main(argv: Sequence[str]) -> NoReturn:
    """Start the process, wait for its end or the workbench's, clear up, and end as it ended."""
    life, told, command = int(argv[0]), int(argv[1]), argv[2:]
    _control(_PR_SET_CHILD_SUBREAPER, 1)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # else nothing wakes us; before there is a child
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    pid = os.fork()
    if pid == 0:
        _become(command, told)
    os.close(told)
    signal.signal(signal.SIGTERM, lambda *_: _to_group(pid, signal.SIGTERM))
    status = _wait(pid, life, woken)
    _clear(pid)
    _end_as(status)


def _become(command: Sequence[str], told: int) -> NoReturn:
    """Be the process: a session of its own, nothing inherited but the three standard streams."""
    warden = os.getppid()
    os.setsid()
    _control(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != warden:  # it died before the call above
        os._exit(1)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and that is inherited
        signal.signal(number, signal.SIG_DFL)
    os.set_inheritable(told, False)  # so that it is closed by what is executed
    os.write(told, f"{os.getpid()}\n".encode())
    try:
        os.closerange(3, told)
        os.closerange(told + 1, 256)
        os.execvp(command[0], list(command))
    except OSError as error:
        os.write(told, f"{error.errno}\n".encode())
    os._exit(_CANNOT_EXECUTE)


def _wait(pid: int, life: int, woken: int) -> int:
    """Wait until the process or the workbench ends; give the status in which the process ends."""
    while True:
        ready, _, _ = select.select([life, woken], [], [])
        if life in ready:
            return int(signal.SIGKILL)
        os.read(woken, 4096)
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == pid:
                    return ended[1]


def _clear(pid: int) -> None:
    """End everything that descends from here; what loses its parent by that becomes a child of ours."""
    _to_group(pid, signal.SIGKILL)
    with suppress(ChildProcessError):
        while True:
            for child in _children():
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(child, signal.SIGKILL)
            os.waitpid(-1, 0)


def _children() -> Iterator[int]:
    own = str(os.getpid())
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, IndexError):
            # the name, which stands in brackets before, may hold anything
            if stat.read_text(errors="replace").rpartition(")")[2].split()[1] == own:
                yield int(stat.parent.name)


def _to_group(pid: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _end_as(status: int) -> NoReturn:
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the process has left one, if any
        with suppress(OSError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code if code >= 0 else 128 - code)


def _control(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    main(sys.argv[1:])
