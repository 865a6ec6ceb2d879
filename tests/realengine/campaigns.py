"""What `docs/llamacpp.md` says, done: its commands run, its snippets put where it says."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import psutil

from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "llamacpp.md").read_text(encoding="utf-8")
ENVIRONMENT = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def section(title: str) -> str:
    """Give a section of the page."""
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    assert found, title
    return found[1]


def commands(title: str) -> list[list[str]]:
    """Give the commands of a section, word by word."""
    text = section(title).replace("\\\n", " ")
    return [
        shlex.split(line) for line in re.findall(r"^    ((?:pip|workbench|cd|python) .*)$", text, re.M)
    ]


def snippet(title: str, language: str) -> str:
    """Give the code of a section."""
    found = re.search(rf"^```{language}\n(.*?)^```", section(title), re.DOTALL | re.MULTILINE)
    assert found, (title, language)
    return found[1]


def follow(words: list[str], home: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of the page in a folder."""
    return subprocess.run(
        words, cwd=home, env=ENVIRONMENT, capture_output=True, text=True, timeout=120, check=False
    )


def add(home: Path, lines: str) -> None:
    """Add what a snippet has under each of its top keys to the same key of `campaign.yaml`."""
    path = home / "campaign.yaml"
    text = path.read_text()
    for key, more in re.findall(r"^(\w+:\n)((?: .*\n)+)", lines, re.MULTILINE):
        assert text.count(f"\n{key}") == 1
        text = text.replace(f"\n{key}", f"\n{key}{more}")
    path.write_text(text)


def servers_in(home: Path) -> list[psutil.Process]:
    """Find the servers that run in a campaign's folder, whoever has started them."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.cmdline()[1:2] == ["serve.py"] and Path(process.cwd()) == home:
                found.append(process)
        except psutil.Error:
            continue
    return found
