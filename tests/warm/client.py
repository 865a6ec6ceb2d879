"""Asks a server for commands of the workbench, and gives of them what `subprocess.run` gives."""

from __future__ import annotations

import io
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
# what an interpreter reads at its start, and modules while they are imported
EARLY = ("PYTHON", "LC_", "LANG", "PATH", "GIT_", "OPENBLAS_", "OMP_")
STDIN = 0
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}  # a second one would be missing in what is forked


def early(environment: Mapping[str, str]) -> dict[str, str]:
    """Give the part of an environment that a server which has started can no longer change."""
    return {name: value for name, value in environment.items() if name.startswith(EARLY)}


class Warm:
    """A server that runs commands one at a time; it starts with the first and ends when it is closed.

    A command gets an interpreter of its own instead where its environment differs in what is read
    early, and where another one is under way.

    Args:
        environment: That of the server.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._started = False
        self._ours, self._theirs = socket.socketpair()
        self._free = threading.Lock()

    def close(self) -> None:
        """End the server, and wait until it has: it holds the other end of the socket until then."""
        self._theirs.close()
        if self._started:
            self._ours.shutdown(socket.SHUT_WR)
            self._ours.recv(1)
        self._ours.close()

    def run(
        self, arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], timeout: float
    ) -> subprocess.CompletedProcess[str]:
        """Run `workbench ARGUMENTS` to its end.

        Args:
            arguments: What stands behind `workbench`.
            cwd: The folder that it is run in.
            env: Its whole environment.
            timeout: After how many seconds it is killed.

        Raises:
            subprocess.TimeoutExpired: It was killed.
            ConnectionError: The server has ended; why stands on its stderr.
        """
        argv = [sys.executable, "-m", "workbench", *arguments]
        if early(env) == early(self._environment) and self._free.acquire(blocking=False):
            try:
                command = {"arguments": arguments, "cwd": str(cwd), "env": dict(env)}
                code, stdout, stderr = self._run(command, time.monotonic() + timeout)
            except TimeoutError as error:
                raise subprocess.TimeoutExpired(argv, timeout) from error
            finally:
                self._free.release()
            return subprocess.CompletedProcess(argv, code, stdout, stderr)
        return subprocess.run(
            argv, cwd=cwd, env=env, capture_output=True, text=True, timeout=timeout, check=False
        )

    def _run(self, command: Mapping[str, object], until: float) -> tuple[int, str, str]:
        with self._ask(command) as sources:
            said = {source: bytearray() for source in sources}
            whole = gather(said, until)
            stdout, stderr, told = said.values()
            pid, _, code = told.partition(b"\n")
            if not whole:
                if pid and not code:
                    os.kill(int(pid), signal.SIGKILL)
                raise TimeoutError
        if not code:
            raise ConnectionError("the server has ended with the command, or before it")
        return int(code), text(stdout), text(stderr)

    @contextmanager
    def _ask(self, command: Mapping[str, object]) -> Iterator[tuple[int, int, int]]:
        """Hand a command over; give where its stdout, its stderr and what is told of it can be read."""
        if not self._started:
            self._start()
        (stdout, out), (stderr, err) = os.pipe(), os.pipe()
        ours, theirs = socket.socketpair()
        try:
            try:
                socket.send_fds(self._ours, [b"!"], [STDIN, out, err, theirs.fileno()])
            finally:
                os.close(out)
                os.close(err)
                theirs.close()
            ours.sendall(json.dumps(command).encode() + b"\n")
            yield stdout, stderr, ours.fileno()
        finally:
            os.close(stdout)
            os.close(stderr)
            ours.close()

    def _start(self) -> None:
        """Start it as nobody's child: tests look whether what they ran has left processes behind."""
        with self._theirs as theirs:
            subprocess.run(
                [sys.executable, "-m", "tests.warm.server", str(theirs.fileno())],
                cwd=ROOT,
                env={**self._environment, **ONE_THREAD},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                check=True,
            )
        self._started = True


def gather(said: Mapping[int, bytearray], until: float) -> bool:
    """Read all of these to their end; give whether it came by the deadline."""
    with selectors.DefaultSelector() as waiting:
        for source in said:
            waiting.register(source, selectors.EVENT_READ)
        while waiting.get_map():
            ready = waiting.select(max(0.0, until - time.monotonic()))
            if not ready:
                return False
            for key, _ in ready:
                chunk = os.read(key.fd, 1 << 16)
                said[key.fd] += chunk
                if not chunk:
                    waiting.unregister(key.fd)
    return True


def text(said: bytes | bytearray) -> str:
    """Read bytes as `subprocess.run` does for `text=True`."""
    return io.TextIOWrapper(io.BytesIO(said)).read()
