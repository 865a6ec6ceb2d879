"""Lifecycle `attach`: a server that runs already, by its URL. Nothing is started and nothing stopped.

On this machine the process behind the URL is found by who listens there, as far as we may see that;
its id can also be given, as a number or as the file that the server writes it to. With it, what was
read back is that process's, and a restart that nobody in the run made is noticed.
"""

from __future__ import annotations

import ipaddress
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from workbench.engines import logs, looking
from workbench.engines.files import Files
from workbench.errors import ArmCouldNotStart, EngineError
from workbench.http.control import shown
from workbench.model.plan import Arm, Cluster
from workbench.model.run import Fingerprint
from workbench.ports import Dialect, Endpoint, Engine, Launch, Sighting, Traffic, Turn, untouched


@dataclass(frozen=True, kw_only=True)
class AttachEngineOptions:
    """Options of the engine.

    Attributes:
        url: Where the server answers, such as `http://127.0.0.1:30000`.
        pid: Its process id, or the file in which that stands; None to see who listens at the URL.
        log: Path of its log; empty if there is none that can be read.
        files: Patterns of files that it runs, such as `src/**/*.py`.
        api_key_env: Name of the environment variable that holds its key; empty for none. The dialect
            has this option too.
        cwd: Folder that relative paths are from; None for the current one.
        lease: What only one run may have at a time; empty for the URL.
    """

    url: str
    pid: int | str | None = None
    log: str = ""
    files: tuple[str, ...] = ()
    api_key_env: str = ""
    cwd: str | None = None
    lease: str = ""

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")) or not _host(self.url):
            raise ValueError(f"url must be one such as http://127.0.0.1:30000, not {shown(self.url)!r}")
        if isinstance(self.pid, int) and self.pid <= 0:
            raise ValueError(f"pid must be positive, not {self.pid}")


@dataclass(frozen=True, kw_only=True)
class _Up:
    """What was there when the arm was started: a server, and the process that it was then."""

    url: str
    process: psutil.Process | None
    log_from: int


class AttachEngine(Engine):
    """Takes a server as it is."""

    Options = AttachEngineOptions
    cluster = Cluster.START
    speaks = True
    disturbs = False

    def __init__(self, options: AttachEngineOptions, dialect: Dialect) -> None:
        self._options = options
        self._dialect = dialect
        self._files = Files(Path(options.cwd) if options.cwd else Path.cwd())
        self._up: _Up | None = None
        self.lease = options.lease or options.url

    async def start(self, arm: Arm, turn: Turn = untouched) -> Endpoint:
        """Prove that the server is ready. Raises ArmCouldNotStart when it is not."""
        launch = self._launch(arm, turn)
        await self._answers(arm, launch.url)
        self._up = _Up(url=launch.url, process=self._process(launch.url), log_from=logs.size(self._log))
        return Endpoint(arm=arm.name, url=launch.url, request=launch.request, load=launch.load)

    async def fingerprint(self, arm: Arm, turn: Turn = untouched) -> Fingerprint:
        """Say which server it is, and how it says that it is set.

        Raises:
            ArmCouldNotStart: It does not answer, or a file that it is to run is not there.
        """
        launch = self._launch(arm, turn)
        await self._answers(arm, launch.url)
        try:
            told = await self._dialect.info(launch.url)
            files = self._files.digests(self._files.matching(arm.name, self._options.files))
        except ArmCouldNotStart:
            raise
        except (EngineError, OSError) as error:
            raise ArmCouldNotStart(arm.name, str(error)) from error
        moving = {key: told[key] for key in told if self._is_volatile(key)}
        return Fingerprint(
            arm=arm.name,
            config={"url": launch.url} | {key: told[key] for key in told if key not in moving},
            files=files,
            volatile={"host": platform.node(), "system": platform.platform(), **moving},
        )

    async def stop(self) -> None:
        """Let go of it; it runs on."""
        self._up = None

    async def look(self) -> Sighting | None:
        """Read it back: its settings, and on this machine its process."""
        if self._up is None:
            return None
        process = self._process(self._up.url)  # as it is now: another one is a restart
        seen = looking.component(
            process.pid if process else None,
            url=self._up.url,
            info=await self._dialect.info(self._up.url),
            log=str(self._log) if self._options.log else "",
            log_from=self._up.log_from,
            files=self._files,
            paths=self._files.matching("", self._options.files),
        )
        return Sighting(components={"": seen}, volatile=self._dialect.volatile)

    async def traffic(self) -> Traffic:
        """Give what it counts."""
        return await self._dialect.traffic(self._there())

    async def flush(self) -> bool:
        """Empty its caches."""
        return await self._dialect.flush(self._there())

    def died(self) -> str:
        """Say that the process is gone that was there at the start, and which is in its place."""
        if self._up is None or self._up.process is None or looking.alive(self._up.process):
            return ""
        now = self._process(self._up.url)
        gone = f"process {self._up.process.pid} behind {shown(self._up.url)} has ended"
        return f"{gone}; process {now.pid} has taken its place" if now else gone

    @property
    def _log(self) -> Path:
        return self._files.folder / self._options.log

    def _launch(self, arm: Arm, turn: Turn) -> Launch:
        """Give the launch as the arm's knobs turn it; of a server that runs they cannot turn all."""
        launch = turn(Launch(url=self._options.url))
        asked: Mapping[str, bool] = {
            "its command line": bool(launch.argv),
            f"its environment ({', '.join(launch.env)})": bool(launch.env),
            "a file that it reads when it starts": bool(launch.edits),
            "the code that it runs": launch.checkout is not None,
        }
        for what in (what for what, is_asked in asked.items() if is_asked):
            raise ArmCouldNotStart(
                arm.name,
                f"its knobs change {what}, and engine 'attach' starts nothing",
                hint="use an engine that is started, such as lifecycle process, or knobs of a request",
            )
        return launch

    async def _answers(self, arm: Arm, url: str) -> None:
        if not await self._dialect.ready(url):
            raise ArmCouldNotStart(
                arm.name,
                f"{shown(url)} does not answer as a server that is ready",
                hint=f"is it up, and is this its port? `curl {shown(url)}{self._dialect.health}`",
            )

    def _there(self) -> str:
        if self._up is None:
            raise EngineError("no server was attached to")
        return self._up.url

    def _is_volatile(self, key: str) -> bool:
        return any(fnmatchcase(key, pattern) for pattern in self._dialect.volatile)

    def _process(self, url: str) -> psutil.Process | None:
        """Give the process behind a URL; None if it cannot be told."""
        pid = self._options.pid
        try:
            if isinstance(pid, str):
                pid = int((self._files.folder / pid).read_text(errors="replace")[:20])
            return _listener(url) if pid is None else psutil.Process(pid)
        except (psutil.Error, OSError, ValueError, OverflowError):
            return None


def _listener(url: str) -> psutil.Process | None:
    """Give the oldest process that listens at a URL of this machine. Raises psutil.Error."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    if not _on_this_machine(_host(url)):
        return None
    found = [
        psutil.Process(each.pid)
        for each in psutil.net_connections("tcp")
        if each.status == psutil.CONN_LISTEN and each.laddr.port == port and each.pid
    ]
    return min(found, key=psutil.Process.create_time, default=None)


def _on_this_machine(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _host(url: str) -> str:
    """Give the host of a URL; empty if it has none, or its port is none."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return ""
    return parts.hostname or ""
