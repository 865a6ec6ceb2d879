"""A disk that is really full, by a limit on the size of files: one clear error, whole lines before."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.store.examples import manifest
from workbench.model.run import RunState
from workbench.store import RunFolder, RunView

ROOT = Path(__file__).parents[2]


def limit_file_size() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # else the kernel kills instead of refusing
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))


@pytest.mark.parametrize("size", [700, 60_000, 300_000])
def test_the_run_ends_as_storage_error_with_every_line_whole(tmp_path: Path, size: int) -> None:
    with RunFolder.create(tmp_path, manifest()) as folder:
        path = folder.path
    argv = [sys.executable, "-m", "tests.store.writer", str(path), "0", "100000", str(size)]
    done = subprocess.run(  # the limit must hold for the child alone
        argv, cwd=ROOT, capture_output=True, preexec_fn=limit_file_size, check=False
    )
    assert done.returncode == 2, done.stderr.decode()
    lines = done.stdout.decode().splitlines()
    acknowledged = [int(line) for line in lines if line.isdigit()]
    assert "full: " in lines[-1]
    assert "File too large" in lines[-1] or "the disk took" in lines[-1]

    view = RunView.read(path)
    assert view.manifest.state is RunState.STORAGE_ERROR
    assert not view.damage()
    assert [found.exchange.key.session.session for found in view.samples()] == acknowledged
    assert view.altered() == ()
    assert not list(path.glob(".*.tmp"))
    assert (path / "samples-w0.jsonl").stat().st_size <= 20_000
