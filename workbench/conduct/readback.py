"""Looks up what proves that settings took effect and that a suspect's path was exercised.

Most of it has been read already when an engine was looked at; logs, files and commands are read here.
What each of them is to be is judged in `judge.readback`.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path

from workbench.conduct.knobs import COMPONENTS, READBACK, value_of
from workbench.judge.readback import (
    CHECKOUT,
    CMDLINE,
    COMMAND,
    ENVIRON,
    FILE,
    LOG,
    NOT_SET,
    SERVER_INFO,
    Readback,
    find_key,
    flag_in,
)
from workbench.model.plan import Arm, Part
from workbench.model.start import Exposure, Reading
from workbench.ports import Component, Place, Sighting

_LOG_CAP = 64 << 20  # bytes of a log that are searched, from where a start begins
_PATIENCE = 30.0  # seconds for a command
_SHOWN = 200


class Lookup:
    """Looks things up in one start.

    Args:
        sighting: What was read back of the engine.
        root: Folder that relative paths are from.
        place: Where the code of the arm lies: paths in the repository are those in it.
    """

    def __init__(self, sighting: Sighting, root: Path, place: Place | None = None) -> None:
        self._sighting = sighting
        self._root = root
        self._place = place

    async def readbacks(self, arm: Arm, knobs: Mapping[str, Part]) -> tuple[Reading, ...]:
        """Read back each knob of an arm that says how, with a reading for each of its components."""
        readings: list[Reading] = []
        for name in sorted(arm.settings.keys() & knobs.keys()):
            part, level = knobs[name], arm.settings[name]
            readback = Readback.of(part.options.get(READBACK, {}))
            if (
                readback is None or readback.source == CHECKOUT
            ):  # that is looked up for all knobs at once
                continue
            value = value_of(part, level)
            for where, found in await self._found(readback, part.options.get(COMPONENTS, ())):
                readings.append(
                    Reading(
                        about=f"knob {name}",
                        source=f"{readback} of {where}" if where else str(readback),
                        due=readback.due(level, value),
                        found=found[:_SHOWN],
                        ok=readback.met(level, value, found),
                    )
                )
        return tuple(readings)

    def exposure(self, asked: Iterable[Exposure], metrics: Mapping[str, float]) -> tuple[Reading, ...]:
        """Look up how far each exposure was reached; a metric that is not there was never counted."""
        return tuple(self._exposed(each, metrics) for each in asked)

    def _exposed(self, asked: Exposure, metrics: Mapping[str, float]) -> Reading:
        bounds = []
        if asked.at_least is not None:
            bounds.append(f"at least {asked.at_least:g}")
        if asked.at_most is not None:
            bounds.append(f"at most {asked.at_most:g}")
        if asked.metric:
            number: float | None = metrics.get(asked.metric)
            near = get_close_matches(asked.metric, metrics, n=1) if number is None else []
            source = f"metric {asked.metric}" + (f" (did you mean {near[0]}?)" if near else "")
            number = 0.0 if number is None else number
        else:
            source = f"log {asked.log!r}" + (f" of {asked.component}" if asked.component else "")
            number = float(sum(1 for _ in self._matches(asked.log, self._named([asked.component]))))
        return Reading(
            about=f"exposure {asked.metric or asked.log}",
            source=source,
            due=" and ".join(bounds),
            found=f"{number:g}",
            ok=(asked.at_least is None or number >= asked.at_least)
            and (asked.at_most is None or number <= asked.at_most),
        )

    async def _found(self, readback: Readback, components: Iterable[str]) -> list[tuple[str, str]]:
        """Give what is found, and in which component; one empty line when it is found nowhere."""
        there = self._named(components)
        if readback.source == COMMAND:
            return [("", await self._printed([self._filled(str(word)) for word in readback.what]))]
        if readback.source == FILE:
            return [("", _digest(self._moved(self._root / self._filled(str(readback.what)))))]
        if readback.source == LOG:
            last = ""
            for match in self._matches(str(readback.what), there):
                last = (match[1] if match.re.groups else "true") or ""
            return [(", ".join(filter(None, there)), last or ("" if _has_group(readback) else "false"))]
        asked = {name: _looked_up(readback, each) for name, each in there.items()}
        found = [(name, value) for name, value in asked.items() if value]
        if components and not found:
            return [(name, "") for name in components]
        return found or [("", "")]

    def _named(self, components: Iterable[str]) -> dict[str, Component]:
        named = [name for name in components if name]
        everything = self._sighting.components
        return {name: everything[name] for name in named or everything if name in everything}

    def _matches(self, regex: str, there: Mapping[str, Component]) -> Iterator[re.Match[str]]:
        pattern = re.compile(regex)
        for each in there.values():
            if each.log:
                for line in _lines(Path(each.log), each.log_from):
                    if match := pattern.search(line):
                        yield match

    async def _printed(self, argv: list[str]) -> str:
        """Give what a command prints; nothing when it fails."""
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            cwd=folder if (folder := self._moved(self._root)).is_dir() else self._root,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(_PATIENCE):
                output, _ = await process.communicate()
        except TimeoutError:
            return ""
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
        return output.decode("utf-8", "replace").strip() if process.returncode == 0 else ""

    def _filled(self, text: str) -> str:
        return self._place.fill(text) if self._place else text

    def _moved(self, path: Path) -> Path:
        """Give the path within the code that the arm runs, if it lies in the repository."""
        return Path(self._place.moved(os.path.realpath(path))) if self._place else path


def _looked_up(readback: Readback, component: Component) -> str:
    what = str(readback.what)
    if readback.source == SERVER_INFO:
        return find_key(component.info, what)
    if component.pid is None:
        return ""
    if readback.source == ENVIRON:
        return component.env.get(what, NOT_SET) if component.env else ""
    assert readback.source == CMDLINE
    return flag_in(component.argv, what) if component.argv else ""


def _has_group(readback: Readback) -> bool:
    return re.compile(str(readback.what)).groups > 0


def _lines(path: Path, begin: int) -> Iterator[str]:
    try:
        with path.open("rb") as file:
            file.seek(begin)
            data = file.read(_LOG_CAP)
    except OSError:
        return
    for line in data.split(b"\n"):
        yield line.decode("utf-8", "replace")


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
