"""Which code a process is running: commit, uncommitted changes, and a digest of every source file.

Read when the process starts. Files that change later are not what it runs.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent


@dataclass(frozen=True, kw_only=True, slots=True)
class Provenance:
    """What runs, and since when.

    Attributes:
        commit: Id of the commit that is checked out; None outside of a repository.
        dirty: Whether a tracked file of the engine differs from it, or an untracked one is there.
        files: sha256 of every source file, by its path in the package.
        pid: The process.
        started: When it read all this, seconds since 1970.
    """

    commit: str | None
    dirty: bool | None
    files: dict[str, str]
    pid: int
    started: float

    def json(self) -> dict[str, object]:
        """Give it for `/server_info`."""
        return {
            "code": {
                "commit": self.commit,
                "dirty": self.dirty,
                "package": __package__,
                "root": str(ROOT),
                "files": self.files,
            },
            "process": {
                "pid": self.pid,
                "started": self.started,
                "argv": sys.orig_argv,
                "python": sys.version.split()[0],
            },
        }


def read(root: Path = ROOT) -> Provenance:
    """Look at the tree of sources that this process was loaded from."""
    commit, dirty = _git(root)
    files = _digests(root)
    return Provenance(commit=commit, dirty=dirty, files=files, pid=os.getpid(), started=time.time())


def _digests(root: Path) -> dict[str, str]:
    files = (path for path in root.rglob("*") if path.suffix in {".py", ".txt", ".json"})
    return {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(files)
    }


def _git(root: Path) -> tuple[str | None, bool | None]:
    """Ask git once for both. An ignored package, as in a venv inside a repository, has no commit."""
    command = ["git", "--no-optional-locks", "status", "--porcelain=v2", "--branch", "--ignored", "."]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None, None
    lines = done.stdout.splitlines()
    commits = [line.split()[2] for line in lines if line.startswith("# branch.oid ")]
    changes = [line for line in lines if line[:1] not in "#!" and "__pycache__" not in line]
    ignored = any(line.startswith(("! ./", "! ../")) for line in lines)
    if ignored or not commits or commits[0] == "(initial)":
        return None, None
    return commits[0], bool(changes)
