"""What can be seen of a process and its files from outside: for engines that read back what is up."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

import psutil

from workbench.engines.files import Files
from workbench.errors import EngineError, GitError
from workbench.ports import Component, Dialect, Place
from workbench.vcs import code as tracked

_WHOLE = 2.0  # seconds; a clock that was set since the boot tells more, and nothing of this


def component(
    pid: int | None,
    *,
    url: str,
    info: Mapping[str, str],
    log: str,
    log_from: int,
    files: Files,
    paths: Iterable[Path],
    place: Place | None = None,
) -> Component:
    """Give a component as it is now: what the kernel says of its process, and digests of its files.

    What we may not see of a process of somebody else's is left empty. Of a worktree that was checked
    out for it, any tracked file may be the newest; into the repository's own, others write, too.

    Raises:
        EngineError: One of its files is gone.
    """
    there = list(paths)
    try:
        digests, newest = files.digests(there, place), files.newest(there)
        if place and place.folder != place.instead_of and newest is not None:
            newest = max(newest, tracked.newest(Path(place.folder)) or newest)
    except (OSError, GitError) as error:
        raise EngineError(f"a file that the engine runs cannot be read: {error}") from error
    started, argv, environment, cwd = _process(pid)
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
        early=_told_too_early(),
        cwd=cwd,
    )


async def infos(dialect: Dialect, urls: Mapping[str, str]) -> Mapping[str, Mapping[str, str]]:
    """Ask components how they are set; those without a URL, or that cannot tell, tell nothing.

    Raises:
        EngineError: None can tell.
    """
    asked = [name for name, url in urls.items() if url]
    told = await asyncio.gather(*(_info(dialect, urls[name]) for name in asked))
    errors = [each for each in told if isinstance(each, EngineError)]
    if errors and len(errors) == len(told):
        raise errors[0]
    found: dict[str, Mapping[str, str]] = {name: {} for name in urls}
    for name, each in zip(asked, told, strict=True):
        if not isinstance(each, EngineError):
            found[name] = each
    return found


async def _info(dialect: Dialect, url: str) -> Mapping[str, str] | EngineError:
    try:
        return await dialect.info(url)
    except EngineError as error:
        return error


def alive(process: psutil.Process) -> bool:
    """Say whether it is still this process, and more than an entry that nobody has taken note of."""
    try:
        return bool(process.is_running()) and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _process(pid: int | None) -> tuple[float | None, tuple[str, ...], dict[str, str], str]:
    started, argv, environment, cwd = None, (), {}, ""
    with suppress(psutil.Error):
        if pid is not None:
            process = psutil.Process(pid)
            started = float(process.create_time())
            argv = tuple(process.cmdline())
            environment = dict(process.environ())
            cwd = process.cwd()
    return started, argv, environment, cwd


@cache
def _told_too_early() -> float:
    """Give the part of a second by which the start of a process is told too early.

    It is counted from the boot, of which the kernel tells whole seconds; a file that was written just
    before would seem younger than the process.
    """
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    if clock is None:
        return 0.0
    error = time.time() - time.clock_gettime(clock) - float(psutil.boot_time())
    return error if 0.0 <= error < _WHOLE else 0.0
