"""git as a subprocess: argument lists, a time limit, and nobody's settings."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

_TIMEOUT = 60.0


class GitError(RuntimeError):
    """git is missing, too slow, or refused."""


def git(folder: Path, *arguments: str, stdin: bytes | None = None) -> str:
    """Run git in a folder and give what it prints.

    Raises:
        GitError: With the last line of what git said.
    """
    command = ["git", "-C", str(folder), "-c", "core.quotepath=false", *arguments]
    try:
        done = subprocess.run(
            command, input=stdin, capture_output=True, env=environment(), timeout=_TIMEOUT, check=False
        )
    except FileNotFoundError:
        raise GitError("git is not installed") from None
    except subprocess.TimeoutExpired:
        raise GitError(f"git {arguments[0]} took more than {_TIMEOUT:.0f} s") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["no word of why"]
        raise GitError(f"git {arguments[0]}: {said[-1]}")
    return done.stdout.decode(errors="replace")


def environment() -> dict[str, str]:
    """Give the environment for git: no configuration but the repository's, no repository but ours."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0"}
    return {**kept, **alone, "LC_ALL": "C"}
