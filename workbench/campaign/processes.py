"""Runs as processes of their own: begun in the background, stopped from elsewhere, and announced."""

from __future__ import annotations

import json
import os
import secrets
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from workbench.errors import UsageError, WorkbenchError
from workbench.model.run import Manifest, RunState
from workbench.store import RunView, find_run, is_alive
from workbench.store.atomic import create_file, own_folder
from workbench.store.layout import RUNS, work_folder

_LOOK_EVERY = 0.05
_FIRST_LINE = b'{"event": "asked"}\n'
_NOTIFY_PATIENCE = 30.0  # seconds for a notifier, which must not hold up a run that has ended


@dataclass(frozen=True, kw_only=True, slots=True)
class Detached:
    """A run in the background.

    Attributes:
        run: Its id.
        folder: Where it is kept.
        pid: The process that runs it.
        log: Where its progress goes, a line of JSON a block, and its errors.
    """

    run: str
    folder: str
    pid: int
    log: str


class DetachFailed(WorkbenchError):
    """The process in the background ended before its run was open.

    Args:
        said: What it wrote.
        exit_code: Its exit code.
    """

    def __init__(self, said: str, exit_code: int) -> None:
        super().__init__(said.removeprefix("workbench: ") or "the run ended before it began")
        self.exit_code = exit_code


def detach(root: Path, arguments: Sequence[str]) -> Detached:
    """Begin a run in a process of its own, which outlives this one and its terminal.

    Args:
        root: The campaign's folder.
        arguments: Of `workbench`, such as `test H5`; they must ask for progress as JSON.

    Raises:
        DetachFailed: The run could not begin; the error says what it said.
        StoreError: There is no room for its output.
    """
    logs = own_folder(work_folder(root) / "detached", "what runs say stays in the campaign")
    log = logs / f"{secrets.token_hex(6)}.log"
    create_file(log, _FIRST_LINE)  # a disk without room for it has none for the run
    with log.open("ab") as output:
        child = subprocess.Popen(
            [sys.executable, "-m", "workbench", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    # whoever stays, as a terminal interface does, must not leave a dead child behind
    threading.Thread(target=child.wait, name="reaping", daemon=True).start()
    while True:
        ended = child.poll()
        for event in _events(log):
            if event.get("event") == "started":
                return Detached(run=event["run"], folder=event["folder"], pid=child.pid, log=str(log))
        if ended is not None:
            said = log.read_bytes().removeprefix(_FIRST_LINE).decode(errors="replace")
            raise DetachFailed(said.strip(), ended)
        time.sleep(_LOOK_EVERY)


def stop(root: Path, run: str, *, patience: float = 30.0) -> Manifest:
    """Ask the process that owns a run to save and end it, as Ctrl-C would, and wait until it has.

    Raises:
        UsageError: The run is not going on here, or did not end in time.
    """
    path = find_run(run, root / RUNS)
    manifest = RunView.read(path).manifest
    if manifest.state is not RunState.RUNNING:
        raise UsageError(
            f"run {manifest.id} is not going on: it is {manifest.state}",
            hint=f"workbench test --resume {manifest.id} goes on with it",
        )
    if not is_alive(manifest.owner):
        raise UsageError(
            f"run {manifest.id} has no live process on this host; {manifest.owner.host} had it",
            hint=f"if it is not going on there, workbench test --resume {manifest.id}",
        )
    os.kill(manifest.owner.pid, signal.SIGINT)
    until = time.monotonic() + patience
    while time.monotonic() < until:
        now = RunView.read(path).manifest
        if now.state is not RunState.RUNNING or not is_alive(now.owner):
            return now
        time.sleep(_LOOK_EVERY)
    raise UsageError(
        f"run {manifest.id} has not ended within {patience:.0f} s",
        hint=f"process {manifest.owner.pid} on this host has it; a second stop ends it at once",
    )


def notify(command: str, payload: Mapping[str, Any]) -> str:
    """Tell a command of the user's, on its stdin, what happened; give why that failed, or nothing.

    The command is split as a shell would, and no shell is involved. What it does never changes a run.
    """
    try:
        argv = shlex.split(command)
        told = subprocess.run(
            argv,
            input=json.dumps(payload, allow_nan=False).encode() + b"\n",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=_NOTIFY_PATIENCE,
            check=False,
        )
    except (OSError, ValueError, IndexError, subprocess.TimeoutExpired) as error:
        return f"the notifier {command!r} could not be run: {error}"
    if told.returncode:
        said = told.stderr.decode("utf-8", "replace").strip().splitlines()
        return f"the notifier {command!r} failed with exit code {told.returncode}: {' '.join(said[:1])}"
    return ""


def _events(log: Path) -> list[dict[str, Any]]:
    """Read the whole lines of progress that a process has written so far."""
    found = []
    for line in log.read_bytes().split(b"\n")[:-1]:
        try:
            event = msgspec.json.decode(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            found.append(event)
    return found
