"""Real repositories for tests, made by the real git, the same on every machine."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_NAME": "Ana" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "ana@example.org" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_DATE": "2026-11-29T12:00:00Z" for who in ("AUTHOR", "COMMITTER")},
}
HOSTILE = "-rf\n--upload-pack=x $(touch pwned) `id`.py"  # a name that a file may have


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


class Tree:
    """A repository with a work tree.

    Args:
        path: Where it is made; a worktree or a clone that is there already is taken as it is.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.exists():
            path.mkdir(parents=True)
            git(path, "init", "-q", "-b", "main")

    def write(self, name: str, text: str) -> Path:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def commit(self, message: str = "a change", **files: str) -> str:
        """Commit files, by names in which `__` stands for a dot; give the commit's id."""
        for name, text in files.items():
            self.write(name.replace("__", "."), text)
        git(self.path, "add", "-A")
        git(self.path, "commit", "-q", "--allow-empty", "-m", message)
        return git(self.path, "rev-parse", "HEAD")

    def tag(self, name: str, revision: str = "HEAD") -> None:
        """Name a commit, also if the name was another's."""
        git(self.path, "tag", "-f", name, revision)

    def patch(self, name: str, text: str) -> bytes:
        """Give the patch that makes a file say something else; the tree stays as it is."""
        file = self.path / name
        before = file.read_text()
        file.write_text(text)
        try:
            return git(self.path, "diff", "--", name).encode() + b"\n"
        finally:
            file.write_text(before)
