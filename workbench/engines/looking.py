"""What can be seen of a process and its files from outside: for engines that read back what is up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import psutil

from workbench.engines.files import Files
from workbench.errors import EngineError
from workbench.ports import Component


def component(
    pid: int | None,
    *,
    url: str,
    info: Mapping[str, str],
    log: str,
    log_from: int,
    files: Files,
    paths: Iterable[Path],
) -> Component:
    """Give a component as it is now: what the kernel says of its process, and digests of its files.

    What we may not see of a process of somebody else's is left empty.

    Raises:
        EngineError: One of its files is gone.
    """
    there = list(paths)
    try:
        digests, newest = files.digests(there), files.newest(there)
    except OSError as error:
        raise EngineError(f"a file that the engine runs cannot be read: {error}") from error
    started, argv, environment = _process(pid)
    return Component(
        url=url,
        pid=pid,
        started=started,
        argv=argv,
        env=environment,
        info=info,
        log=log,
        log_from=log_from,
        files=digests,
        newest=newest,
    )


def alive(process: psutil.Process) -> bool:
    """Say whether it is still this process, and more than an entry that nobody has taken note of."""
    try:
        return bool(process.is_running()) and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _process(pid: int | None) -> tuple[float | None, tuple[str, ...], dict[str, str]]:
    started, argv, environment = None, (), {}
    with suppress(psutil.Error):
        if pid is not None:
            process = psutil.Process(pid)
            started = float(process.create_time())
            argv = tuple(process.cmdline())
            environment = dict(process.environ())
    return started, argv, environment
