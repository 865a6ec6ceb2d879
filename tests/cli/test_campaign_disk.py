"""Every kind of write to a campaign on a full disk: old files whole, one clear message, exit not 0."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.campaigns import begin, succeeded
from tests.conftest import ROOT, Workbench

FULL = {
    "note": ("note", "no room for this"),
    "evidence": ("evidence", "H1", "--for", "-m", "no room for this"),
    "ruling": ("rule", "H1", "--role", "cause", "--because", "no room for this"),
    "new": ("new", "No room for this"),
    "renumber": ("renumber", "H1", "hypotheses/H01-the-cache-hands-out-stale-values.yaml"),
    "ledger": ("export", "-o", "LEDGER.md"),
    "run": ("test", "H2", "--display", "none"),
    "background": ("test", "H2", "--detach"),
    "campaign": ("init", "another"),
}
LIMITED = 'ulimit -f 0; exec "$@"'


def digests(home: Path) -> dict[str, str]:
    """Digest every file of a campaign but locks and caches."""
    return {
        str(path.relative_to(home)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(home.rglob("*"))
        if path.is_file() and ".workbench" not in path.parts and path.name != "owner.lock"
    }


@pytest.mark.parametrize("kind", FULL)
def test_a_full_disk_is_told_and_costs_nothing_old(
    workbench: Workbench, tmp_path: Path, kind: str
) -> None:
    home = begin(workbench, tmp_path / "c")
    succeeded(workbench("test", "H1", "--seed", "7", "--display", "none", cwd=home))
    arms = ("--control", "retry=off", "--treatment", "retry=on", "--predict", "0.3:0.1")
    succeeded(workbench("new", "Another", *arms, cwd=home))
    succeeded(workbench("export", "-o", "LEDGER.md", cwd=home))
    succeeded(workbench("note", "the ledger is stale from here on", cwd=home))
    before = digests(home)
    done = subprocess.run(
        ["bash", "-c", LIMITED, "bash", sys.executable, "-m", "workbench", *FULL[kind]],
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 2  # what happened, and what to do
    now = digests(home)
    assert {name: now.get(name) for name in before} == before
    succeeded(workbench("verify", cwd=home))
