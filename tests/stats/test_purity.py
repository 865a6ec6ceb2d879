"""The floor: what the statistics may import, how long they may get, and that their example is true."""

from __future__ import annotations

import ast
import doctest
from pathlib import Path

import pytest

import workbench.stats
import workbench.stats.abtest

MODULES = sorted(Path(workbench.stats.__file__).parent.glob("*.py"))
ALLOWED = (
    "__future__",
    "collections.abc",
    "dataclasses",
    "functools",
    "hashlib",
    "math",
    "operator",
    "typing",
    "numpy",
    "numpy.typing",
    "scipy.special",
    "workbench.model",
    "workbench.errors",
    "workbench.stats",
)


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_only_numbers_come_in(module: Path) -> None:
    names = []
    tree = ast.parse(module.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
        elif isinstance(node, ast.Attribute):
            assert node.attr != "random", "no global source of chance"
    packages = ("workbench.model", "workbench.stats")
    assert [
        n for n in names if n not in ALLOWED and not n.startswith(tuple(p + "." for p in packages))
    ] == []
    assert len(module.read_text(encoding="utf-8").splitlines()) <= 280


def test_functions_stay_short() -> None:
    for module in MODULES:
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                assert (node.end_lineno or 0) - node.lineno < 60, f"{module.stem}.{node.name}"


def test_the_example_is_true() -> None:
    failed, tried = doctest.testmod(workbench.stats.abtest)
    assert tried >= 5
    assert failed == 0
