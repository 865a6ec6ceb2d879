"""Which code runs: a clean commit, an edited one, and none at all."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest

from workbench.local_engine import provenance


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=otter", "-c", "user.email=otter@minisgl.example"]
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package in a repository of its own, committed."""
    folder = tmp_path / "minisgl"
    folder.mkdir()
    (folder / "launch.py").write_text("pass\n")
    (tmp_path / "README.md").write_text("hello\n")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "one")
    return folder


def test_a_clean_commit(package: Path) -> None:
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "launch.pyc").write_text("")
    (package.parent / "README.md").write_text("not of the engine\n")
    seen = provenance.read(package)
    assert (seen.commit, seen.dirty) == (git(package, "rev-parse", "HEAD"), False)
    assert seen.files == {"launch.py": hashlib.sha256(b"pass\n").hexdigest()}


@pytest.mark.parametrize("name", ["launch.py", "new.py"])
def test_an_edited_or_an_added_file_is_dirty(package: Path, name: str) -> None:
    (package / name).write_text("import os\n")
    assert provenance.read(package).dirty is True


def test_a_worktree_tells_its_own_commit(package: Path, tmp_path: Path) -> None:
    first = git(package, "rev-parse", "HEAD")
    git(package, "commit", "--quiet", "--allow-empty", "--message", "two")
    git(package, "worktree", "add", str(tmp_path / "old"), first)
    assert provenance.read(tmp_path / "old" / "minisgl").commit == first


def test_outside_of_a_repository_there_is_no_commit(tmp_path: Path) -> None:
    (tmp_path / "launch.py").write_text("")
    seen = provenance.read(tmp_path)
    assert (seen.commit, seen.dirty) == (None, None)


def test_a_repository_that_ignores_the_package_says_nothing_about_it(package: Path) -> None:
    (package.parent / ".gitignore").write_text(".venv\n")
    installed = package.parent / ".venv" / "lib" / "minisgl"
    installed.mkdir(parents=True)
    (installed / "launch.py").write_text("")
    seen = provenance.read(installed)
    assert (seen.commit, seen.dirty) == (None, None)


def test_a_repository_without_commits(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    assert provenance.read(tmp_path).commit is None
