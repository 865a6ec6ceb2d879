"""Imports the workbench, and forks a process for each command that it is asked for.

Run as `python -m tests.warm.server FD`, where FD is a socket. One byte comes there for each command,
with four file descriptors: its stdin, stdout and stderr, and a socket for what is said of it. There the
command comes as a line of JSON; its pid, and at its end its exit code, go back, each a line. The server
ends when nobody holds the other end of FD any more.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import runpy
import signal
import socket
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import workbench

# run as programs, never imported by a command; and what draws, which no command of these tests does
APART = ("workbench.__main__", "workbench.local_engine", "workbench.tui")
LAZY = ("difflib", "git", "psutil", "rich.live", "yaml")  # what commands import when they need it


def load() -> None:
    """Import what any command may need; nothing of it may begin a thread, which no fork would have."""
    for module in pkgutil.walk_packages(workbench.__path__, "workbench."):
        if not module.name.startswith(APART):
            importlib.import_module(module.name)
    for name in LAZY:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # a collection in a child would copy all pages


def serve(commands: socket.socket) -> None:
    """Run what is asked for, one after another; this returns in their processes and nowhere else."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for commands, and for who asks for them
    while True:
        _, descriptors, _, _ = socket.recv_fds(commands, 1, 4)
        if not descriptors:
            sys.exit()
        *streams, told = descriptors
        with socket.socket(fileno=told) as client:
            with client.makefile("rb") as lines:
                command = json.loads(lines.readline())
            pid = os.fork()
            if pid == 0:
                commands.close()
                return become(command, *streams)
            for stream in streams:
                os.close(stream)
            client.sendall(f"{pid}\n".encode())
            _, status = os.waitpid(pid, 0)
            client.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def become(command: dict[str, Any], *streams: int) -> None:
    """Turn this process into what `python -m workbench ARGUMENTS` is before its first import."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(command["env"])
    time.tzset()
    tempfile.tempdir = None
    os.chdir(command["cwd"])
    sys.path[0] = str(Path.cwd())
    sys.argv = ["workbench", *command["arguments"]]


if __name__ == "__main__":
    if os.fork():
        os._exit(0)  # whoever started it does not wait, and has no child in it
    load()
    serve(socket.socket(fileno=int(sys.argv[1])))
    runpy.run_module("workbench", run_name="__main__", alter_sys=True)
