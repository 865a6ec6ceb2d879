"""Each report of the rich campaign, held against a golden file.

After a change that is meant, `UPDATE_TRANSCRIPTS=1 pytest tests/report` writes the files anew, and the
diff is to be read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.report.campaign import build
from tests.report.linked import HISTORY, LEFT, NO_GIT, linked
from workbench.model.campaign import CampaignSpec, SymptomSpec
from workbench.model.registry import Registry
from workbench.model.run import RunState
from workbench.model.standing import Standing, State
from workbench.report import (
    commitrecords,
    commits,
    ledger,
    leftovers,
    log,
    matrix,
    registry,
    show,
    status,
    tree,
)
from workbench.report.text import columns

CROWD = [(number, state) for number, state in enumerate(list(State) * 100, 100)]
GOLDEN = Path(__file__).parent / "golden"


def records(found: Iterable[dict[str, Any]]) -> Iterable[str]:
    return (json.dumps(record, allow_nan=False) for record in found)


REPORTS: dict[str, Callable[[Registry], Iterable[str]]] = {
    "list.txt": registry.hypotheses,
    "list.jsonl": lambda of: records(registry.hypothesis_records(of)),
    "warnings.txt": registry.warnings,
    "runs.txt": registry.runs,
    "runs.jsonl": lambda of: records(registry.run_records(of)),
    "status.txt": status.status,
    "status.json": lambda of: json.dumps(status.status_record(of), indent=1).splitlines(),
    "log.txt": lambda of: log.log(of.events),
    "log-H7.txt": lambda of: log.log(of.events, "H7"),
    "log.jsonl": lambda of: records(log.log_records(of.events)),
    "tree.txt": tree.tree,
    "tree.jsonl": lambda of: records(tree.tree_records(of)),
    "tree.mmd": tree.mermaid,
    "matrix.txt": matrix.matrix,
    "matrix.json": lambda of: json.dumps(matrix.matrix_record(of), indent=1).splitlines(),
    "ledger.md": lambda of: ledger.ledger(of).split("\n")[:-1],
    "ledger.json": lambda of: json.dumps(ledger.ledger_record(of), indent=1).splitlines(),
    "commits.txt": lambda of: commits.commits(linked(of), HISTORY),
    "commits-v.txt": lambda of: commits.commits(linked(of), HISTORY, verbose=True),
    "commits-no-git.txt": lambda of: commits.commits(linked(of), NO_GIT),
    "commits.jsonl": lambda of: records(commitrecords.commit_records(linked(of), HISTORY)),
    "left-over.txt": lambda of: leftovers.left_over(LEFT),
    "left-over.jsonl": lambda of: records(leftovers.left_over_records(LEFT)),
    "show-commits.txt": lambda of: show.show(linked(of), "H1", HISTORY),
    "show-H5.json": lambda of: json.dumps(show.show_record(of, "H5"), indent=1).splitlines(),
    **{f"show-H{n}.txt": lambda of, n=n: show.show(of, f"H{n}") for n in range(1, 10)},  # type: ignore[misc]
}
EMPTY = (
    "matrix.txt",
    "list.txt",
    "runs.txt",
    "status.txt",
    "log.txt",
    "tree.txt",
    "ledger.md",
    "warnings.txt",
)


def held(path: Path, lines: Iterable[str]) -> None:
    now = "".join(f"{line}\n" for line in lines)
    if os.environ.get("UPDATE_TRANSCRIPTS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(now)
    assert now == path.read_text()


@pytest.mark.parametrize("name", REPORTS)
def test_report(name: str) -> None:
    held(GOLDEN / name, REPORTS[name](build()))


@pytest.mark.parametrize("name", EMPTY)
def test_report_of_an_empty_campaign(name: str) -> None:
    empty = Registry(root="/somewhere", spec=CampaignSpec(title=""))
    held(GOLDEN / f"empty-{name}", REPORTS[name](empty))


def test_no_golden_file_is_left_over() -> None:
    expected = {*REPORTS, *(f"empty-{name}" for name in EMPTY)}
    assert {path.name for path in GOLDEN.iterdir()} == expected


@pytest.mark.parametrize("name", REPORTS)
def test_reports_know_nothing_of_the_machine(name: str) -> None:
    assert not any("/somewhere" in line for line in REPORTS[name](build()))


def test_status_fits_a_screen_whatever_there_is_to_say() -> None:
    rich = build()
    states = {f"H{number}": Standing(hypothesis=f"H{number}", state=state) for number, state in CROWD}
    symptoms = {f"s{number}": SymptomSpec(name=f"s{number}") for number in range(20)}
    crowded = replace(
        rich,
        spec=replace(rich.spec, title="\u4e2d" * 99, symptoms={**rich.spec.symptoms, **symptoms}),
        standings={**states, **rich.standings},
        hypotheses=tuple(
            replace(each, assumptions=rich.hypotheses[1].assumptions) for each in rich.hypotheses
        ),
        runs=tuple(replace(run, state=RunState.RUNNING) for run in rich.runs),
        problems=rich.problems * 20,
    )
    for registry_ in (rich, crowded):
        lines = list(status.status(registry_))
        assert len(lines) <= 24
        assert max(map(columns, lines)) <= 80
    assert len(lines) == 24
    assert sum("more" in line.split() for line in lines) == 5
