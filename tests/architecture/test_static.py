"""The rules of the house, checked by their own tools: style, types, floors, sizes."""

from __future__ import annotations

import ast
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

SOURCES = sorted((ROOT / "workbench").rglob("*.py"))
LONGEST_MODULE = 500
LONGEST_FUNCTION = 60


def tool(*command: str) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def script(name: str) -> str:
    return str(Path(sysconfig.get_path("scripts")) / name)


def test_style() -> None:
    tool(sys.executable, "-m", "ruff", "check", ".")


def test_format() -> None:
    tool(sys.executable, "-m", "ruff", "format", "--check", ".")


def test_types() -> None:
    tool(sys.executable, "-m", "mypy")


def test_floors() -> None:
    tool(script("lint-imports"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_sizes(path: Path) -> None:
    text = path.read_text()
    assert text.count("\n") <= LONGEST_MODULE
    long = {
        node.name: node.end_lineno - node.lineno + 1
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno
    }
    assert {name: size for name, size in long.items() if size > LONGEST_FUNCTION} == {}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_module_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text()))


def tracked() -> Iterator[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return (ROOT / name for name in listed.stdout.split("\0") if name)


def test_no_file_knows_the_machine_that_it_was_written_on() -> None:
    homes = {str(Path.home()) + "/", str(ROOT.parent) + "/"} - {"/", "//"}
    for path in tracked():
        text = path.read_text(errors="replace") if path.is_file() else ""
        assert not any(home in text for home in homes), path
