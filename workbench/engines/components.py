"""What is to be started, as a campaign states it: components, and the placeholders in their words.

    {port}         a free port of this machine, drawn for this component at each start
    {port:NAME}    that of another component, or of one of `ports`
    {python}       the interpreter that runs the workbench
    {checkout}     the folder of the code that the arm is run from

They are filled in arguments, in values of the environment, and in URLs. Any other braces stay as they
are. On record stands the template, so that two starts of the same thing look the same.
"""

from __future__ import annotations

import re
import socket
import sys
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

import msgspec

from workbench.errors import nearest
from workbench.ports import Place

LOOPBACK = "127.0.0.1"
_PLACEHOLDER = re.compile(r"\{(?:(python)|port(?::([^{}\s]*))?)\}")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")


class ComponentOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One of `components`. A struct, since a dataclass would leave out a misspelt field in silence.

    Attributes:
        argv: Its command line, word by word; no shell ever sees it.
        env: Variables laid over ours; null takes one out.
        cwd: Folder in which it runs, from the engine's; empty for that.
        url: Where it answers; empty for its `{port}` on this machine, if it has one.
        health: Path that answers 200 once it is ready; empty to ask as the dialect does.
        log: Path of the log that it writes itself, from the engine's folder; empty if it logs to
            stdout or stderr, which are kept anyway.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str | None] = msgspec.field(default_factory=dict)
    cwd: str = ""
    url: str = ""
    health: str = ""
    log: str = ""

    def __post_init__(self) -> None:
        if not self.argv or not self.argv[0]:
            raise ValueError("argv is empty; it must name a command")
        texts = (*self.argv, *self.env, *(value or "" for value in self.env.values()))
        if any("\0" in text for text in texts):
            raise ValueError("argv or env holds a NUL byte")
        if any(not name or "=" in name for name in self.env):
            raise ValueError("a name in env is empty or holds '='")
        if self.health and not self.health.startswith("/"):
            raise ValueError(f"health is a path such as /health, not {self.health!r}")
        if self.url and not self.url.startswith(("http://", "https://")):
            raise ValueError(f"url must begin with http:// or https://, not {self.url!r}")

    @property
    def words(self) -> Iterable[str]:
        """All texts that may hold placeholders."""
        return (*self.argv, *(value for value in self.env.values() if value), self.url)


@dataclass(frozen=True, kw_only=True)
class ProcessEngineOptions:
    """Options of the engine.

    Attributes:
        components: What is started, by name, in this order.
        client: Component that clients talk to; empty for the last one.
        url: Where clients find it; empty for where that component answers.
        ports: Names of further ports to draw, for `{port:NAME}`.
        ready_timeout: Seconds from a start until all components must be ready.
        stop_timeout: Seconds from SIGTERM to SIGKILL.
        cwd: Folder that relative paths are from; None for the current one.
        files: Patterns of files that the processes run, such as `src/**/*.py`.
        logs: Folder for the components' output; empty for `.workbench/logs/engine`.
        lease: What only one run may have at a time; empty for these components in this folder.
        api_key_env: Name of the environment variable that holds the key of the servers; empty for none.
            The dialect has this option too.
    """

    components: Mapping[str, ComponentOptions]
    client: str = ""
    url: str = ""
    ports: tuple[str, ...] = ()
    ready_timeout: float = 120.0
    stop_timeout: float = 10.0
    cwd: str | None = None
    files: tuple[str, ...] = ()
    logs: str = ""
    lease: str = ""
    api_key_env: str = ""

    def __post_init__(self) -> None:
        if not self.components:
            raise ValueError("components is empty; name at least one process to start")
        check_names(self.components, self.ports, self.url)
        if self.client and self.client not in self.components:
            raise ValueError(f"client: there is no component {self.client!r}")
        if not (self.ready_timeout > 0 and self.stop_timeout > 0):
            raise ValueError("ready_timeout and stop_timeout must be positive")
        if "\0" in self.lease:
            raise ValueError("lease holds a NUL byte")
        if not self.address(self.talks):
            raise ValueError(
                f"nobody says where clients find {self.talks!r}; write {{port}} where its command line"
                " has its port, or give its url"
            )

    @property
    def talks(self) -> str:
        """Name of the component that clients talk to."""
        return self.client or list(self.components)[-1]

    def address(self, name: str) -> str:
        """Give the template of the URL at which a component answers; empty if nobody says."""
        used = {
            port or each
            for each, options in self.components.items()
            for port in _ports_of(options.words)
        }
        if self.components[name].url:
            return self.components[name].url
        if name in used:
            return f"http://{LOOPBACK}:{{port:{name}}}"
        return self.url if name == self.talks else ""


def check_names(components: Mapping[str, ComponentOptions], ports: Iterable[str], url: str) -> None:
    """Check names, and that each port that is used is one.

    Raises:
        ValueError: A name cannot be one, or a placeholder names nothing that there is.
    """
    for name in (*components, *ports):
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} cannot be a name: letters, digits, '_', '-' and '.' can")
    known = (*components, *ports)
    words = [(name, options.words) for name, options in components.items()]
    for where, texts in [*words, ("url", (url,))]:
        for other in _ports_of(texts):
            if other and other not in known:
                hint = f"{nearest(other, known)}, or add it to `ports`"
                raise ValueError(f"{where}: there is no port {other!r}; {hint}")


def fill(text: str, component: str, ports: Mapping[str, int], place: Place | None = None) -> str:
    """Fill the placeholders of a text of this component; what is not known stays as it is."""

    def value(found: re.Match[str]) -> str:
        if found[1]:
            return sys.executable
        number = ports.get(found[2] or component)
        return found[0] if number is None else str(number)

    filled = _PLACEHOLDER.sub(value, text)
    return place.fill(filled) if place else filled


def draw_ports(names: Iterable[str]) -> dict[str, int]:
    """Draw a free port of this machine for each name; all at once, so that no two are the same."""
    with ExitStack() as held:
        drawn = {}
        for name in names:
            holder = held.enter_context(socket.socket())
            holder.bind((LOOPBACK, 0))
            drawn[name] = int(holder.getsockname()[1])
        return drawn


def _ports_of(texts: Iterable[str]) -> set[str]:
    """Give the names of the ports that texts use; the own one is empty."""
    found = (each for text in texts for each in _PLACEHOLDER.finditer(text))
    return {each[2] or "" for each in found if not each[1]}
