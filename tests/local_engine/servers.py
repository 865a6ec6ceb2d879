"""The three servers of a commit, started the way that a user starts them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def serve(worktree: Path, *flags: str, env: Mapping[str, str] | None = None) -> Iterator[str]:
    """Start a worktree's engine, give its URL, and end it."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(worktree),
        "PYTHONDONTWRITEBYTECODE": "1",
        **(env or {}),
    }
    log = worktree.with_suffix(".log")
    with (
        log.open("wb") as stderr,
        subprocess.Popen(
            [sys.executable, "-P", "-m", "minisgl.launch", "--port", "0", *flags],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        ) as launcher,
    ):
        assert launcher.stdout is not None
        url = launcher.stdout.readline().strip()
        try:
            if not url:
                raise AssertionError(log.read_text(errors="replace"))
            yield url
        finally:
            launcher.terminate()
