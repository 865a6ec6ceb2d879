"""Whole conversations with the command line, held against golden files.

A file in `transcripts/` is a conversation of one Ana in a folder that holds `flaky.sh` alone: `$`
begins a command, `?` its exit code, `!` a line of stderr, anything else a line of stdout. Ids and times
are replaced, since they differ from run to run; all else is fixed by seeds. After a change that is
meant, `UPDATE_TRANSCRIPTS=1 pytest tests/cli` writes the files anew, and the diff is to be read.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests.conftest import EXAMPLES, Workbench
from workbench.store.eventlog import EventLog

TRANSCRIPTS = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))
EVENT_LETTERS = 8  # of an event that is neither evidence nor a note
SCRIPTS = sysconfig.get_path("scripts")
ANA = {"WORKBENCH_ACTOR": "ana", "COLUMNS": "100"}
VARYING = [
    (re.compile(r"[0-9]{8}T[0-9]{6}Z-[a-z2-7]{1,8}"), "RUN"),
    (re.compile(r"\b[0-9.]+ (ms|s)\b|\b[0-9]+ min( [0-9]+ s)?"), "TIME"),
    (re.compile(r'"((trial_|start_|worst_|most_)?seconds)": [0-9.e-]+'), r'"\1": TIME'),
    (re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}[0-9:.]*(Z|\+00:00)"), "MOMENT"),
    (re.compile(r"\b([EN])-[a-z2-7]{4}\b"), r"\1-xxxx"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "SHA256"),
    (re.compile(r"\b[0-9a-f]{40}\b"), "COMMIT"),
    (re.compile(r"(?<![.\w])[0-9a-f]{12}(?!\w|\.[0-9])"), "COMMIT"),
]


def said(done: subprocess.CompletedProcess[str], home: Path) -> str:
    """Write what a command said, with what varies replaced."""
    lines = [*done.stdout.splitlines(), *(f"! {line}".rstrip() for line in done.stderr.splitlines())]
    text = "\n".join([*lines, f"? {done.returncode}"]).replace(str(home), "HOME")
    for event in EventLog(home).read().events:
        text = text.replace(event.id, "EVENT") if len(event.id) == EVENT_LETTERS else text
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
                done = workbench(*arguments, env=ANA)
            else:
                done = subprocess.run(
                    line[2:],
                    shell=True,
                    cwd=tmp_path,
                    env={**os.environ, "PATH": f"{SCRIPTS}:{os.environ['PATH']}", **ANA},
                    capture_output=True,
                    text=True,
                    check=False,
                )
            replayed.append(f"{line}\n{said(done, tmp_path)}\n")
    now = "\n".join(replayed).rstrip() + "\n"
    if os.environ.get("UPDATE_TRANSCRIPTS"):
        path.write_text(now)
    assert now == golden
