"""Starts the whole engine: router, prefill and decode server, or one process for both halves.

    python -m workbench.local_engine.launch --port 0 --enable-hierarchical-cache

The first line on stdout is the URL for clients, printed when all processes are healthy. What the
processes log goes to stderr, each line prefixed with who says it, and with --log-dir to files as well.
With --port N the servers listen on N (router), N+1 (prefill) and N+2 (decode).

SIGTERM and SIGINT end all processes. A process that ends by itself ends the others, and its last lines
are shown. The launcher only waits for events: it costs no time while the engine runs.
"""

from __future__ import annotations

import argparse
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import IO, NoReturn

from . import environ, sockets
from .server_args import ServerArgs, add_flags, new_parser, resolve, to_argv

_PACKAGE = __package__ or ""
MODULES = {
    name: (f"{_PACKAGE}.entrypoints.{module}",)
    for name, module in {
        "router": "router",
        "prefill": "prefill_server",
        "decode": "decode_server",
        "null": "unified_server",
    }.items()
}
# Payloads of rooms go back to the system when they are freed. glibc, left to itself, moves them to the
# heap after the first one, where they leave holes of megabytes.
_MALLOC = {"MALLOC_MMAP_THRESHOLD_": str(1 << 20), "MALLOC_TRIM_THRESHOLD_": str(4 << 20)}
_GRACE = 5.0  # seconds from SIGTERM to SIGKILL
_LAST_LINES = 20


@dataclass(frozen=True, slots=True)
class _Ended:
    """A child has ended."""

    name: str
    code: int


@dataclass(frozen=True, slots=True)
class _Healthy:
    """What the first request to /health said: 200 when all is well."""

    status: int


@dataclass(frozen=True, slots=True)
class _Signal:
    """The launcher was told to end."""

    number: int


_Events = queue.SimpleQueue[_Ended | _Healthy | _Signal]


@dataclass(slots=True)
class _Child:
    """A server process, and the last lines that it logged."""

    process: subprocess.Popen[bytes]
    last_lines: deque[str] = field(default_factory=lambda: deque(maxlen=_LAST_LINES))


class Launcher:
    """Starts the processes, waits, and ends them.

    Args:
        args: Flags of the servers; `port` is the first one.
        one_process: Start one server for both halves, and no router.
        log_dir: Folder for log files, if they are to be kept.
        modules: Which module, with which first arguments, is which server.
    """

    def __init__(
        self,
        args: ServerArgs,
        *,
        one_process: bool,
        log_dir: Path | None,
        modules: Mapping[str, tuple[str, ...]] = MODULES,
    ) -> None:
        self._args = args
        self._names = ["null"] if one_process else ["router", "prefill", "decode"]
        self._log_dir = log_dir
        self._modules = modules
        self._events: _Events = queue.SimpleQueue()
        self._children: dict[str, _Child] = {}
        self._threads: list[threading.Thread] = []
        self._life, self._hand = os.pipe()  # the children's end, and the one that dies with us

    def run(self) -> int:
        """Run until a signal or the end of a child; give the exit code."""
        try:
            url = self._start()
            self._in_thread(self._ask_health, url)
            return self._wait(url)
        finally:
            self._end()

    def _start(self) -> str:
        first = self._args.port
        listeners: dict[str, socket.socket] = {}
        for offset, name in enumerate(self._names):
            port = first + offset if first else 0
            listeners[name] = sockets.listen(self._args.host, port, f"{name} server")
        urls = {name: sockets.url_of(listener) for name, listener in listeners.items()}
        for name, listener in listeners.items():
            self._spawn(name, listener, self._flags(name, urls))
            listener.close()
        return urls[self._names[0]]

    def _flags(self, name: str, urls: Mapping[str, str]) -> list[str]:
        if name == "router":
            level = ["--log-level", self._args.log_level]
            return ["--prefill", urls["prefill"], "--decode", urls["decode"], *level]
        flags = [*to_argv(self._args), "--disaggregation-mode", name]
        if name == "prefill":
            flags += ["--disaggregation-decode-url", urls["decode"]]
        return flags

    def _spawn(self, name: str, listener: socket.socket, flags: list[str]) -> None:
        module, *first = self._modules[name]
        inherited = (listener.fileno(), self._life)
        command = [
            *(sys.executable, "-P", "-m", module, *first, *flags),
            *("--listen-fd", str(inherited[0]), "--parent-fd", str(inherited[1])),
        ]
        process = subprocess.Popen(
            command,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=inherited,
            process_group=0,  # Ctrl-C reaches the launcher alone, which ends them in order
        )
        child = self._children[name] = _Child(process)
        self._in_thread(self._pump, name, child)

    def _in_thread(self, work: object, *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)  # type: ignore[arg-type]
        thread.start()
        self._threads.append(thread)

    def _pump(self, name: str, child: _Child) -> None:
        """Pass a child's log on until it ends, then report that."""
        stream = child.process.stdout
        assert stream is not None
        with stream, _log_file(self._log_dir, name) as kept:
            for line in stream:
                text = line.decode(errors="replace").rstrip("\n")
                child.last_lines.append(text)
                kept.write(line)
                kept.flush()
                _say(f"[{name}] {text}")
        self._events.put(_Ended(name, child.process.wait()))

    def _ask_health(self, url: str) -> None:
        """Ask once: the request waits in the sockets' queues until the servers are up."""
        self._events.put(_Healthy(sockets.get_status(url, "/health")))

    def _wait(self, url: str) -> int:
        for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(each, self._on_signal)
        patience: float | None = None
        while True:
            try:
                event = self._events.get(timeout=patience)
            except queue.Empty:
                _say("error: the processes run, but are not healthy")
                return 1
            match event:
                case _Healthy(200):
                    print(url, flush=True)  # noqa: T201
                case _Healthy():
                    patience = _GRACE  # most likely a process has ended, and that will be told
                case _Ended(name, code):
                    return self._explain(name, code)
                case _Signal(signal.SIGTERM):
                    return 0
                case _Signal(number):
                    return 128 + number

    def _on_signal(self, number: int, _: FrameType | None) -> None:
        self._events.put(_Signal(number))

    def _explain(self, name: str, code: int) -> int:
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        _say(f"error: the {name} process ended {how}; its last lines:")
        for line in self._children[name].last_lines:
            _say(f"    {line}")
        return code if code > 0 else 1

    def _end(self) -> None:
        """End every child: politely, then by force."""
        running = [child.process for child in self._children.values()]
        for process in running:
            if process.poll() is None:
                process.terminate()
        for process in running:
            try:
                process.wait(_GRACE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for thread in self._threads:
            thread.join(_GRACE)


def _environment() -> dict[str, str]:
    """Give the children's environment, in which they load this tree wherever they are started."""
    root = str(Path(__file__).parents[len(_PACKAGE.split("."))])
    path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**_MALLOC, **os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}


