"""A command in a process of its own, followed by whoever began it, and in no need of being followed."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import msgspec

from workbench.store.atomic import create_file, own_folder
from workbench.store.layout import work_folder

_FIRST_LINE = b'{"event": "asked"}\n'


class Background:
    """A command of the workbench that runs by itself, as `begin` makes it.

    Args:
        child: Its process.
        log: Where its output goes.
    """

    def __init__(self, child: subprocess.Popen[bytes], log: Path) -> None:
        self._child = child
        self._log = log
        self._read = 0
        self._records: list[dict[str, Any]] = []
        self._other: list[str] = []

    @classmethod
    def begin(cls, root: Path, arguments: Sequence[str]) -> Self:
        """Begin it; no terminal and no signal of this process reaches it.

        Args:
            root: The campaign's folder.
            arguments: Of `workbench`; they must ask for progress, and for what was found, as JSON.

        Raises:
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
        return cls(child, log)

    def poll(self) -> int | None:
        """Give its exit code, None while it runs."""
        return self._child.poll()

    def interrupt(self) -> None:
        """Ask it to save and end, as Ctrl-C would; what has ended already is left alone."""
        if self._child.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self._child.pid, signal.SIGINT)

    def wait(self) -> int:
        """Wait for its end, and give its exit code."""
        return self._child.wait()

    def events(self) -> Iterator[dict[str, Any]]:
        """Yield what it has told of its progress since the last time."""
        for record in self._fresh():
            if "event" in record:
                yield record

    def folder(self) -> Path | None:
        """Give the folder of its run, or of one that had decided before; None if there is none."""
        list(self._fresh())
        named = [record["folder"] for record in self._records if record.get("folder")]
        return Path(named[-1]) if named else None

    def said(self) -> str:
        """Give what it said beside that, such as why it could not begin."""
        list(self._fresh())
        return "\n".join(self._other).removeprefix("workbench: ")

    def forget(self) -> None:
        """Remove its output, of which nothing is needed any more."""
        self._log.unlink(missing_ok=True)

    def _fresh(self) -> Iterator[dict[str, Any]]:
        """Read the whole lines that are new."""
        with self._log.open("rb") as log:
            log.seek(self._read)
            data = log.read()
        whole = data[: data.rfind(b"\n") + 1]
        self._read += len(whole)
        fresh = []
        for line in whole.splitlines():
            try:
                record = msgspec.json.decode(line, type=dict[str, Any])
            except msgspec.MsgspecError:
                self._other.append(line.decode(errors="replace"))
            else:
                fresh.append(record)
        self._records += fresh
        yield from fresh
