"""Commits of the generated history at work: worktrees, and doses of sessions in a fresh interpreter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.local_engine import sessions
from workbench.local_engine.history.build import Built, build
from workbench.local_engine.history.git import git
from workbench.workloads import records
from workbench.workloads.records import Session

TRUTH = json.loads(Path(__file__).with_name("truth.json").read_text(encoding="utf-8"))
_REPLAY = Path(__file__).with_name("replay.py")

HICACHE = ("--enable-hierarchical-cache",)
BF16 = {"SGLANG_DSV4_BF16_INDEX_K": "1"}
FP8 = {"SGLANG_DSV4_BF16_INDEX_K": "0"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Dose:
    """How much is asked for, of sessions that begin with `start` tokens and grow by 1,000 a turn."""

    number: int = 24
    turns: int = 3
    start: int = 2000
    in_flight: int = 24
    seed: int = 0
    argv: tuple[str, ...] = HICACHE
    env: Mapping[str, Any] = field(default_factory=lambda: BF16)


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """What came of a dose: how often the reply was not the right call, and the engine's own numbers.

    Of the wrong replies, `others` are word for word the call of another record of the context.
    """

    wrong: int
    others: int
    errors: int
    turns: int
    wrong_by_turn: tuple[int, ...]
    counters: Mapping[str, float]
    describe: Mapping[str, Any]
    file: str

    @property
    def rate(self) -> float:
        return self.wrong / self.turns


class History:
    """The generated repository, and worktrees of it as they are asked for.

    Args:
        folder: A folder of ours.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.built: Built = build(folder / "minisgl")
        self._given: dict[tuple[str, str], Result] = {}

    def id(self, commit: str) -> str:
        """Give the id of a commit, by its name in the series or by a ref."""
        return self.built.commits.get(commit) or self.built.refs[commit]

    def worktree(self, commit: str) -> Path:
        """Check a commit out, by its name in the series or by a ref."""
        commit = self.id(commit)
        path = self._folder / commit
        if not path.exists():
            git(Path(self.built.path), "worktree", "add", "--quiet", "--detach", str(path), commit)
        return path

    def changed(self, older: str, newer: str) -> list[str]:
        """Give the paths in which two commits differ."""
        named = git(Path(self.built.path), "diff", "--name-only", "-z", self.id(older), self.id(newer))
        return named.split("\0")[:-1]

    def give(self, commit: str, dose: Dose) -> Result:
        """Run a dose on a commit, in one process of its own; what was run before is remembered."""
        key = self.id(commit), repr(dose)
        if key not in self._given:
            self._given[key] = self._give(commit, dose)
        return self._given[key]

    def _give(self, commit: str, dose: Dose) -> Result:
        drawn = sessions.draw(dose.number, seed=dose.seed, turns=dose.turns, start=dose.start)
        job = {
            "argv": dose.argv,
            "env": dict(dose.env),
            "in_flight": dose.in_flight,
            "prompts": [[records.messages(one, turn) for turn in range(dose.turns)] for one in drawn],
        }
        done = self.python(commit, str(_REPLAY), stdin=json.dumps(job))
        if done.returncode:
            raise CommitFailed(done.stderr)
        result = json.loads(done.stdout)
        right = [
            [records.render_dsml(records.right_answer(one, turn)) for turn in range(dose.turns)]
            for one in drawn
        ]
        wrong = [
            (number, turn)
            for number, (said, wanted) in enumerate(zip(result["replies"], right, strict=True))
            for turn in range(dose.turns)
            if said[turn] != wanted[turn] and f"{number}/{turn}" not in result["errors"]
        ]
        turns = [turn for _, turn in wrong]
        return Result(
            wrong=len(wrong),
            others=sum(
                result["replies"][number][turn] in _calls(drawn[number], turn) for number, turn in wrong
            ),
            errors=len(result["errors"]),
            turns=dose.number * dose.turns,
            wrong_by_turn=tuple(turns.count(turn) for turn in range(dose.turns)),
            counters=result["counters"],
            describe=result["describe"],
            file=result["file"],
        )

    def python(self, commit: str, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run a fresh interpreter that sees the commit's package."""
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.worktree(commit)),
            "PYTHONDONTWRITEBYTECODE": "1",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        return subprocess.run(
            [sys.executable, "-P", *arguments],
            input=stdin,
            cwd=self.worktree(commit),
            env=environment,
            capture_output=True,
            encoding="utf-8",
            timeout=300,
            check=False,
        )


def _calls(session: Session, turn: int) -> set[str]:
    return {records.render_dsml(record.call) for record in session.records(turn)}


class CommitFailed(Exception):
    """The commit's engine does not start, or got stuck."""
