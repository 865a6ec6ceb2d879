"""Whole conversations with the command line, held against golden files.

A file in `transcripts/` is a conversation in a folder that holds `flaky.sh` alone: `$` begins a
command, `?` its exit code, `!` a line of stderr, anything else a line of stdout. Run ids and times are
replaced, since they differ from run to run; all else is fixed by seeds. After a change that is meant,
`UPDATE_TRANSCRIPTS=1 pytest tests/cli` writes the files anew, and the diff is to be read.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import EXAMPLES, Workbench

TRANSCRIPTS = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))
VARYING = [
    (re.compile(r"[0-9]{8}T[0-9]{6}Z-[a-z2-7]{8}"), "RUN"),
    (re.compile(r"\b[0-9.]+ (ms|s)\b|\b[0-9]+ min( [0-9]+ s)?"), "TIME"),
    (re.compile(r'"((trial_|start_|worst_)?seconds)": [0-9.e-]+'), r'"\1": TIME'),
]


def said(done: subprocess.CompletedProcess[str], home: Path) -> str:
    """Write what a command said, with what varies replaced."""
    lines = [*done.stdout.splitlines(), *(f"! {line}".rstrip() for line in done.stderr.splitlines())]
    text = "\n".join([*lines, f"? {done.returncode}"]).replace(str(home), "HOME")
    for pattern, name in VARYING:
        text = pattern.sub(name, text)
    return text


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_transcript(path: Path, workbench: Workbench, tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "flaky.sh", tmp_path)
    golden = path.read_text()
    replayed = []
    for line in golden.splitlines():
        if line.startswith("#"):
            replayed.append(line)
        elif line.startswith("$ "):
            program, *arguments = shlex.split(line[2:])
            if program == "workbench":
                done = workbench(*arguments)
            else:
                done = subprocess.run(
                    line[2:], shell=True, cwd=tmp_path, capture_output=True, text=True, check=False
                )
            replayed.append(f"{line}\n{said(done, tmp_path)}\n")
    now = "\n".join(replayed).rstrip() + "\n"
    if os.environ.get("UPDATE_TRANSCRIPTS"):
        path.write_text(now)
    assert now == golden
