"""Who appends: named on the command line, by the environment, or by git; never left out."""

from __future__ import annotations

import getpass
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from workbench.errors import UsageError
from workbench.model.event import Actor

VARIABLE = "WORKBENCH_ACTOR"
_NAME = re.compile(r"[^\s:\x00-\x1f\x7f](?:[^:\x00-\x1f\x7f]{0,62}[^\s:\x00-\x1f\x7f])?")
_PATIENCE = 5.0  # seconds for git to say a name


def actor(given: str | None, folder: Path, environ: Mapping[str, str] = os.environ) -> Actor:
    """Say who acts.

    Args:
        given: `NAME` or `NAME:agent`, as on the command line; None to look elsewhere.
        folder: Where git is asked for its user.
        environ: Where the variable is looked up.

    Raises:
        UsageError: The name is none.
    """
    text = given or environ.get(VARIABLE)
    if text:
        return _parse(text)
    return Actor(name=_git_user(folder) or _login())


def _parse(text: str) -> Actor:
    name, colon, kind = text.partition(":")
    if not _NAME.fullmatch(name) or (colon and kind != "agent"):
        raise UsageError(f"{text!r} is no actor", hint="write NAME, or NAME:agent for a program")
    return Actor(name=name, agent=bool(colon))


def _git_user(folder: Path) -> str:
    try:
        asked = subprocess.run(
            ["git", "config", "--get", "user.name"],
            cwd=folder,
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):  # without git there is still a login
        return ""
    name = asked.stdout.decode("utf-8", "replace").strip()
    return name if _NAME.fullmatch(name) else ""


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container may run under a user id that has no name
        return f"uid {os.getuid()}"
