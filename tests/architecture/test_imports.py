"""What a command loads, seen in a fresh interpreter: light commands stay light."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

HEAVY = {"textual", "pandas", "httpx", "aiohttp", "git", "numpy", "scipy", "pydantic", "rich"}

PROBE = """
import json, sys
from workbench.cli import main
try:
    main({arguments!r})
except SystemExit:
    pass
print(json.dumps(sorted(set(name.partition(".")[0] for name in sys.modules))), file=sys.stderr)
print(json.dumps([name for name in sys.modules if name.startswith("workbench")]), file=sys.stderr)
"""


def loaded(*arguments: str, cwd: Path = ROOT) -> tuple[set[str], set[str]]:
    """Give the packages, and the modules of the workbench, that a command has loaded."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE.format(arguments=list(arguments))],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    *_, packages, ours = done.stderr.splitlines()
    return set(json.loads(packages)), set(json.loads(ours))


@pytest.mark.parametrize(
    "arguments", [("--help",), ("ab", "--help"), ("--version",), ("explain", "held")]
)
def test_light_commands_load_nothing_heavy(arguments: tuple[str, ...]) -> None:
    packages, _ = loaded(*arguments)
    assert packages & HEAVY == set()


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign with a verdict, its caches warm."""
    home = tmp_path_factory.mktemp("campaign")
    for command in (["init"], ["test", "H1", "--seed", "7", "--display", "none"], ["list"]):
        subprocess.run(
            [sys.executable, "-m", "workbench", *command],
            cwd=home,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            check=True,
            capture_output=True,
        )
    return home


@pytest.mark.parametrize(
    "arguments",
    [
        *(("status",), ("list",), ("tree",), ("show", "H1"), ("runs",), ("log",), ("export",)),
        *(("list", "--json"), ("note", "hm"), ("evidence", "H1", "--for", "-m", "seen")),
    ],
    ids=" ".join,
)
def test_who_only_looks_or_writes_down_loads_nothing_heavy(
    campaign: Path, arguments: tuple[str, ...]
) -> None:
    packages, ours = loaded(*arguments, cwd=campaign)
    assert packages & {*HEAVY, "yaml", "asyncio"} == set()
    assert {name for name in ours if name.startswith(("workbench.conduct", "workbench.stats"))} == set()


def test_help_loads_no_more_of_the_workbench_than_its_command_line() -> None:
    packages, ours = loaded("--help")
    assert ours == {"workbench", "workbench._version", "workbench.cli"}
    assert "importlib.metadata" not in packages | ours


def test_the_package_itself_loads_nothing() -> None:
    probe = "import sys, workbench; print('numpy' in sys.modules or 'click' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


def test_the_http_package_itself_loads_no_client() -> None:
    probe = "import sys, workbench.http; print({'httpx', 'aiohttp', 'asyncio'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"


def test_what_a_campaign_is_shown_with_loads_no_numbers_library() -> None:
    names = ("ledger", "log", "registry", "show", "status", "tree")
    modules = ", ".join(f"workbench.report.{name}" for name in names)
    probe = f"import sys, {modules}; print(sorted(name.partition('.')[0] for name in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded_ = set(ast.literal_eval(done.stdout))
    assert "workbench" in loaded_
    assert loaded_ & {*HEAVY, "msgspec", "click", "yaml"} == set()


def test_git_is_loaded_only_where_commits_are_looked_up(campaign: Path, tmp_path: Path) -> None:
    home = shutil.copytree(campaign, tmp_path / "linked")
    loaded("link", "H1", "1a2b3c4d5e" * 4, "--as", "fix", cwd=home)
    for looks in (("list",), ("status",), ("tree",), ("log",), ("export",), ("commits", "--help")):
        assert "git" not in loaded(*looks, cwd=home)[0], looks
    for asks in (("show", "H1"), ("commits",), ("export", "--commits")):
        assert "git" in loaded(*asks, cwd=home)[0], asks