def _log_file(folder: Path | None, name: str) -> IO[bytes]:
    path = Path(os.devnull) if folder is None else folder / f"{name}.log"
    return path.open("ab")


def _say(line: str) -> None:
    with suppress(OSError):  # whoever read it has left; the servers must not be held up by that
        sys.stderr.write(line + "\n")
        sys.stderr.flush()


def _fail(message: str, code: int) -> NoReturn:
    _say(f"launch: error: {message}")
    raise SystemExit(code)


def _parse(argv: Sequence[str] | None) -> tuple[ServerArgs, argparse.Namespace]:
    parser = new_parser("launch", "Start the local engine: router, prefill and decode server.")
    add_flags(parser)
    parser.add_argument("--log-dir", type=Path, metavar="DIR", help="Keep each process's log there.")
    parser.set_defaults(disaggregation_mode=None)
    parsed = parser.parse_args(argv)
    parsed.one_process = parsed.disaggregation_mode == "null"
    if parsed.disaggregation_mode not in (None, "null") or parsed.disaggregation_decode_url:
        parser.error(
            "both halves are started here; for one, run entrypoints.prefill_server or its like"
        )
    parsed.disaggregation_mode = "null"
    args = resolve(parser, parsed)
    if args.port and args.port + 2 > 65535:
        parser.error(f"--port {args.port}: the two ports after it are needed as well")
    return args, parsed


def main(
    argv: Sequence[str] | None = None, modules: Mapping[str, tuple[str, ...]] = MODULES
) -> NoReturn:
    """Run the engine; exit code 0 after SIGTERM, 2 for a bad command line, 1 for what fails later."""
    args, parsed = _parse(argv)
    log_dir: Path | None = parsed.log_dir
    try:
        environ.read(os.environ)
        if log_dir is not None:
            log_dir.mkdir(parents=True, exist_ok=True)
    except (ValueError, OSError) as error:
        _fail(str(error), 2)
    launcher = Launcher(args, one_process=parsed.one_process, log_dir=log_dir, modules=modules)
    try:
        code = launcher.run()
    except sockets.PortInUse as error:
        _fail(str(error), 1)
    raise SystemExit(code)


if __name__ == "__main__":
    main()
