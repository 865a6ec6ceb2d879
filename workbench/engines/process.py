"""Lifecycle `process`: the components of a server, started and ended here, their logs kept.

Each component is a process group of its own under a warden (`kept`, `warden`), so that a terminal's
Ctrl-C reaches the workbench alone, and so that nothing is left running however the workbench ends.
Should that have failed, what an earlier start has left is found by its environment, and ended before
the next one.

    engines:
      local: {lifecycle: process, dialect: sglang, files: ["../engine/**/*.py"], components: {
        decode:  {argv: ["{python}", -m, engine.decode, --port, "{port}"]},
        prefill: {argv: ["{python}", -m, engine.prefill, --port, "{port}", --decode, "{port:decode}"]}}}
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import json
import os
import platform
import shlex
from collections.abc import Mapping
from pathlib import Path

from workbench.engines import components, logs, looking
from workbench.engines.components import ProcessEngineOptions, fill
from workbench.engines.files import Files
from workbench.engines.kept import Kept, end_marked
from workbench.engines.readiness import Up, all_ready
from workbench.errors import ArmCouldNotStart, EngineError
from workbench.http.control import Control
from workbench.model.plan import Arm, Cluster
from workbench.model.run import Fingerprint
from workbench.ports import (
    Dialect,
    Endpoint,
    Engine,
    Launch,
    Sighting,
    Traffic,
    Turn,
    untouched,
)

MARK = "WORKBENCH_ENGINE"  # variable that names the engine in all of its processes
_LOGS = ".workbench/logs/engine"


class ProcessEngine(Engine):
    """Starts the components of an engine for each arm, and ends them."""

    Options = ProcessEngineOptions
    cluster = Cluster.START
    speaks = True
    disturbs = True

    def __init__(self, options: ProcessEngineOptions, dialect: Dialect) -> None:
        self._options = options
        self._dialect = dialect
        self._cwd = Path(options.cwd) if options.cwd else Path.cwd()
        self._files = Files(self._cwd)
        self._control = Control(api_key_env=options.api_key_env)
        self._up: dict[str, Up] = {}
        self._url = ""
        self.lease = options.lease or _lease(self._cwd, options)

    async def start(self, arm: Arm, turn: Turn = untouched) -> Endpoint:
        """Start all components, and wait until each of them is ready.

        What an earlier start has left is ended before.

        Raises:
            ArmCouldNotStart: One cannot be executed, ends before it is ready, or is not ready in time.
        """
        await self.stop()
        launches = self._launches(turn)
        await asyncio.to_thread(end_marked, MARK, self.lease)
        ports = components.draw_ports((*self._options.components, *self._options.ports))
        try:
            for name, launch in launches.items():
                self._up[name] = await self._start(arm.name, name, launch, ports)
            await all_ready(arm.name, self._up, self._is_ready, within=self._options.ready_timeout)
        except BaseException:
            await self.stop()
            raise
        talks = self._options.talks
        self._url = launches[talks].url or fill(self._options.url, talks, ports) or self._up[talks].url
        return Endpoint(
            arm=arm.name,
            url=self._url,
            request={key: value for each in launches.values() for key, value in each.request.items()},
            load={key: value for each in launches.values() for key, value in each.load.items()},
        )

    async def fingerprint(self, arm: Arm, turn: Turn = untouched) -> Fingerprint:
        """Say what would be started: command lines and environments as turned, and their files."""
        config: dict[str, str] = {}
        files: dict[str, str] = {}
        for name, launch in self._launches(turn).items():
            config[f"{name} argv"] = shlex.join(launch.argv)
            for variable, value in launch.env.items():
                config[f"{name} env {variable}"] = "(not set)" if value is None else value
            if launch.url:
                config[f"{name} url"] = launch.url
            try:
                files |= self._files.digests(self._run_by(arm.name, name, launch), launch.place)
            except OSError as error:
                raise ArmCouldNotStart(arm.name, f"component {name}: {error}") from error
        volatile = {"host": platform.node(), "system": platform.platform()}
        return Fingerprint(arm=arm.name, config=config, files=files, volatile=volatile)

    async def stop(self) -> None:
        """End all components, the last one first; by force those that do not end in time.

        Cancelling ends them by force at once.

        Raises:
            EngineError: One is still there after that, which only the kernel can do.
        """
        up, self._up, self._url = self._up, {}, ""
        kept = {name: each.kept for name, each in reversed(up.items())}
        for each in kept.values():
            each.terminate()
        until = asyncio.get_running_loop().time() + self._options.stop_timeout
        try:
            for each in kept.values():
                await each.ended(until - asyncio.get_running_loop().time())
        finally:
            for each in kept.values():
                each.cut()
            left = [name for name, each in kept.items() if not await each.end(0.0)]
        if left:
            raise EngineError(f"component {left[0]} was killed and does not end")

    async def look(self) -> Sighting | None:
        """Read back every component: its process, its settings, its files, its log."""
        if not self._up:
            return None
        told = await looking.infos(self._dialect, {name: each.url for name, each in self._up.items()})
        seen = {
            name: looking.component(
                each.kept.pid,
                url=each.url,
                info=told[name],
                log=each.log,
                log_from=each.log_from,
                files=self._files,
                paths=each.files,
                place=each.place,
            )
            for name, each in self._up.items()
        }
        return Sighting(components=seen, volatile=self._dialect.volatile)

    async def traffic(self) -> Traffic:
        """Give what the component counts that clients talk to."""
        return await self._dialect.traffic(self._there())

    async def flush(self) -> bool:
        """Empty the caches, by the component that clients talk to."""
        return await self._dialect.flush(self._there())

    def died(self) -> str:
        """Say which component has ended by itself, how, and what it said last."""
        for name, each in self._up.items():
            if each.kept.ending:
                last = "".join(f": {line}" for line in each.kept.last_lines(1))
                return f"component {name} ended with {each.kept.ending}{last}"
        return ""

    def _launches(self, turn: Turn) -> dict[str, Launch]:
        """Give the launch of each component, as the arm's knobs turn it."""
        return {
            name: turn(
                Launch(argv=options.argv, env=dict(options.env), cwd=str(self._cwd / options.cwd)),
                name,
            )
            for name, options in self._options.components.items()
        }

    async def _start(self, arm: str, name: str, launch: Launch, ports: Mapping[str, int]) -> Up:
        """Start a component; it need not be ready."""
        options = self._options.components[name]
        files = self._run_by(arm, name, launch)
        argv = [fill(word, name, ports, launch.place) for word in launch.argv]
        log = self._cwd / (self._options.logs or _LOGS) / f"{name}.log"
        own_log = _moved(self._cwd / options.log, launch) if options.log else None
        own_log_from = logs.size(own_log) if own_log else 0
        try:
            kept = await Kept.start(
                [str(files[0]), *argv[1:]],
                env=_environment(launch, name, ports) | {MARK: self.lease},
                cwd=self._folder(name, launch),
                log=log,
            )
        except OSError as error:
            what = f"component {name}: {argv[0]}: {error.strerror or error}"
            raise ArmCouldNotStart(arm, what, hint=_why_not(error, files[0])) from error
        return Up(
            kept=kept,
            url=fill(self._options.address(name), name, ports),
            health=options.health,
            log=str(own_log or log),
            log_from=own_log_from if own_log else kept.log_from,
            files=tuple(files),
            place=launch.place,
        )

    def _folder(self, name: str, launch: Launch) -> Path:
        """Give the folder in which a component runs; a turn may have left it out."""
        return Path(launch.cwd or self._cwd / self._options.components[name].cwd)

    def _run_by(self, arm: str, name: str, launch: Launch) -> list[Path]:
        """Give the files behind a component: its program, its script, and what the options name."""
        if not launch.argv or not launch.argv[0]:
            raise ArmCouldNotStart(arm, f"component {name}: its command is empty")
        folder = self._folder(name, launch)
        if not folder.is_dir():
            raise ArmCouldNotStart(arm, f"component {name}: there is no folder {folder}")
        argv = [fill(word, name, {}, launch.place) for word in launch.argv]
        path = launch.env.get("PATH", os.environ.get("PATH"))
        path = launch.place.fill(path) if launch.place and path else path
        program = self._files.program(arm, argv[0], folder=folder, path=path)
        script = self._files.script(program, argv[1:], folder=folder)
        return [program, *script, *self._files.matching(arm, self._options.files, launch.place)]

    async def _is_ready(self, up: Up) -> bool:
        if not up.url:  # nobody can ask it
            return True
        if not up.health:
            return await self._dialect.ready(up.url)
        try:
            return (await self._control.get(up.url.rstrip("/") + up.health)).good
        except EngineError:
            return False

    def _there(self) -> str:
        if not self._url:
            raise EngineError("nothing is up that could be asked")
        return self._url


def _environment(launch: Launch, name: str, ports: Mapping[str, int]) -> dict[str, str]:
    inherited = {key: value for key, value in os.environ.items() if key not in launch.env}
    given = {
        key: fill(value, name, ports, launch.place)
        for key, value in launch.env.items()
        if value is not None
    }
    return inherited | given


def _moved(path: Path, launch: Launch) -> Path:
    """Give a file of the code that is run in place of one of the repository."""
    return Path(launch.place.moved(os.path.realpath(path))) if launch.place else path


def _lease(cwd: Path, options: ProcessEngineOptions) -> str:
    """Name what these components in this folder are, for whoever wants the same ones."""
    told = [str(cwd), {name: each.argv for name, each in options.components.items()}]
    return f"process {hashlib.sha256(json.dumps(told).encode()).hexdigest()[:12]}"


def _why_not(error: OSError, program: Path) -> str:
    hints = {
        errno.ENOEXEC: "its first line must name an interpreter, such as #!/bin/sh",
        errno.ENOENT: "the interpreter that its first line names does not exist",
        errno.EACCES: f"chmod +x {shlex.quote(str(program))}",
    }
    return hints.get(error.errno or 0, "")
