"""A real terminal: the live picture at 80x24, Ctrl-C in the middle, and going on."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pexpect
import pytest

from tests.conftest import EXAMPLES, ROOT

Terminal = Callable[..., "pexpect.spawn[str]"]
COMMAND = f"{EXAMPLES}/flaky.sh 0.3"
SAME = ("ab", "--control", COMMAND, "--treatment", COMMAND, "--predict", "0.3:0.1", "--seed", "1")
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    def start(*arguments: str, **environment: str) -> pexpect.spawn[str]:
        return pexpect.spawn(
            sys.executable,
            ["-m", "workbench", *arguments],
            cwd=str(tmp_path),
            env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", **environment},
            dimensions=(24, 80),
            encoding="utf-8",
            timeout=60,
        )

    return start


def test_the_picture_shows_arms_evidence_and_how_to_stop(terminal: Terminal) -> None:
    seen = terminal(*SAME)
    seen.expect(r"block 1 of at most 60")
    seen.expect(r"control +\[[.=#]{30}\] [0-9]+/[0-9]+")
    seen.expect(r"evidence [0-9.,e+]+ against `no effect`")
    seen.expect("Ctrl-C stops and keeps everything")
    seen.expect(pexpect.EOF)
    seen.close()
    assert seen.exitstatus == 0


def test_no_colour_says_the_same_in_words(terminal: Terminal) -> None:
    seen = terminal(
        *SAME,
        NO_COLOR="1",
    )
    seen.expect(pexpect.EOF)
    said = str(seen.before)
    assert "\x1b[33m" not in said
    assert "falsified" in ESCAPES.sub("", said)


def test_ctrl_c_keeps_everything_and_the_run_goes_on(terminal: Terminal) -> None:
    seen = terminal(
        *SAME,
        *("-o", "run"),
    )
    seen.expect(r"block 2 of at most 60")
    seen.sendintr()
    seen.expect("everything that had finished is saved")
    seen.expect("go on with --resume run")
    seen.expect(pexpect.EOF)
    seen.close()
    assert seen.exitstatus == 130
    again = terminal("ab", "--resume", "run")
    again.expect("falsified")
    again.expect(pexpect.EOF)
    again.close()
    assert again.exitstatus == 0


def test_hostile_output_is_shown_and_never_sent(terminal: Terminal) -> None:
    hostile = "printf '\\033]0;owned\\007\\033[2J[bold]x[/bold]\\342\\200\\256 end\\n'; exit 1"
    seen = terminal("measure", "--seed", "1", "--", "sh", "-c", hostile)
    seen.expect(pexpect.EOF)
    said = str(seen.before)
    assert "\x1b]0;owned" not in said
    assert "\x1b[2J" not in said
    assert "\u202e" not in said
    assert "\\x1b]N;owned\\x07\\x1b[NJ[bold]x[/bold]\\u202e end" in said.replace("\r\n", "")
