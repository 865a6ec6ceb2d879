"""A real terminal: tmux, with keys sent as a keyboard sends them, and the screen as it is seen."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conftest import ROOT

_PATIENCE = 60.0  # seconds until what has not come is not awaited any more
_PAUSE = 0.03


class Terminal:
    """A tmux server of its own with one window.

    Args:
        folder: Where its socket is, and where the shell starts.
        term: What the programs in it are told of the terminal's colours.
    """

    def __init__(self, folder: Path, term: str) -> None:
        self._socket = folder / "tmux"
        self._environment = {
            **{name: value for name, value in os.environ.items() if name != "COLORTERM"},
            "PYTHONPATH": str(ROOT),
            "PS1": "$ ",
        }
        settings = folder / "tmux.conf"
        settings.write_text(
            f"set -g default-terminal {term}\nset -g set-clipboard on\nset -g status off\n"
            f"set -g default-command {shlex.quote('bash --norc -i')}\nset -g escape-time 0\n"
        )
        self._ask("-f", str(settings), "new-session", "-d", "-x80", "-y24", "-c", str(folder))

    def _ask(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", str(self._socket), *words],
            env=self._environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def close(self) -> None:
        """End the window and what runs in it."""
        self._ask("kill-server")

    def press(self, *keys: str) -> None:
        """Press keys, by tmux's names of them."""
        self._ask("send-keys", *keys)

    def type(self, text: str) -> None:
        """Send text, or bytes that a terminal sends for a mouse, as they are."""
        self._ask("send-keys", "-l", text)

    def screen(self, *, coloured: bool = False) -> str:
        """Give what is on the screen."""
        return self._ask("capture-pane", "-p", *(["-e"] if coloured else []))

    def clipboard(self) -> str:
        """Give what was copied last; empty before anything was."""
        return self._ask("show-buffer") if self._ask("list-buffers") else ""

    def pid(self) -> int:
        """Give the process that the shell in the window is."""
        return int(self._ask("display-message", "-p", "#{pane_pid}"))

    def until(self, holds: Callable[[str], bool], seconds: float = _PATIENCE) -> str:
        """Wait until the screen is as it should be, so long at most; give it."""
        end = time.monotonic() + seconds
        while not holds(screen := self.screen()):
            if time.monotonic() > end:
                raise AssertionError(f"it never came:\n{screen}")
            time.sleep(_PAUSE)
        return screen

    def shows(self, text: str) -> str:
        """Wait until a text is on the screen."""
        return self.until(lambda screen: text in screen)


@contextmanager
def terminal(folder: Path, term: str = "screen-256color") -> Iterator[Terminal]:
    """Open a terminal; close it with all that runs in it."""
    found = Terminal(folder, term)
    try:
        yield found
    finally:
        found.close()


def interface(root: Path) -> str:
    """Give the command line that opens the interface of a campaign."""
    words = (sys.executable, "-m", "workbench", "tui", "--by", "ana")
    return f"cd {shlex.quote(str(root))} && {shlex.join(words)}"
