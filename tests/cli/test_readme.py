"""The example at the top of the README is what the command says."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.conftest import EXAMPLES, ROOT, Workbench
from workbench.cli import VERBS

TEMPLATES = ROOT / "workbench" / "store" / "templates" / "_shared"


def test_the_ten_second_example_is_true(workbench: Workbench, tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "flaky.sh", tmp_path)
    example = re.search(
        r"```\n\$ workbench (.*?)\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL
    )
    assert example is not None
    done = workbench(*shlex.split(example[1]), "--display", "none")
    assert done.stdout.startswith(example[2])


def test_the_tree_of_the_campaign_is_one_that_was_grown() -> None:
    tree = re.search(r"```\n\$ workbench tree\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert tree is not None
    transcript = (Path(__file__).parent / "transcripts" / "campaign.txt").read_text()
    assert f"$ workbench tree\n{tree[1]}" in transcript


@pytest.mark.parametrize(
    "path",
    [ROOT / "README.md", ROOT / "docs" / "commits.md", TEMPLATES / "AGENTS.md"],
    ids=lambda path: path.name,
)
def test_every_verb_that_is_named_is_one(path: Path) -> None:
    named = set(re.findall(r"`(?:\S+ && )?workbench ([a-z]+)", path.read_text()))
    assert named
    assert named <= VERBS.keys()


def test_every_file_that_the_readme_links_to_is_there() -> None:
    documents = ("README.md", "ARCHITECTURE.md", "docs/method.md", "docs/formats.md", "docs/commits.md")
    for document in documents:
        path = ROOT / document
        for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text()):
            assert (path.parent / target).is_file(), f"{document}: {target}"
